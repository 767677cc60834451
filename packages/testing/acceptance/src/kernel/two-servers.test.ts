import { type EventQueue, type EventSeq, JobRunner, type StoredEvent } from '@parley/domain/kernel';
import { FindDue } from '@parley/domain/push';
import { PresenceBoard } from '@parley/domain/users';
import { DeliverScheduledMessage } from '@parley/domain/writing';
import { TroubledBus } from '@parley/testkit';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import type { TestReply } from '../testing/test-reply.js';
import { TestServer, type TestServerOptions, type TestUser } from '../testing/test-server.js';
import { ALL_CAPABILITIES } from '../testing/wire-client.js';

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

describe('event queue of two servers on one database', () => {
  beforeEach(() => start());

  it('moves forward only, even if a server that no longer serves it stores an old position', async () => {
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

  it('outlives its idle time while a poll waits on one server and the other removes idle queues', async () => {
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

  it('ends its waiting poll when it is deleted on the other server', async () => {
    const { hamlet } = people;
    const queue = await register(one, hamlet);
    const waiting = await startWaiting(one, hamlet, queue);
    fieldsOf(await other.delete('/events', hamlet, { queue_id: queue }));
    expect(eventsOf(await waiting())).toEqual([]);
  });

  it("ends its waiting poll when the user's hundred-and-first queue evicts it on the other server", async () => {
    const { hamlet } = people;
    const queue = await register(one, hamlet, { fetch_event_types: ['realm'] });
    const waiting = await startWaiting(one, hamlet, queue);
    one.clock.advance(1);
    for (let n = 0; n < 100; n++) await register(other, hamlet, { fetch_event_types: ['realm'] });
    expect(await stored(queue)).toBeNull();
    expect(eventsOf(await waiting())).toEqual([]);
  });

  it('receives messages from the other server immediately', async () => {
    const { hamlet, iago } = people;
    const queue = await register(one, hamlet, { event_types: ['message'] });
    const waiting = await startWaiting(one, hamlet, queue);
    const id = await other.sendMessage(iago, [hamlet]);
    expect(eventsOf(await waiting())).toMatchObject([{ message: { id } }]);
  });

  it('uses no unit of work while its poll waits for and returns a message of the other server', async () => {
    const { hamlet, iago } = people;
    const queue = await register(one, hamlet, { event_types: ['message'] });
    const waiting = await startWaiting(one, hamlet, queue);
    const { units } = one.storage;
    const id = await other.sendMessage(iago, [hamlet]);
    expect(eventsOf(await waiting())).toMatchObject([{ message: { id } }]);
    expect(one.storage.units).toBe(units);
  });

  it('delivers no content that the other server has deleted', async () => {
    const { hamlet, iago } = people;
    const queue = await register(one, hamlet, { event_types: ['message', 'delete_message'] });
    const id = await one.sendMessage(iago, [hamlet]);
    expect(eventsOf(await poll(one, hamlet, queue))).toHaveLength(1);
    fieldsOf(await other.delete(`/messages/${id}`, iago));
    await one.catchUp();
    expect(eventsOf(await poll(one, hamlet, queue)).map(({ type }) => type)).toEqual(['delete_message']);
  });

  it('receives typing notifications and presence from the other server', async () => {
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

  it('ends when the other server deactivates its account', async () => {
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

  it('reaches clients that poll the other server, without gaps in their updates', async () => {
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

  it('is hidden on the other server as soon as that server is notified', async () => {
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

describe('notification of two servers on one database', () => {
  let position: EventSeq;
  beforeEach(async () => {
    await start();
    position = await one.storage.uow.read(one.realmId, ({ events }) => events.lastSeq(one.realmId));
    fieldsOf(await one.patch('/settings', people.hamlet, { enable_online_push_notifications: false }));
  });

  /** Processes the log like a server's background worker; returns the recipients of due messages. */
  async function evaluate(server: TestServer): Promise<[number, number[]][]> {
    const { realmId } = server;
    const { isWanted, consume } = server.parley.useCase(FindDue);
    const { unitOfWork } = server.parley.ports;
    const listed = async () => {
      const page = await unitOfWork.read(realmId, ({ events }) => events.listAfter(realmId, position, 1000, 1_000_000));
      return (page as readonly StoredEvent[]).filter(({ event }) => event);
    };
    const events = (await listed()).filter(isWanted);
    const unit = await consume(realmId, events);
    if (unit) await unitOfWork.write(realmId, unit);
    const all = await listed();
    position = all.at(-1)?.seq ?? position;
    return all.flatMap(({ event }) =>
      event.type === 'notification.due' ? [[event.messageId, event.recipients.map(({ userId }) => userId)]] : [],
    );
  }

  async function present(server: TestServer): Promise<void> {
    fieldsOf(await server.post('/users/me/presence', people.hamlet, { status: 'active' }));
    await server.parley.useCase(PresenceBoard).save();
  }

  it('is not sent to a user who is active with a client of the other server', async () => {
    await register(one, people.hamlet, { event_types: ['message'] });
    await present(one);
    await other.sendMessage(people.iago, [people.hamlet]);
    expect(await evaluate(other)).toEqual([]);
  });

  it('is sent to a user who is active without a client that receives messages', async () => {
    await register(one, people.hamlet, { event_types: ['presence'] });
    await present(one);
    const id = await other.sendMessage(people.iago, [people.hamlet]);
    expect(await evaluate(other)).toEqual([[id, [people.hamlet.id]]]);
  });

  it("is sent when the user's last queue, polled on the other server, expires", async () => {
    // Idle time counts from a server's first sweep.
    await other.sweepQueues();
    const [first, second] = [await register(one, people.hamlet), await register(other, people.hamlet)];
    await present(one);
    one.clock.advance(1);
    const id = await other.sendMessage(people.iago, [people.hamlet]);
    expect(await evaluate(other)).toEqual([]);
    one.clock.advance(500);
    await poll(one, people.hamlet, second);
    await one.sweepQueues();
    one.clock.advance(300);
    await other.sweepQueues();
    expect([await stored(first), await evaluate(other)]).toEqual([null, []]);
    // The client received the message in its last poll.
    one.clock.advance(1000);
    await other.sweepQueues();
    expect(await stored(second)).toBeNull();
    expect(await evaluate(other)).toEqual([]);
    const third = await register(one, people.hamlet);
    await present(one);
    one.clock.advance(1);
    const missed = await other.sendMessage(people.iago, [people.hamlet]);
    expect(await evaluate(other)).toEqual([]);
    one.clock.advance(1000);
    await other.sweepQueues();
    expect(await stored(third)).toBeNull();
    expect(await evaluate(other)).toEqual([[missed, [people.hamlet.id]]]);
    expect(id).toBeLessThan(missed);
  });
});

describe('rate limit of two servers on one database', () => {
  const quota = (limit: number) => [{ windowSeconds: 60, limit }];
  const rateLimitRules = {
    api_by_user: quota(16),
    authenticate_by_username: quota(5),
    channel_creation_by_administrator: quota(3),
  };
  beforeEach(() => start({ hasRateLimits: true, rateLimitRules }));
  /** Happens every second in a running server. */
  const exchange = async (...servers: readonly TestServer[]) => {
    for (const server of servers) await server.parley.part('callExchange').run();
  };
  const call = async (server: TestServer, as: TestUser) => (await server.get('/users/me', as)).status;
  const logIn = async (server: TestServer, { email, password }: TestUser, wrong = '') =>
    (await server.post('/fetch_api_key', null, { username: email, password: password + wrong })).status;

  it('counts the calls of both', async () => {
    const { hamlet, iago } = people;
    for (let n = 0; n < 8; n++) expect([await call(one, hamlet), await call(other, hamlet)]).toEqual([200, 200]);
    await exchange(one, other, one);
    expect([await call(one, hamlet), await call(other, hamlet)]).toEqual([429, 429]);
    expect(await call(other, iago)).toBe(200);
    one.clock.advance(60);
    expect([await call(one, hamlet), await call(other, hamlet)]).toEqual([200, 200]);
  });

  it('counts failed log-ins of both until a log-in succeeds', async () => {
    const { hamlet } = people;
    for (let n = 0; n < 4; n++) expect(await logIn(one, hamlet, 'x')).toBe(401);
    expect([await logIn(other, hamlet, 'x'), await logIn(one, hamlet), await logIn(other, hamlet)]).toEqual([
      401, 429, 429,
    ]);
    one.clock.advance(60);
    for (let n = 0; n < 4; n++) expect(await logIn(n % 2 === 0 ? one : other, hamlet, 'x')).toBe(401);
    expect(await logIn(other, hamlet)).toBe(200);
    await exchange(other);
    for (let n = 0; n < 4; n++) expect(await logIn(one, hamlet, 'x')).toBe(401);
  });

  it('counts the channels that a user creates on both in a day', async () => {
    const { iago } = people;
    const create = async (server: TestServer, name: string) =>
      (await server.post('/channels/create', iago, { name, subscribers: [iago.id] })).status;
    expect([await create(one, 'a'), await create(other, 'b'), await create(one, 'c')]).toEqual([200, 200, 200]);
    expect([await create(other, 'd'), await create(one, 'd')]).toEqual([429, 429]);
  });

  it('applies on a server that starts later', async () => {
    const { hamlet } = people;
    for (let n = 0; n < 5; n++) expect(await logIn(one, hamlet, 'x')).toBe(401);
    const third = await one.startAnother();
    expect(await logIn(third, hamlet)).toBe(429);
    await third.close();
  });

  it('is reset on both by the operator', async () => {
    const { hamlet } = people;
    for (let n = 0; n < 16; n++) await call(one, hamlet);
    await exchange(one, other);
    expect(await call(other, hamlet)).toBe(429);
    one.parley.part('limiter').forget('api_by_user', hamlet.id);
    await exchange(one, other);
    expect([await call(one, hamlet), await call(other, hamlet)]).toEqual([200, 200]);
  });
});

/** Bus that loses every message. */
const lost = { connect: () => ({ ...new TroubledBus(1).connect(), publish: () => {} }) };

describe('server frozen for 90 seconds', () => {
  beforeEach(() => start({ buses: lost }));

  it('loses its job and its clients to the other server, and neither repeats nor reverts anything when it resumes', async () => {
    const { hamlet, iago } = people;
    const queue = await register(one, hamlet, { event_types: ['message'] });
    const abandoned = await startWaiting(one, hamlet, queue);
    const scheduled_delivery_timestamp = one.clock.now() + 10;
    const later = { type: 'direct', to: [hamlet.id], content: 'later', scheduled_delivery_timestamp };
    fieldsOf(await one.post('/scheduled_messages', iago, later));
    one.clock.advance(10);

    let thaw = () => {};
    const thawed = new Promise<void>((resolve) => {
      thaw = resolve;
    });
    const handler = one.parley.useCase(DeliverScheduledMessage);
    const freezing = Object.create(handler, {
      prepare: {
        async value(...args: Parameters<typeof handler.prepare>) {
          const work = await handler.prepare(...args);
          await thawed;
          return work;
        },
      },
    }) as typeof handler;
    const { unitOfWork: uow } = one.parley.ports;
    const problems: unknown[] = [];
    const report = (...problem: readonly unknown[]) => void problems.push(problem);
    const running = new JobRunner(freezing, { uow, clock: one.clock, report }).run();
    const selection = { kind: handler.kind.name, maxFormat: handler.kind.format };
    const dueAt = () => uow.readAcross(({ jobs }) => jobs.nextDueAt(selection));
    while ((await dueAt())! <= one.clock.now()) await nextTurn();
    expect((await dueAt())! - one.clock.now()).toBeLessThanOrEqual(30);

    const polled: Wire[] = [];
    for (let second = 30; second <= 90; second += 30) {
      one.clock.advance(30);
      await runJobs(other, other.parley.useCase(DeliverScheduledMessage));
      await other.sendMessage(iago, [hamlet], { content: `after ${second} s` });
      polled.push(...eventsOf(await poll(other, hamlet, queue, polled.at(-1)?.id)));
      await other.sweepQueues();
    }
    const position = await stored(queue);
    thaw();
    await running;
    await one.catchUp();
    await abandoned();
    await one.sweepQueues();
    expect(problems).toEqual([]);
    expect(await stored(queue)).toEqual(position);
    await one.sendMessage(iago, [hamlet], { content: 'thawed' });
    polled.push(...eventsOf(await poll(one, hamlet, queue, polled.at(-1).id)));
    const contents = ['later', 'after 30 s', 'after 60 s', 'after 90 s', 'thawed'];
    expect(polled.map(({ message }) => message.content)).toEqual(contents);
  });
});

describe("server that loses the other server's messages", () => {
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

  it('delivers every message after the next read of the log', async () => {
    const { hamlet, iago } = people;
    const queue = await register(one, hamlet, { event_types: ['message'] });
    const waiting = await startWaiting(one, hamlet, queue);
    const id = await other.sendMessage(iago, [hamlet]);
    await one.catchUp();
    expect(eventsOf(await waiting())).toMatchObject([{ message: { id } }]);
  });
});

describe('organization on two servers', () => {
  beforeEach(() => start());

  it('is followed only by the servers that use it', async () => {
    const [used, unused] = [one.parley.part('follower'), other.parley.part('follower')];
    await one.sendMessage(people.iago, [people.hamlet]);
    const seq = await one.storage.uow.read(one.realmId, ({ events }) => events.lastSeq(one.realmId));
    expect([used.lastSeqOf(one.realmId), unused.lastSeqOf(one.realmId)]).toEqual([seq, 0]);
    await other.catchUp();
    expect(unused.lastSeqOf(one.realmId)).toBe(0);
    fieldsOf(await other.get('/users/me', people.hamlet));
    expect(unused.lastSeqOf(one.realmId)).toBe(seq);
  });

  it('is no longer followed after ten idle minutes without clients, and followed again when used', async () => {
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
