import { type CountedCalls, encodeJob, jobKind, SHARED_UNITS } from '@parley/domain/kernel';
import { PresenceBoard } from '@parley/domain/users';
import { fieldsOf } from '../testing/expectations.js';
import type { TestReply } from '../testing/test-reply.js';
import type { TestUser } from '../testing/test-server.js';
import { expectInStep, WireWorld } from '../testing/wire-world.js';

const TIMES = 8;
const JOB = jobKind<object>({ name: 'test.shared', readPayload: (stored) => stored as object });

/** Concurrent calls on both servers, alternately by two users. */
function atOnce<T>({ people }: WireWorld, call: (as: TestUser, n: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: TIMES }, (_, n) => call(n % 2 ? people.hamlet : people.iago, n)));
}

const statuses = (replies: readonly TestReply[]): number[] => replies.map(({ status }) => status);
const ALL_WELL = Array.from({ length: TIMES }, () => 200);

type Case = (world: WireWorld) => Promise<void>;

/** Concurrent calls of each kind, with the expected state afterwards. */
const CASES: Readonly<Record<keyof typeof SHARED_UNITS, Case>> = {
  async send(world) {
    const { server, channels, people } = world;
    const content = (n: number) => `message ${n} for @**Cordelia, Lear's daughter**`;
    await atOnce(world, (as, n) => server.sendMessage(as, channels.town, { topic: 'news', content: content(n) }));
    const direct = await atOnce(world, (as, n) => server.sendMessage(as, [people.desdemona], { content: `${n}` }));
    expect(new Set(direct).size).toBe(TIMES);
  },

  async edit(world) {
    const { server, channels } = world;
    const sent = await Promise.all(
      [0, 1].map((n) => server.sendMessage(n ? world.people.hamlet : world.people.iago, channels.town)),
    );
    const replies = await atOnce(world, (as, n) =>
      server.patch(`/messages/${sent[n % 2]}`, as, { content: `text ${n}` }),
    );
    expect(statuses(replies)).toEqual(ALL_WELL);
    const { message_history: history } = fieldsOf(await server.get(`/messages/${sent[0]}/history`, world.people.iago));
    expect(history).toHaveLength(1 + TIMES / 2);
  },

  async react(world) {
    const [id] = world.messages;
    const emoji = ['heart', 'heart', 'tada', 'tada', 'octopus', 'octopus', 'rocket', 'rocket'];
    const react = (as: TestUser, n: number) =>
      world.server.post(`/messages/${id}/reactions`, as, { emoji_name: emoji[n] });
    expect(statuses(await atOnce(world, react))).toEqual(ALL_WELL);
    const { message } = fieldsOf(await world.server.get(`/messages/${id}`, world.people.hamlet));
    expect(message.reactions).toHaveLength(TIMES);
  },

  async flags(world) {
    const { server, channels, people } = world;
    const sent: number[] = [];
    for (let n = 0; n < TIMES; n++) sent.push(await server.sendMessage(people.polonius, channels.town));
    await Promise.all([
      atOnce(world, (as, n) => server.post('/messages/flags', as, { op: 'add', flag: 'read', messages: [sent[n]] })),
      atOnce(world, (as) => server.sendMessage(as, channels.town, { topic: 'plans' })),
    ]);
  },

  async drafts(world) {
    const draft = { type: '', to: [], topic: '', content: 'unfinished' };
    const replies = await atOnce(world, (as) => world.server.post('/drafts', as, { drafts: [draft] }));
    expect(statuses(replies)).toEqual(ALL_WELL);
    expect(fieldsOf(await world.server.get('/drafts', world.people.hamlet)).count).toBe(TIMES / 2);
  },

  async topicPolicies(world) {
    const { server, channels } = world;
    const replies = await atOnce(world, (as, n) =>
      server.post('/user_topics', as, { stream_id: channels.town, topic: `topic ${n}`, visibility_policy: 3 }),
    );
    expect(statuses(replies)).toEqual(ALL_WELL);
  },

  async registerQueue(world) {
    const replies = await atOnce(world, (as) => world.server.post('/register', as, { event_types: ['message'] }));
    const queues = replies.map((reply) => fieldsOf(reply).queue_id);
    expect(new Set(queues).size).toBe(TIMES);
    const polls = await atOnce(world, (as, n) =>
      world.server.get('/events', as, { queue_id: queues[n], last_event_id: -1, dont_block: true }),
    );
    expect(statuses(polls)).toEqual(ALL_WELL);
  },

  async queues(world) {
    const { server, people, servers } = world;
    const register = async () => fieldsOf(await server.post('/register', people.hamlet, { event_types: ['message'] }));
    const queues = (await Promise.all(Array.from({ length: TIMES }, register))).map(({ queue_id }) => queue_id);
    const removals = queues.flatMap((queue_id) =>
      servers.map((each) => each.delete('/events', people.hamlet, { queue_id })),
    );
    servers[0]!.clock.advance(60);
    const [replies] = await Promise.all([Promise.all(removals), ...servers.map((each) => each.sweepQueues())]);
    expect(replies.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(TIMES);
    const { realmId, storage } = server;
    const stored = await storage.uow.read(realmId, (reads) => reads.queues.listOf(realmId, people.hamlet.id));
    expect(stored.filter(({ id }) => queues.includes(id))).toEqual([]);
  },

  async presence(world) {
    const { servers, people, server } = world;
    const everybody = [people.hamlet, people.iago, people.cordelia, people.shiva];
    const report = (as: TestUser, n: number) =>
      servers[n % servers.length]!.post('/users/me/presence', as, { status: 'active' });
    expect(new Set(statuses(await Promise.all(everybody.map(report))))).toEqual(new Set([200]));
    await Promise.all(servers.map((each) => each.parley.useCase(PresenceBoard).save()));
    const { realmId } = server;
    const stored = await server.storage.uow.read(realmId, ({ presence }) => presence.list(realmId));
    expect(stored.map(({ updateId }) => updateId)).toEqual([1, 2, 3, 4]);
  },

  async uploads(world) {
    const upload = (as: TestUser, n: number) =>
      world.server.request('POST', '/user_uploads', {
        as,
        body: `--x\r\nContent-Disposition: form-data; name="file"; filename="${n}.txt"\r\n\r\ntext ${n}\r\n--x--\r\n`,
        headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
      });
    expect(statuses(await atOnce(world, upload))).toEqual(ALL_WELL);
    const { attachments } = fieldsOf(await world.server.get('/attachments', world.people.hamlet));
    expect(attachments).toHaveLength(TIMES / 2);
  },

  async leases({ servers }) {
    const taken = await Promise.all(
      servers.map(({ storage }, n) =>
        storage.uow.writeAcross(({ leases }) => leases.take('work', { holder: `server ${n}`, until: 30 }, 0), {
          shared: { kind: 'leases' },
        }),
      ),
    );
    expect(new Set(taken.map(({ holder }) => holder)).size).toBe(1);
  },

  async jobs({ server, servers }) {
    const { realmId, storage, clock } = server;
    for (let n = 0; n < TIMES; n++) {
      const job = encodeJob(JOB, { realmId, dueAt: clock.now(), payload: { n } });
      await storage.uow.write(realmId, (tx) => tx.jobs.schedule(job));
    }
    const lease = { now: clock.now(), until: clock.now() + 60, attempts: 1, holder: null } as const;
    const selection = { kind: JOB.name, maxFormat: JOB.format };
    const leased = await Promise.all(
      servers.map((each) =>
        each.storage.uow.writeAcross((tx) => tx.jobs.lease(selection, lease, TIMES), { shared: { kind: 'jobs' } }),
      ),
    );
    expect(leased.flat().map(({ id }) => id)).toHaveLength(TIMES);
    expect(new Set(leased.flat().map(({ id }) => id)).size).toBe(TIMES);
  },

  async calls({ servers, server }) {
    const counted = (n: number): CountedCalls => ({ rule: 'r', key: `${n}`, calls: 1, isReset: false, expiresAt: 9 });
    const seen: number[] = [];
    const look = async () => {
      const after = seen.at(-1) ?? 0;
      const rows = await server.storage.uow.readAcross(({ callCounts }) => callCounts.listOfOthers('', after, 99));
      seen.push(...rows.map(({ id }) => id));
    };
    const add = (n: number) =>
      servers[n % 2]!.storage.uow.writeAcross((tx) => tx.callCounts.add(`${n}`, [counted(n)]), {
        shared: { kind: 'calls' },
      });
    await Promise.all(Array.from({ length: TIMES }, (_, n) => add(n).then(look)));
    await look();
    expect(new Set(seen).size).toBe(TIMES);
  },

  async health({ servers }) {
    const reports = await Promise.all(servers.map(({ parley }) => parley.ready()));
    expect(reports.map(({ isReady }) => isReady)).toEqual([true, true]);
  },
};

describe('shared unit of an organization on two servers', () => {
  it.each(Object.keys(SHARED_UNITS) as (keyof typeof SHARED_UNITS)[])(
    'keeps every client in sync during several concurrent units of kind %s',
    async (kind) => {
      const world = await WireWorld.open({ servers: 2 });
      try {
        const clients = await world.observe();
        await CASES[kind](world);
        await world.catchUp();
        await expectInStep(clients);
      } finally {
        await world.close();
      }
    },
  );
});
