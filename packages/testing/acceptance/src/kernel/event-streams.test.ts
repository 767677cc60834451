import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type EventQueue, wholeRealm } from '@parley/domain/kernel';
import { flagChange } from '@parley/testkit';
import compression from 'compression';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { serverPerTest } from '../testing/servers.js';
import { TestBrowser } from '../testing/test-browser.js';
import { type StreamOptions, TestEventStream } from '../testing/test-event-stream.js';
import type { TestReply } from '../testing/test-reply.js';
import { TestServer, type TestUser, webTokenOf } from '../testing/test-server.js';

let general: number;
const streams: TestEventStream[] = [];
afterEach(() => {
  for (const stream of streams.splice(0)) stream.close();
});
const { server, people } = serverPerTest();
beforeEach(async () => {
  general = await server.createChannel('general', [people.hamlet, people.cordelia], {}, people.iago);
});

const register = async (as: TestUser, params: object = {}, at = server): Promise<string> =>
  fieldsOf(await at.post('/register', as, { event_types: ['message'], ...params })).queue_id!;
const poll = (as: TestUser, queue_id: string, last_event_id: number, at = server) =>
  at.get('/events', as, { queue_id, last_event_id, dont_block: true });
const acknowledge = (as: TestUser, queue_id: string, last_event_id: number, at = server) =>
  at.post('/events/acknowledge', as, { queue_id, last_event_id });
const say = (content: string, at = server) => at.sendMessage(people.cordelia, general, { content });
async function stream(as: TestUser | null, params: object, options: StreamOptions = {}, at = server) {
  const opened = await TestEventStream.open(at, params, { as, ...options });
  streams.push(opened);
  return opened;
}
const contentsOf = (events: readonly Wire[]): string[] => events.map(({ message }) => message.content);
const eventsIn = (reply: TestReply): Wire[] => fieldsOf(reply).events as Wire;
const stored = (id: string, at = server) =>
  at.storage.uow.read(at.realmId, ({ queues }) => queues.find(at.realmId, id)) as Promise<EventQueue | null>;
