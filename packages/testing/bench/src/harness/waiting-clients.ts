import type { PollAnswer } from '../children/bare-polls.js';
import type { TriggerResult } from '../children/poll-client.js';
import type { Lab } from '../lab.js';
import { contentOf } from '../worlds/history.js';
import type { LargeOrganization } from '../worlds/worlds.js';
import { ApiUser, inTurns } from './api.js';
import type { Child } from './child.js';
import type { ParleyServer } from './parley-server.js';
import { requestText } from './requests.js';

/** Headers that node:http adds or computes. */
const AUTOMATIC = new Set(['date', 'connection', 'keep-alive']);

/** Clients that wait for a message, each on a separate connection and queue, and the server that they wait for. */
export class WaitingClients {
  constructor(
    readonly server: { usage(): Promise<{ readonly cpuMs: number }> },
    readonly count: number,
    private readonly client: Child,
    private readonly message: string,
  ) {}

  /** Makes all clients wait. Open streams already do. */
  park(): Promise<void> {
    return this.client.call('park');
  }

  /** Sends a message. Resolves to the milliseconds until the last client has it. */
  async fire(): Promise<number> {
    return (await this.client.call<TriggerResult>('fire', { request: this.message })).lastMs;
  }

  /** Response of a poll. */
  async sample(): Promise<PollAnswer> {
    return toAnswer(await this.client.call('sample'));
  }
}

/** Registers a queue and opens a connection for each person. */
export async function clientsOf(
  lab: Lab,
  server: ParleyServer,
  { people, everybody }: Pick<LargeOrganization, 'people' | 'everybody'>,
  kind: 'polls' | 'streams' = 'polls',
): Promise<WaitingClients> {
  const users = await ApiUser.signInAll(server, people);
  const requests = await inTurns(users, (user) => waitingRequest(user, kind));
  // Requests are served in order of arrival.
  const barrier = await waitingRequest(users[0]!, 'polls', 'last_event_id=-1&dont_block=true');
  const message = users[0]!.sends(everybody, contentOf(1));
  const client = lab.start('poll-client', { seat: 'client' });
  await client.call('open', { port: server.port, requests, barrier, areStreams: kind === 'streams' });
  return new WaitingClients(server, people.length, client, message);
}

/** Registers a queue and returns a request that waits for its messages; `{last}` stands for the last received event. */
export async function waitingRequest(
  user: ApiUser,
  kind: 'polls' | 'streams',
  rest = 'last_event_id={last}',
): Promise<string> {
  const { queue_id } = (await user.post('/api/v1/register', MESSAGES_ONLY)) as { queue_id: string };
  const path = kind === 'polls' ? '/api/v1/events' : '/api/v1/events/stream';
  return user.text({ method: 'GET', path: `${path}?queue_id=${queue_id}&${rest}` });
}

/** Connects as many clients to a bare `node:http` server that gives the same response to all polls. */
export async function bareClients(lab: Lab, count: number, answer: PollAnswer): Promise<WaitingClients> {
  const bare = lab.start('bare-polls', { seat: 'server' });
  await bare.call('answerWith', answer);
  const client = lab.start('poll-client', { seat: 'client' });
  const poll = requestText({ method: 'GET', path: '/api/v1/events?last_event_id={last}' });
  await client.call('open', {
    port: await bare.call<number>('listen'),
    requests: Array.from({ length: count }, () => poll),
    barrier: requestText({ method: 'GET', path: '/' }),
    areStreams: false,
  });
  return new WaitingClients(bare, count, client, requestText({ method: 'POST', path: '/api/v1/messages', form: {} }));
}

/** Only messages, like the registration of a bot. */
const MESSAGES_ONLY = {
  event_types: JSON.stringify(['message']),
  fetch_event_types: JSON.stringify(['message']),
};

function toAnswer({ head, body }: { readonly head: string; readonly body: string }): PollAnswer {
  const lines = head.split('\r\n').slice(1);
  const headers = lines
    .map((line) => /^([^:]+): *(.*)$/.exec(line)!.slice(1) as [string, string])
    .filter(([name]) => !AUTOMATIC.has(name.toLowerCase()));
  return { headers: headers.flat(), body };
}
