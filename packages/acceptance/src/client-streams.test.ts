import { ParleyClient, type ReceivedEvent, type StreamOptions } from '@parley/client';
import { fieldsOf } from './testing/expectations.js';
import { TestServer, type TestUser } from './testing/test-server.js';

let server: TestServer;
let town: number;
beforeAll(async () => {
  server = await TestServer.start({ worksInBackground: true });
  fieldsOf(await server.patch('/realm', server.people.desdemona, { enable_spectator_access: true }));
  town = await server.createChannel('town', [server.people.hamlet], { is_web_public: true });
});
afterAll(() => server.close());

const clientOf = ({ email, apiKey }: TestUser) => new ParleyClient({ url: server.url, credentials: { email, apiKey } });
const open = (options: StreamOptions) =>
  clientOf(server.people.hamlet).events({ event_types: ['message'] }, { keepsQueue: true, ...options });
const say = (content: string) => server.sendMessage(server.people.iago, [server.people.hamlet], { content });

/** Collects events until one has the content. */
async function upTo(content: string, events: AsyncIterable<ReceivedEvent>): Promise<readonly string[]> {
  const seen: string[] = [];
  for await (const event of events) {
    seen.push(event.type === 'message' ? event.message.content : `registered: ${(event as { reason: string }).reason}`);
    if (seen.at(-1) === content) break;
  }
  return seen;
}

describe('client event stream', () => {
  it('continues a saved queue with the missed events', async () => {
    const first = open({});
    expect(await upTo('registered: start', first)).toEqual(['registered: start']);
    const position = first.position!;
    await say('two');
    const second = open({ resume: position });
    expect(await upTo('<p>two</p>', second)).toEqual(['<p>two</p>']);
    expect(second.position).toMatchObject({ queueId: position.queueId });
    expect(second.position!.lastEventId).toBeGreaterThan(position.lastEventId);
  });

  it('registers again when the resumed queue is gone', async () => {
    const first = open({});
    await upTo('registered: start', first);
    fieldsOf(await server.delete('/events', server.people.hamlet, { queue_id: first.queueId! }));
    expect(await upTo('registered: expired', open({ resume: first.position! }))).toEqual(['registered: expired']);
  });

  it('ends for visitors after the state of web-public channels', async () => {
    const cookies = new Map<string, string>();
    const page = globalThis as { location?: unknown };
    page.location = { href: `${server.url}/` };
    const visitor = new ParleyClient({
      url: '/',
      credentials: 'visitor',
      fetch: async (url, init) => {
        const Cookie = [...cookies.values()].join('; ');
        const answer = await fetch(url, { ...init, headers: { ...(init?.headers as object), Cookie } });
        for (const cookie of answer.headers.getSetCookie()) cookies.set(cookie.split('=')[0]!, cookie.split(';')[0]!);
        return answer;
      },
    });
    try {
      const events: ReceivedEvent[] = [];
      for await (const event of visitor.events({ fetch_event_types: ['stream'] })) events.push(event);
      expect(events).toMatchObject([{ type: 'registered', state: { queue_id: null, streams: [{ stream_id: town }] } }]);
    } finally {
      delete page.location;
    }
  });
});