/** Resolves when a poll or stream of the queue waits. */
async function untilWaiting(as: TestUser, queue: string, at = server): Promise<void> {
  const { servedQueues } = at.parley.ports;
  while (servedQueues.lastPolled(as.id).get(queue) !== Number.POSITIVE_INFINITY) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('GET /events/stream', () => {
  it('sends an immediate heartbeat and then the same events with the same ids as polls', async () => {
    const { hamlet } = people;
    const queue = await register(hamlet);
    await say('one');
    const opened = await stream(hamlet, { queue_id: queue, last_event_id: -1 });
    await opened.next(1);
    await say('two');
    await opened.next(2);
    expect(opened.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'x-accel-buffering': 'no',
      'cache-control': expect.stringContaining('no-store'),
    });
    expect(opened.headers['content-encoding']).toBeUndefined();
    const [heartbeat, ...frames] = opened.frames;
    expect(heartbeat).toEqual({ id: null, name: 'heartbeat', data: { type: 'heartbeat' } });
    expect(frames.map(({ id, data }) => id === data.id)).toEqual([true, true]);
    opened.close();
    expect(eventsIn(await poll(hamlet, queue, -1))).toEqual(opened.events);
  });

  it('sends events at once behind a middleware that compresses responses', async () => {
    const compress = compression();
    const host = createServer((request, response) =>
      compress(request as never, response as never, () => server.parley.handler(request, response)),
    );
    await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
    const behind: TestServer = Object.create(server, { port: { value: (host.address() as AddressInfo).port } });
    try {
      const queue_id = await register(people.hamlet);
      const headers = { 'Accept-Encoding': 'gzip' };
      const opened = await stream(people.hamlet, { queue_id, last_event_id: -1 }, { headers }, behind);
      await say('one');
      expect(contentsOf(await opened.next(1))).toEqual(['one']);
      expect(opened.headers['cache-control']).toBe('no-store, no-transform');
    } finally {
      host.closeAllConnections();
      host.close();
    }
  });

  it('sends the events of one commit, and ephemeral events, in order', async () => {
    const { hamlet, cordelia } = people;
    const queue = await register(hamlet, { event_types: ['message', 'typing', 'subscription', 'stream'] });
    const opened = await stream(hamlet, { queue_id: queue, last_event_id: -1 });
    fieldsOf(await server.post('/typing', cordelia, { op: 'start', to: [hamlet.id], type: 'direct' }));
    await opened.next(1);
    await server.createChannel('second', [hamlet]);
    await say('end');
    await opened.until(() => opened.events.some(({ type }) => type === 'message'));
    const types = opened.events.map(({ type, op }) => (op ? `${type}/${op}` : type));
    expect([types[0], types.at(-1)]).toEqual(['typing/start', 'message']);
    expect(types).toContain('subscription/add');
    const ids = opened.events.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
  });

  it('continues after a break from Last-Event-ID, which precedes the parameter, or from last_event_id', async () => {
    const { hamlet } = people;
    const queue_id = await register(hamlet);
    const first = await stream(hamlet, { queue_id, last_event_id: -1 });
    for (const content of ['one', 'two', 'three']) await say(content);
    const [one, two] = await first.next(3);
    first.close();
    await say('four');
    const headers = { 'Last-Event-ID': String(one.id) };
    const second = await stream(hamlet, { queue_id, last_event_id: -1 }, { headers });
    expect(contentsOf(await second.next(3))).toEqual(['two', 'three', 'four']);
    second.close();
    const third = await stream(hamlet, { queue_id, last_event_id: two.id });
    expect(contentsOf(await third.next(2))).toEqual(['three', 'four']);
  });

  it('continues after a restart that lost the stored position', async () => {
    const { hamlet } = people;
    const queue_id = await register(hamlet);
    const first = await stream(hamlet, { queue_id, last_event_id: -1 });
    await say('one');
    await say('two');
    const [one] = await first.next(2);
    // Another process without the first one's memory.
    const restarted = await server.startAnother();
    const second = await stream(hamlet, { queue_id, last_event_id: one.id }, {}, restarted);
    expect(contentsOf(await second.next(1))).toEqual(['two']);
    await say('three', restarted);
    expect(contentsOf(await second.next(2))).toEqual(['two', 'three']);
    second.close();
    await restarted.close();
  });

  it('sends more events than a queue keeps in memory, without acknowledgements', async () => {
    const { hamlet } = people;
    const queue_id = await register(hamlet, { event_types: ['update_message_flags'] });
    const opened = await stream(hamlet, { queue_id, last_event_id: -1 });
    const announcement = { event: flagChange, audience: wholeRealm };
    const append = () =>
      server.parley.part('unitOfWork').write(server.realmId, (tx) => tx.events.append(server.realmId, announcement));
    for (let n = 0; n < 500; n++) await append();
    const ids = (await opened.next(500)).map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  });

  it('accepts a browser session under /json', async () => {
    const { hamlet } = people;
    const queue_id = await register(hamlet);
    const browser = await TestBrowser.loggedIn(server, hamlet);
    const headers = { Cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; ') };
    const opened = await stream(null, { queue_id, last_event_id: -1 }, { path: '/json/events/stream', headers });
    await say('one');
    const [one] = await opened.next(1);
    fieldsOf(await browser.post('/json/events/acknowledge', { queue_id, last_event_id: one.id }));
    expect(eventsIn(await browser.get('/json/events', { queue_id, last_event_id: one.id, dont_block: true }))).toEqual(
      [],
    );
  });
});

describe('rejected stream', () => {
  const refusal = (params: object, as: TestUser | null = people.hamlet, headers = {}) =>
    TestEventStream.refusal(server, params, { as, headers }) as Promise<TestReply>;

  it('reports missing and malformed parameters', async () => {
    const queue_id = await register(people.hamlet);
    expectRefusal(await refusal({}), "Missing 'queue_id' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'queue_id',
    });
    expectRefusal(await refusal({ queue_id }), "Missing 'last_event_id' argument");
    expectRefusal(await refusal({ queue_id, last_event_id: 'x' }), 'last_event_id is not valid JSON');
    for (const id of ['x', '1.5', '99999999999999999999']) {
      const reply = await refusal({ queue_id }, people.hamlet, { 'Last-Event-ID': id });
      expectRefusal(reply, 'Last-Event-ID is not an integer');
    }
  });

  it('reports queues and event ids like a poll', async () => {
    const queue_id = await register(people.hamlet);
    for (const [as, id] of [
      [people.hamlet, 'nope'],
      [people.cordelia, queue_id],
    ] as const) {
      const fields = { code: 'BAD_EVENT_QUEUE_ID', queue_id: id };
      expectRefusal(await refusal({ queue_id: id, last_event_id: -1 }, as), `Bad event queue ID: ${id}`, fields);
      expectRefusal(await acknowledge(as, id, -1), `Bad event queue ID: ${id}`, fields);
    }
    for (const [id, text] of [
      [0, 'Event 0 was not in this queue'],
      [10 ** 9, 'Event 1000000000 was not in this queue'],
      [-5, 'An event newer than -5 has already been pruned!'],
    ] as const) {
      expectRefusal(await refusal({ queue_id, last_event_id: id }), text);
      expectRefusal(await acknowledge(people.hamlet, queue_id, id), text);
    }
  });

  it('rejects a queue of another organization', async () => {
    const realmId = await server.addRealm('other');
    const stranger = await server.addUser({ email: 'stranger@example.com', fullName: 'Stranger', realmId });
    const queue_id = await register(people.hamlet);
    const headers = { Host: `other.${new URL(server.url).host}` };
    const reply = await refusal({ queue_id, last_event_id: -1 }, stranger, headers);
    expectRefusal(reply, `Bad event queue ID: ${queue_id}`, { code: 'BAD_EVENT_QUEUE_ID', queue_id });
  });

  it('rejects anonymous callers and other methods', async () => {
    expect((await refusal({ queue_id: 'x', last_event_id: -1 }, null)).status).toBe(401);
    const post = await server.post('/events/stream', people.hamlet, {});
    expect([post.status, post.headers.allow]).toEqual([405, 'OPTIONS, GET']);
    expect(post.headers['access-control-allow-methods']).toBe('OPTIONS, GET');
  });
});

