import type { PollAnswer } from '../children/bare-polls.js';
import type { TriggerResult } from '../children/poll-client.js';
import { ApiUser, inTurns } from '../harness/api.js';
import { interleave, median, medianRatio } from '../harness/interleave.js';
import { requestText } from '../harness/requests.js';
import { formatNumber } from '../harness/table.js';
import type { Workload } from '../workload.js';
import { contentOf } from '../worlds/history.js';
import { largeOrganization } from '../worlds/worlds.js';

/** Headers that node:http adds or computes. */
const AUTOMATIC = new Set(['date', 'connection', 'keep-alive']);

/** Delivery of one message to all users, each waiting on a separate connection and queue. */
export const fanOut: Workload = {
  name: 'fan-out',
  async run(lab) {
    const { database, contents } = await lab.copyOf(largeOrganization);
    const parley = await lab.serve(database);
    const users = await ApiUser.signInAll(
      parley,
      contents.people.map(({ email }) => email),
    );
    const pollOf = async (user: ApiUser, rest: string) => {
      const { queue_id } = (await user.post('/api/v1/register', MESSAGES_ONLY)) as { queue_id: string };
      return user.text({ method: 'GET', path: `/api/v1/events?queue_id=${queue_id}&${rest}` });
    };
    const polls = await inTurns(users, (user) => pollOf(user, 'last_event_id={last}'));
    // Polls start in order of arrival.
    const barrier = await pollOf(users[0]!, 'last_event_id=-1&dont_block=true');
    const request = users[0]!.text({
      method: 'POST',
      path: '/api/v1/messages',
      form: { type: 'stream', to: String(contents.everybody), topic: 'beginning', content: contentOf(1) },
    });
    const ours = lab.start('poll-client', { seat: 'client' });
    await ours.call('open', { port: parley.port, polls, barrier });

    await ours.call('park');
    await ours.call('fire', { request });
    const bare = lab.start('bare-polls', { seat: 'server' });
    await bare.call('answerWith', toAnswer(await ours.call('sample')));
    const theirs = lab.start('poll-client', { seat: 'client' });
    const barePoll = requestText({ method: 'GET', path: '/api/v1/events?last_event_id={last}' });
    await theirs.call('open', {
      port: await bare.call<number>('listen'),
      polls: polls.map(() => barePoll),
      barrier: requestText({ method: 'GET', path: '/' }),
    });
    const bareRequest = requestText({ method: 'POST', path: '/api/v1/messages', form: {} });

    const rounds = await interleave(lab.rounds, {
      parley: async () => {
        await ours.call('park');
        return (await ours.call<TriggerResult>('fire', { request })).lastMs;
      },
      bare: async () => {
        await theirs.call('park');
        return (await theirs.call<TriggerResult>('fire', { request: bareRequest })).lastMs;
      },
    });
    return [
      {
        label: `last of ${formatNumber(polls.length)} waiting polls receives a message ÷ bare node:http, same bytes`,
        ours: `${formatNumber(median(rounds.parley))} ms`,
        limit: `${formatNumber(median(rounds.bare))} ms`,
        value: medianRatio(rounds.parley, rounds.bare),
        goal: { atMost: 3 },
      },
    ];
  },
};

/** Only messages, like the registration of a bot. */
export const MESSAGES_ONLY = {
  event_types: JSON.stringify(['message']),
  fetch_event_types: JSON.stringify(['message']),
};

export function toAnswer({ head, body }: { readonly head: string; readonly body: string }): PollAnswer {
  const lines = head.split('\r\n').slice(1);
  const headers = lines
    .map((line) => /^([^:]+): *(.*)$/.exec(line)!.slice(1) as [string, string])
    .filter(([name]) => !AUTOMATIC.has(name.toLowerCase()));
  return { headers: headers.flat(), body };
}
