import type { ChannelId } from '@parley/domain/kernel';
import { ApiUser } from '../harness/api.js';
import { interleave } from '../harness/interleave.js';
import type { Method } from '../harness/requests.js';
import { formatNumber, ratioOf } from '../harness/table.js';
import type { Figure, Workload } from '../workload.js';
import { contentOf } from '../worlds/history.js';
import { changingChannel } from '../worlds/worlds.js';
import { topicPath } from './pages.js';
import { whileSending } from './while-sending.js';

/** Cost of changing a message or a whole topic held by ten thousand inactive users. */
export const changes: Workload = {
  name: 'changes',
  async run(lab) {
    const { database, contents } = await lab.copyOf(changingChannel);
    const { owner, people, everybody, topic, messagesInTopic } = contents;
    const parley = await lab.serve(database);
    const author = await ApiUser.signIn(parley, people[0]!.email);
    const administrator = await ApiUser.signIn(parley, owner.email);
    const load = lab.load();
    const p50 = async (requests: readonly string[]): Promise<number> =>
      (await load.run({ port: parley.port, requests, inFlight: 1, until: { answers: requests.length } })).p50Ms;

    const times = lab.size(60, 4);
    const send = author.text({
      method: 'POST',
      path: '/api/v1/messages',
      form: { type: 'stream', to: String(everybody), topic: 'changing', content: contentOf(1) },
    });
    const toDelete = times * (lab.rounds + 1);
    await load.run({ port: parley.port, requests: [send], inFlight: 32, until: { answers: toDelete + 1 } });
    const [changed, ...deleted] = await idsOf(author, everybody, 'changing', toDelete + 1);
    let count = 0;
    const some = (request: (n: number) => string) => Array.from({ length: times }, () => request(++count));
    const reaction = (method: Method) =>
      author.text({ method, path: `/api/v1/messages/${changed}/reactions`, form: { emoji_name: 'tada' } });
    const rounds = await interleave(lab.rounds, {
      send: () => p50(some(() => send)),
      edit: () =>
        p50(
          some((n) =>
            author.text({ method: 'PATCH', path: `/api/v1/messages/${changed}`, form: { content: contentOf(n) } }),
          ),
        ),
      react: () => p50(some((n) => reaction(n % 2 === 1 ? 'POST' : 'DELETE'))),
      delete: () =>
        p50(
          deleted
            .splice(0, times)
            .map((id) => administrator.text({ method: 'DELETE', path: `/api/v1/messages/${id}`, form: {} })),
        ),
    });
    const offline = `with ${formatNumber(people.length)} offline subscribers`;
    const one = (what: string, took: readonly number[]): Figure => ({
      label: `${what} a message ${offline} ÷ sending one, p50`,
      ...ratioOf(took, rounds.send, ' ms'),
      goal: { atMost: 1.3 },
    });

    const [first] = await idsOf(administrator, everybody, topic, messagesInTopic);
    let moves = 0;
    const move = () =>
      administrator.text({
        method: 'PATCH',
        path: `/api/v1/messages/${first}`,
        form: { topic: `${topic} ${++moves}`, propagate_mode: 'change_all', send_notification_to_new_thread: 'false' },
      });
    const moved = await p50(Array.from({ length: lab.size(20, 2) }, move));
    const what = `${formatNumber(messagesInTopic)} messages move to another topic ${offline}`;
    return [
      one('editing', rounds.edit),
      one('reacting to', rounds.react),
      one('deleting', rounds.delete),
      {
        label: `${what}, p50`,
        ours: `${formatNumber(moved)} ms`,
        limit: '50 ms',
        value: moved,
        goal: { atMost: 50, unit: 'ms' },
      },
      await whileSending(lab, parley, send, what, () =>
        load.run({ port: parley.port, requests: [move()], inFlight: 1, until: { answers: 1 } }),
      ),
    ];
  },
};

/** Ascending. */
async function idsOf(user: ApiUser, channelId: ChannelId, topic: string, count: number): Promise<number[]> {
  const { messages } = (await user.get(topicPath(channelId, topic, count))) as {
    messages: readonly { readonly id: number }[];
  };
  return messages.map(({ id }) => id);
}