describe('acknowledgement', () => {
  it('moves the position of the queue while the stream goes on', async () => {
    const { hamlet } = people;
    const queue_id = await register(hamlet);
    const opened = await stream(hamlet, { queue_id, last_event_id: -1 });
    await say('one');
    await say('two');
    const [one, two] = await opened.next(2);
    await server.sweepQueues();
    const before = await stored(queue_id);
    expect([before!.acked, before!.floorSeq]).toEqual([-1, Math.floor(one.id / 1024) - 1]);
    fieldsOf(await acknowledge(hamlet, queue_id, two.id));
    await server.sweepQueues();
    const after = await stored(queue_id);
    expect([after!.acked, after!.floorSeq >= Math.floor(two.id / 1024)]).toEqual([two.id, true]);
    await say('three');
    expect(contentsOf(await opened.next(3))).toEqual(['one', 'two', 'three']);
    expectRefusal(
      await acknowledge(hamlet, queue_id, one.id),
      `An event newer than ${one.id} has already been pruned!`,
    );
  });

  it('works on another server of the database', async () => {
    const { hamlet } = people;
    const other = await server.startAnother();
    const queue_id = await register(hamlet);
    const opened = await stream(hamlet, { queue_id, last_event_id: -1 });
    await say('one');
    const [one] = await opened.next(1);
    fieldsOf(await acknowledge(hamlet, queue_id, one.id, other));
    await other.sweepQueues();
    await server.sweepQueues();
    expect((await stored(queue_id))!.acked).toBe(one.id);
    await say('two');
    expect(contentsOf(await opened.next(2))).toEqual(['one', 'two']);
    await other.close();
  });
});

describe('second reader of a queue', () => {
  it('ends the first stream and gets its unacknowledged events', async () => {
    const { hamlet } = people;
    const queue_id = await register(hamlet);
    const first = await stream(hamlet, { queue_id, last_event_id: -1 });
    await say('one');
    await first.next(1);
    const second = await stream(hamlet, { queue_id, last_event_id: -1 });
    await first.ended();
    expect(contentsOf(await second.next(1))).toEqual(['one']);
    await say('two');
    await second.next(2);
    expect(contentsOf(first.events)).toEqual(['one']);
  });

  it('ends the stream if it is a poll, and ends a poll if it is a stream', async () => {
    const { hamlet } = people;
    const queue_id = await register(hamlet);
    const first = await stream(hamlet, { queue_id, last_event_id: -1 });
    await say('one');
    const [one] = await first.next(1);
    expect(contentsOf(eventsIn(await poll(hamlet, queue_id, -1)))).toEqual(['one']);
    await first.ended();
    const waiting = server.get('/events', hamlet, { queue_id, last_event_id: one.id });
    await untilWaiting(hamlet, queue_id);
    await stream(hamlet, { queue_id, last_event_id: one.id });
    expect(eventsIn(await waiting)).toEqual([]);
  });
});

