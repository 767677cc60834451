import { type ClientOptions, ParleyClient, type ReceivedEvent, type StreamOptions } from '@parley/client';
import { until } from '@parley/testkit';
import { fieldsOf } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

let town: number;
const { server } = serverPerSuite({ worksInBackground: true });
beforeAll(async () => {
  fieldsOf(await server.patch('/realm', server.people.desdemona, { enable_spectator_access: true }));
  town = await server.createChannel('town', [server.people.hamlet], { is_web_public: true });
});

const clientOf = ({ email, apiKey }: TestUser, options: Partial<ClientOptions> = {}) =>
  new ParleyClient({ url: server.url, credentials: { email, apiKey }, ...options });
const open = (options: StreamOptions, client: Partial<ClientOptions> = {}) =>
  clientOf(server.people.hamlet, client).events({ event_types: ['message'] }, { keepsQueue: true, ...options });
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

/** `fetch` that records calls and may replace the response to a stream. */
function recorded(onStream: (open: () => Promise<Response>) => Promise<Response> = (open) => open()) {
  const calls: string[] = [];
  const send = (async (url, init) => {
    const call = `${init?.method} ${new URL(String(url)).pathname.replace('/api/v1', '')}`;
    calls.push(call);
    return call === 'GET /events/stream' ? onStream(() => fetch(url, init)) : fetch(url, init);
  }) as typeof fetch;
  return { calls, send };
}
const count = (calls: readonly string[], call: string) => calls.filter((each) => each === call).length;
const contentOf = ({ value }: IteratorResult<ReceivedEvent>) =>
  value.type === 'message' ? value.message.content : null;

describe('client of a server with streams', () => {
  const { now } = Date;
  afterEach(() => {
    Date.now = now;
  });

  it('receives all events in one request and acknowledges them in batches of a hundred', async () => {
    const { calls, send } = recorded();
    const stream = open({}, { fetch: send });
    const events = stream[Symbol.asyncIterator]();
    await events.next();
    for (let n = 0; n < 101; n++) {
      const next = events.next();
      await say(String(n));
      expect(contentOf(await next)).toBe(`<p>${n}</p>`);
    }
    const last = events.next();
    await until(() => calls.includes('POST /events/acknowledge'));
    await until(async () => (await positionOf(stream.queueId!)) > 0);
    expect(calls).toEqual(['POST /register', 'GET /events/stream', 'POST /events/acknowledge']);
    stream.close();
    await last;
  });

  it('acknowledges fewer events after ten seconds', async () => {
    const { calls, send } = recorded();
    const stream = open({}, { fetch: send });
    const events = stream[Symbol.asyncIterator]();
    await events.next();
    const [first, startedAt] = [events.next(), performance.now()];
    await say('one');
    await first;
    const second = events.next();
    await until(() => calls.includes('POST /events/acknowledge'));
    expect(performance.now() - startedAt).toBeGreaterThan(9900);
    stream.close();
    await second;
  });

  it('reports events to the caller before waiting, so that they can be stored', async () => {
    let waits = 0;
    const stream = open({ beforePoll: async () => void waits++ });
    const events = stream[Symbol.asyncIterator]();
    await events.next();
    const first = events.next();
    await until(() => waits === 2);
    await say('one');
    await first;
    const second = events.next();
    await until(() => waits === 3);
    stream.close();
    await second;
  });

  it('continues after a lost connection without losing or repeating events', async () => {
    const aborts: (() => void)[] = [];
    const { calls, send } = recorded(async (opened) => {
      const response = await opened();
      const [lost, body] = [new TransformStream(), response.body!];
      const stop = new AbortController();
      aborts.push(() => stop.abort(new Error('lost')));
      body.pipeTo(lost.writable, { signal: stop.signal }).catch(() => {});
      return new Response(lost.readable, response);
    });
    const stream = open({}, { fetch: send });
    const events = stream[Symbol.asyncIterator]();
    await events.next();
    for (const content of ['one', 'two', 'three']) {
      const next = events.next();
      await until(() => aborts.length > 0);
      if (content === 'two') aborts.at(-1)!();
      await say(content);
      expect(contentOf(await next)).toBe(`<p>${content}</p>`);
    }
    stream.close();
    expect(count(calls, 'GET /events/stream')).toBe(2);
  });

  it('polls while a proxy buffers streams, and retries streams later', async () => {
    let isBuffering = true;
    const { calls, send } = recorded(async (opened) => {
      const response = await opened();
      return isBuffering ? new Response(new ReadableStream(), response) : response;
    });
    const stream = open({}, { fetch: send });
    const events = stream[Symbol.asyncIterator]();
    await events.next();
    const [first, startedAt] = [events.next(), performance.now()];
    await until(() => calls.includes('GET /events'));
    expect(performance.now() - startedAt).toBeGreaterThan(4900);
    await say('one');
    expect(contentOf(await first)).toBe('<p>one</p>');
    isBuffering = false;
    const second = events.next();
    await until(() => count(calls, 'GET /events') > 1);
    await say('two');
    await second;
    expect(count(calls, 'GET /events/stream')).toBe(1);
    Date.now = () => now() + 301_000;
    const third = events.next();
    await until(() => count(calls, 'GET /events/stream') === 2);
    await say('three');
    expect(contentOf(await third)).toBe('<p>three</p>');
    stream.close();
  });

  it.each([
    [
      'polls a server without streams',
      new Response('{"result":"error","msg":"Not found","code":"BAD_REQUEST"}', { status: 404 }),
    ],
    ['polls behind a proxy with a page for unknown paths', new Response('<h1>Hello</h1>')],
  ])('%s', async (_, response) => {
    const { calls, send } = recorded(async () => response);
    const stream = open({}, { fetch: send });
    const events = stream[Symbol.asyncIterator]();
    await events.next();
    const first = events.next();
    await until(() => calls.includes('GET /events'));
    await say('one');
    expect(contentOf(await first)).toBe('<p>one</p>');
    stream.close();
    expect(count(calls, 'GET /events/stream')).toBe(1);
  });

  it('only polls if configured to', async () => {
    const { calls, send } = recorded();
    const stream = open({}, { fetch: send, polls: true });
    const events = stream[Symbol.asyncIterator]();
    await events.next();
    const first = events.next();
    await say('one');
    expect(contentOf(await first)).toBe('<p>one</p>');
    stream.close();
    expect(calls).not.toContain('GET /events/stream');
  });
});

const positionOf = async (queueId: string): Promise<number> => {
  await server.sweepQueues();
  const queue = await server.storage.uow.read(server.realmId, ({ queues }) => queues.find(server.realmId, queueId));
  return (queue as { acked: number }).acked;
};
