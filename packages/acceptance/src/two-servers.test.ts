import type { EventQueue } from '@parley/domain/kernel';
import { PresenceBoard } from '@parley/domain/users';
import { TroubledBus } from '@parley/testkit';
import { eventsAfter, openQueue } from './testing/event-queues.js';
import { fieldsOf, type Wire } from './testing/expectations.js';
import type { TestReply } from './testing/test-reply.js';
import { TestServer, type TestServerOptions, type TestUser } from './testing/test-server.js';
import { ALL_CAPABILITIES } from './testing/wire-client.js';

let one: TestServer;
let other: TestServer;
let people: TestServer['people'];
async function start(options: TestServerOptions = {}): Promise<void> {
  one = await TestServer.start(options);
  other = await one.startAnother();
  ({ people } = one);
}
afterEach(async () => {
  await other.close();
  await one.close();
});

const register = async (server: TestServer, as: TestUser, params: Record<string, unknown> = {}): Promise<string> =>
  fieldsOf(await server.post('/register', as, params)).queue_id!;
const poll = (server: TestServer, as: TestUser, queue_id: string, last_event_id = -1) =>
  server.get('/events', as, { queue_id, last_event_id, dont_block: true });
const eventsOf = (reply: TestReply): Wire[] => fieldsOf(reply).events as Wire;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
/** Resolves when the poll is pending, to a function that returns its response. */
async function startWaiting(server: TestServer, as: TestUser, queue_id: string) {
  const response = server.get('/events', as, { queue_id, last_event_id: -1 });
  const { servedQueues } = server.parley.ports;
  while (servedQueues.lastPolled(as.id).get(queue_id) !== Number.POSITIVE_INFINITY) await nextTurn();
  return () => response;
}
const stored = (id: string) =>
  one.storage.uow.read(one.realmId, ({ queues }) => queues.find(one.realmId, id)) as Promise<EventQueue | null>;

describe('event queues of two servers on one database', () => {
  beforeEach(() => start());

  it('move forward only, although a server that no longer serves a queue stores an old position', async () => {
    const { hamlet, iago } = people;
    const queue = await register(one, hamlet, { event_types: ['message'] });
    await one.sendMessage(iago, [hamlet]);
    expect(eventsOf(await poll(one, hamlet, queue))).toHaveLength(1);
    const [event] = eventsOf(await poll(other, hamlet, queue));
    one.clock.advance(10);
    expect(eventsOf(await poll(other, hamlet, queue, event.id))).toEqual([]);
    await other.sweepQueues();
    const position = await stored(queue);
    expect(position).toMatchObject({ acked: event.id, lastPolledAt: one.clock.now() });
    await one.sweepQueues();
    expect(await stored(queue)).toEqual(position);
  });

  it('outlive their idle time while a poll waits on one server and the other one removes idle queues', async () => {
    const { hamlet, iago } = people;
    const queue = await register(one, hamlet, { event_types: ['message'], idle_queue_timeout: 10 });
    const waiting = await startWaiting(one, hamlet, queue);
    for (let minute = 0; minute < 5; minute++) {
      one.clock.advance(60);
      await other.sweepQueues();
      await one.sweepQueues();
    }
    await one.sendMessage(iago, [hamlet]);
    expect(eventsOf(await waiting())).toHaveLength(1);
    expect(await stored(queue)).not.toBeNull();
  });

  it('end their waiting poll when they are deleted on the other server', async () => {
    const { hamlet } = people;
    const queue = await register(one, hamlet);
    const waiting = await startWaiting(one, hamlet, queue);
    fieldsOf(await other.delete('/events', hamlet, { queue_id: queue }));
    expect(eventsOf(await waiting())).toEqual([]);
  });

  it("end their waiting poll when the user's hundred-and-first queue evicts them on the other server", async () => {
    const { hamlet } = people;
    const queue = await register(one, hamlet, { fetch_event_types: ['realm'] });
    const waiting = await startWaiting(one, hamlet, queue);
    one.clock.advance(1);
    for (let n = 0; n < 100; n++) await register(other, hamlet, { fetch_event_types: ['realm'] });
    expect(await stored(queue)).toBeNull();
    expect(eventsOf(await waiting())).toEqual([]);
  });

  it('receive messages from the other server at once', async () => {
    const { hamlet, iago } = people;
    const queue = await register(one, hamlet, { event_types: ['message'] });
    const waiting = await startWaiting(one, hamlet, queue);
    const id = await other.sendMessage(iago, [hamlet]);
    expect(eventsOf(await waiting())).toMatchObject([{ message: { id } }]);
  });

  it('deliver no content that the other server has deleted', async () => {
    const { hamlet, iago } = people;
    const queue = await register(one, hamlet, { event_types: ['message', 'delete_message'] });
    const id = await one.sendMessage(iago, [hamlet]);
    expect(eventsOf(await poll(one, hamlet, queue))).toHaveLength(1);
    fieldsOf(await other.delete(`/messages/${id}`, iago));
    await one.catchUp();
    expect(eventsOf(await poll(one, hamlet, queue)).map(({ type }) => type)).toEqual(['delete_message']);
  });

  it('receive typing notifications and arrivals from the other server', async () => {
    const { hamlet, iago } = people;
    const queue = await openQueue(one, hamlet, {
      event_types: ['typing', 'presence'],
      client_capabilities: ALL_CAPABILITIES,
    });
    await eventsAfter(one, queue);
    fieldsOf(await other.post('/typing', iago, { op: 'start', to: [hamlet.id] }));
    fieldsOf(await other.post('/users/me/presence', iago, { status: 'active' }));
    const told = await eventsAfter(one, queue);
    expect(told).toMatchObject([
      { type: 'typing', sender: { user_id: iago.id } },
      { type: 'presence', presences: { [iago.id]: {} } },
    ]);
  });

  it('end with the account that the other server deactivates', async () => {
    const { hamlet, desdemona } = people;
    const queue = await register(one, hamlet);
    const waiting = await startWaiting(one, hamlet, queue);
    fieldsOf(await other.delete(`/users/${hamlet.id}`, desdemona));
    await waiting();
    await one.catchUp();
    expect((await one.get('/users/me', hamlet)).status).toBe(401);
  });
});