describe('stream end', () => {
  const endsSoon = async (opened: TestEventStream, cause: () => Promise<unknown>) => {
    const startedAt = performance.now();
    await cause();
    await opened.ended();
    expect(performance.now() - startedAt).toBeLessThan(2000);
  };
  const aStream = async (options: StreamOptions = {}, as = people.hamlet) => {
    const queue_id = await register(people.hamlet);
    return { queue_id, opened: await stream(as, { queue_id, last_event_id: -1 }, options) };
  };

  it('follows the deletion of the queue', async () => {
    const { queue_id, opened } = await aStream();
    await endsSoon(opened, async () => fieldsOf(await server.delete('/events', people.hamlet, { queue_id })));
    const reply = await TestEventStream.refusal(server, { queue_id, last_event_id: -1 }, { as: people.hamlet });
    expect(reply.body.code).toBe('BAD_EVENT_QUEUE_ID');
  });

  it('follows deactivation, also on another server', async () => {
    const other = await server.startAnother();
    const [here, there] = [await aStream(), await register(people.hamlet)];
    const elsewhere = await stream(people.hamlet, { queue_id: there, last_event_id: -1 }, {}, other);
    await endsSoon(here.opened, async () => {
      fieldsOf(await server.delete(`/users/${people.hamlet.id}`, people.desdemona));
      await elsewhere.ended();
    });
    const reply = await TestEventStream.refusal(server, { queue_id: there, last_event_id: -1 }, { as: people.hamlet });
    expect(reply.status).toBe(401);
    await other.close();
  });

  it('follows a new API key and the end of a browser session', async () => {
    const { opened } = await aStream();
    await endsSoon(opened, async () => fieldsOf(await server.post('/users/me/api_key/regenerate', people.hamlet)));
    const { cordelia } = people;
    const browser = await TestBrowser.loggedIn(server, cordelia);
    const queue_id = await register(cordelia);
    const headers = { Cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; ') };
    const inBrowser = await stream(null, { queue_id, last_event_id: -1 }, { path: '/json/events/stream', headers });
    await endsSoon(inBrowser, async () => expect((await browser.logOut()).status).toBe(200));
  });

  it('follows the expiry of a token', async () => {
    const framed = await TestServer.start({ frameAncestors: ['https://shop.example.com'] });
    const queue_id = await register(people.hamlet, {}, framed);
    const token = webTokenOf({ email: people.hamlet.email, exp: framed.clock.now() + 1 });
    const headers = { Authorization: `Bearer ${token}` };
    const opened = await stream(null, { queue_id, last_event_id: -1 }, { headers }, framed);
    await endsSoon(opened, async () => {});
    await framed.close();
  });

  it('follows server shutdown', async () => {
    const other = await server.startAnother();
    const queue_id = await register(people.hamlet, {}, other);
    const opened = await stream(people.hamlet, { queue_id, last_event_id: -1 }, {}, other);
    await endsSoon(opened, () => other.close());
  });
});

describe('load', () => {
  it('counts a stream as a waiting poll and as a request in flight', async () => {
    const { hamlet } = people;
    const queue_id = await register(hamlet);
    const express = server.parley.part('express');
    const opened = await stream(hamlet, { queue_id, last_event_id: -1 });
    await untilWaiting(hamlet, queue_id);
    expect(express.inFlight).toBe(1);
    server.clock.advance(3600);
    await server.sweepQueues();
    expect((await stored(queue_id))?.lastPolledAt).toBe(server.clock.now());
    opened.close();
    while (express.inFlight > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    server.clock.advance(3600);
    await server.sweepQueues();
    expect(await stored(queue_id)).toBeNull();
  });

  it('buffers a bounded number of bytes for a client that stops reading, and later sends it all events from the log', async () => {
    const { hamlet } = people;
    const queue_id = await register(hamlet);
    const opened = await stream(hamlet, { queue_id, last_event_id: -1 });
    await opened.until(() => opened.frames.length > 0);
    opened.pause();
    const content = 'x'.repeat(9000);
    let most = 0;
    const express = server.parley.part('express');
    for (let n = 0; n < 900; n++) {
      await say(content);
      most = Math.max(most, express.bytesInFlight.responses);
    }
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(600_000);
    opened.resume();
    const events = await opened.next(900);
    const ids = events.map(({ id }) => id);
    expect([ids.length, new Set(ids).size]).toEqual([900, 900]);
  });
});
