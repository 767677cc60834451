import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { fieldsOf } from '../testing/expectations.js';
import { serverPerTest } from '../testing/servers.js';
import { basic } from '../testing/test-server.js';

/** A waiting poll without events responds later. */
const PATIENCE_MS = 10_000;

let agent: Agent;
afterEach(() => agent.destroy());
const { server } = serverPerTest();
beforeEach(() => {
  agent = new Agent({ keepAlive: true });
});

const aHost = () => createServer(express().use(server.parley.router));

async function listening<S extends Server>(host: S): Promise<S> {
  await once(host.listen(0, '127.0.0.1'), 'listening');
  return host;
}

/** Request for the events of a new queue, once it waits. */
async function aWaitingRequest(host: Server, path = '') {
  const { hamlet } = server.people;
  const { queue_id } = fieldsOf(await server.post('/register', hamlet, { event_types: ['message'] }));
  const { port } = host.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/api/v1/events${path}?queue_id=${queue_id}&last_event_id=-1`;
  const headers = { Authorization: basic(hamlet), Host: new URL(server.url).host };
  const waiting = {
    isAnswered: false,
    response: new Promise<IncomingMessage>((resolve, reject) => {
      get(url, { agent, headers }, resolve).on('error', reject);
    }),
  };
  void waiting.response.then(() => {
    waiting.isAnswered = true;
  });
  const { servedQueues } = server.parley.ports;
  while (servedQueues.lastPolled(hamlet.id).get(queue_id) !== Number.POSITIVE_INFINITY) await sleep(1);
  return waiting;
}

const eventsIn = async (response: IncomingMessage) => JSON.parse(await text(response)).events;

describe('host that closes its HTTP server before Parley', () => {
  it('does not wait for polls and streams, while polls through another server go on', async () => {
    const [host, other] = [await listening(aHost()), await listening(aHost())];
    const [poll, stream] = [await aWaitingRequest(host), await aWaitingRequest(host, '/stream')];
    const otherPoll = await aWaitingRequest(other);
    const closed = once(host, 'close').then(() => true);
    host.close();
    expect(await Promise.race([closed, sleep(PATIENCE_MS)])).toBe(true);
    const response = await poll.response;
    expect(response.headers.connection).toBe('close');
    expect(await eventsIn(response)).toEqual([]);
    expect(await text(await stream.response)).toMatch(/^event: heartbeat\n/);
    expect(otherPoll.isAnswered).toBe(false);
    other.close();
    expect(await eventsIn(await otherPoll.response)).toEqual([]);
  });
});

describe('host that passes connections to an HTTP server that never listens', () => {
  it('has polls that wait for events', async () => {
    const inner = aHost();
    const host = await listening(createNetServer((socket) => inner.emit('connection', socket)));
    const poll = await aWaitingRequest(host);
    await sleep(1200);
    expect(poll.isAnswered).toBe(false);
    const { hamlet, iago } = server.people;
    await server.sendMessage(iago, [hamlet]);
    expect(await eventsIn(await poll.response)).toMatchObject([{ type: 'message' }]);
    agent.destroy();
    host.close();
  });
});