describe('presence of two servers on one database', () => {
  beforeEach(() => start());
  const report = async (server: TestServer, as: TestUser, last_update_id = -1): Promise<Wire> =>
    fieldsOf(await server.post('/users/me/presence', as, { status: 'active', last_update_id }));
  const save = (server: TestServer) => server.parley.useCase(PresenceBoard).save();

  it('reaches clients that ask the other server, without gaps in their updates', async () => {
    const { hamlet, iago, cordelia } = people;
    await report(one, hamlet);
    await save(one);
    await report(other, iago);
    await save(other);
    const known = await report(one, hamlet);
    expect(new Set(Object.keys(known.presences))).toEqual(new Set([hamlet.id, iago.id].map(String)));
    await report(one, cordelia);
    await save(one);
    const later = await report(other, hamlet, known.presence_last_update_id);
    expect([Object.keys(later.presences), later.presence_last_update_id]).toEqual([[String(cordelia.id)], 3]);
  });

  it('is hidden on the other server as soon as it hears of it', async () => {
    const { hamlet, iago } = people;
    await report(one, hamlet);
    await save(one);
    await report(other, iago);
    fieldsOf(await one.patch('/settings', hamlet, { presence_enabled: false }));
    await other.catchUp();
    const { presences } = await report(other, iago);
    expect(presences[hamlet.id].active_timestamp).toBe(hamlet.user.joinedAt);
    fieldsOf(await other.post('/users/me/presence', hamlet, { status: 'active', ping_only: true }));
    await save(other);
    expect((await report(one, iago)).presences[hamlet.id]).toEqual(presences[hamlet.id]);
  });
});

describe('a server whose messages from the other one are lost', () => {
  /** Loses every message. */
  const lost = { connect: () => ({ ...new TroubledBus(1).connect(), publish: () => {} }) };
  beforeEach(() => start({ buses: lost }));

  it('ends the poll of a removed queue when it stores positions', async () => {
    const { hamlet } = people;
    const queue = await register(one, hamlet);
    const waiting = await startWaiting(one, hamlet, queue);
    fieldsOf(await other.delete('/events', hamlet, { queue_id: queue }));
    one.clock.advance(60);
    await one.sweepQueues();
    expect(eventsOf(await waiting())).toEqual([]);
  });

  it('delivers every message with the next look at the log', async () => {
    const { hamlet, iago } = people;
    const queue = await register(one, hamlet, { event_types: ['message'] });
    const waiting = await startWaiting(one, hamlet, queue);
    const id = await other.sendMessage(iago, [hamlet]);
    await one.catchUp();
    expect(eventsOf(await waiting())).toMatchObject([{ message: { id } }]);
  });
});

describe('organizations of two servers', () => {
  beforeEach(() => start());

  it('are followed by the servers that use them only', async () => {
    const [used, unused] = [one.parley.part('follower'), other.parley.part('follower')];
    await one.sendMessage(people.iago, [people.hamlet]);
    const seq = await one.storage.uow.read(one.realmId, ({ events }) => events.lastSeq(one.realmId));
    expect([used.lastSeqOf(one.realmId), unused.lastSeqOf(one.realmId)]).toEqual([seq, 0]);
    await other.catchUp();
    expect(unused.lastSeqOf(one.realmId)).toBe(0);
    fieldsOf(await other.get('/users/me', people.hamlet));
    expect(unused.lastSeqOf(one.realmId)).toBe(seq);
  });

  it('are no longer followed after ten idle minutes without clients, and followed again when used', async () => {
    const follower = one.parley.part('follower');
    fieldsOf(await one.get('/users/me', people.hamlet));
    const seq = follower.lastSeqOf(one.realmId);
    for (let round = 0; round < 3; round++) {
      one.clock.advance(600);
      await one.catchUp();
    }
    expect([seq > 0, follower.lastSeqOf(one.realmId)]).toEqual([true, 0]);
    fieldsOf(await other.delete(`/users/${people.hamlet.id}`, people.desdemona));
    expect((await one.get('/users/me', people.hamlet)).status).toBe(401);
  });
});
