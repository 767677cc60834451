import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { machineSlowness } from '@parley/testkit/process-usage';
import { encodeForm, type HttpRequest, send } from '../conformance/request.js';
import {
  type Account,
  createLargeOrganization,
  type LargeOrganization,
  signIn,
} from '../testing/large-organization.js';
import type { ParleyProcess } from '../testing/parley-process.js';
import { pause } from '../testing/pause.js';
import { type SendTime, sendRegularly } from '../testing/regular-sends.js';
import { TestOrganization } from '../testing/test-organization.js';
import { ATTACK_MINUTES, IS_LONG, size } from './scale.js';

const MINUTE_MS = 60_000;
const MIB = 1024 * 1024;
/** Interval of messages sent by another user. */
const SEND_EVERY_MS = 50;
/** Maximum 99th percentile of send latency, excluding time that other processes used the cores. */
const MAX_WAIT_MS = 100;
/** Attempts to stay below that, because other work slows down a shared machine for a while. */
const ATTACKS = IS_LONG ? 1 : 2;
const SLOWNESS_EVERY_MS = 3000;
/** Concurrent requests of the member. */
const AT_ONCE = 2;
/** Requests processed in parts yield to others and take long on a busy machine. */
const REQUEST_MS = 10 * MINUTE_MS;
const NEW_CHANNELS = size(50, 500);
const MESSAGES = size(1000, 10_000);
/**
 * Growth of the data folder: logs, and the messages of each round, namely one with formulas and a notice to each new
 * subscriber.
 */
const maxDiskBytes = (rounds: number): number => (256 + 108 + 2 * rounds) * MIB;
/** Growth of memory still referenced at the end: bounded caches. */
const MAX_RETAINED_BYTES = 150 * MIB;
/** Peak resident memory of the server process. */
const MAX_PEAK_BYTES = 1000 * MIB;

type Fields = Readonly<Record<string, unknown>>;

/**
 * A member repeats the largest requests of each kind for `ATTACK_MINUTES`. Only the bound of the data folder depends on
 * the number of rounds. See docs/limits.md and docs/performance.md.
 */
describe('member at the limits of every operation', () => {
  let organization: TestOrganization;
  let large: LargeOrganization;
  let server: ParleyProcess;
  let member: Account;
  let sender: Account;
  let everybody: readonly number[];
  let others: readonly number[];
  let messageIds: readonly number[];
  let groupId: number;

  beforeAll(async () => {
    organization = new TestOrganization();
    large = await createLargeOrganization(organization.database, {
      owners: 1,
      members: size(300, 2000),
      channels: size(20, 200),
      messages: MESSAGES,
    });
    server = await organization.serve(['--dev'], '0', { isProbed: true });
    [member, sender] = (await signIn(server, large.members.slice(0, 2))) as [Account, Account];
    everybody = large.members.map(({ id }) => id);
    others = everybody.filter((id) => id !== member.id);
    // Group that gives its members access to private channels, and messages of the member.
    groupId = (await call(member, 'POST', '/user_groups/create', { name: 'crowd', description: '', members: [] }))
      .group_id;
    const hidden = { subscriptions: channelsNamed('Hidden'), invite_only: true, can_subscribe_group: groupId };
    await call(member, 'POST', '/users/me/subscriptions', hidden);
    await call(member, 'POST', '/users/me/subscriptions', { subscriptions: channelsNamed('Shared') });
    await sendMany(MESSAGES);
    const found = await call(member, 'GET', '/messages', { anchor: 'newest', num_before: 5000, num_after: 0 });
    messageIds = (found.messages as { readonly id: number }[]).map(({ id }) => id);
  });
  afterAll(() => organization.close());

  const requestOf = (as: Account, method: string, path: string, fields: Fields = {}): HttpRequest => {
    const texts = Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]);
    const form = encodeForm(Object.fromEntries(texts));
    return {
      method,
      url: `${server.url}/api/v1${path}${method === 'GET' ? `?${form}` : ''}`,
      headers: { authorization: as.authorization, 'content-type': 'application/x-www-form-urlencoded' },
      body: method === 'GET' ? null : form,
      timeoutMs: REQUEST_MS,
    };
  };
  const call = async (as: Account, method: string, path: string, fields: Fields = {}) => {
    const { status, text } = await send(requestOf(as, method, path, fields));
    // Concurrent requests of the member may change the same object.
    if (status >= 500) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 300)}`);
    return JSON.parse(text);
  };
  const channelsNamed = (prefix: string) =>
    Array.from({ length: NEW_CHANNELS }, (_, n) => ({ name: `${prefix} ${n}` }));
  const namesOf = (prefix: string) => channelsNamed(prefix).map(({ name }) => name);
  const messageIn = (topic: string, content: string): Fields => {
    return { type: 'stream', to: JSON.stringify(large.channelNames[0]), topic, content };
  };
  const sendOf = (as: Account, topic: string) => requestOf(as, 'POST', '/messages', messageIn(topic, 'word'));
  const write = (as: Account, topic: string, content: string) =>
    call(as, 'POST', '/messages', messageIn(topic, content));
  async function sendMany(count: number): Promise<void> {
    for (let n = 0; n < count; n += 50)
      await Promise.all(Array.from({ length: 50 }, () => write(member, 'long', 'word')));
  }

  /** Requests by name. Apart from messages, none leaves data that grows with the number of rounds. */
  const REQUESTS: Readonly<Record<string, (round: number) => Promise<unknown>>> = {
    'subscribes many people to many channels': () =>
      call(member, 'POST', '/users/me/subscriptions', {
        subscriptions: channelsNamed('Shared').slice(0, 50),
        principals: others.slice(0, 1900),
      }),
    'unsubscribes them': () =>
      call(member, 'DELETE', '/users/me/subscriptions', {
        subscriptions: namesOf('Shared').slice(0, 50),
        principals: others.slice(0, 1900),
      }),
    'leaves and joins channels': async () => {
      await call(member, 'DELETE', '/users/me/subscriptions', { subscriptions: namesOf('Shared') });
      await call(member, 'POST', '/users/me/subscriptions', { subscriptions: channelsNamed('Shared') });
    },
    'adds everybody to a group that shows channels': () =>
      call(member, 'POST', `/user_groups/${groupId}/members`, { add: others }),
    'removes everybody from it': () => call(member, 'POST', `/user_groups/${groupId}/members`, { delete: others }),
    'renames a long topic': (round) =>
      call(member, 'PATCH', `/messages/${messageIds.at(-1)}`, { topic: `long ${round}`, propagate_mode: 'change_all' }),
    'moves a long topic': (round) =>
      call(member, 'PATCH', `/messages/${messageIds.at(-1)}`, {
        stream_id: large.channelIds[round % 2],
        propagate_mode: 'change_all',
      }),
    'stars many messages': () =>
      call(member, 'POST', '/messages/flags', { messages: messageIds, op: 'add', flag: 'starred' }),
    'unstars them': () =>
      call(member, 'POST', '/messages/flags', { messages: messageIds, op: 'remove', flag: 'starred' }),
    'marks many messages as unread': () =>
      call(member, 'POST', '/messages/flags', { messages: messageIds, op: 'remove', flag: 'read' }),
    'registers with many unread messages': () => call(member, 'POST', '/register'),
    'marks everything as read': () => call(member, 'POST', '/mark_all_as_read'),
    'sends formulas': () => write(member, 'formulas', '$$x$$ '.repeat(1600)),
    'mentions everybody in a long message': () => write(member, 'words', `@**all** ${'word '.repeat(1900)}`),
    'edits a long message': (round) =>
      call(member, 'PATCH', `/messages/${messageIds.at(-2)}`, { content: `${round} `.repeat(1500) }),
    'replaces alert words': async (round) => {
      const alert_words = Array.from({ length: 500 }, (_, n) => `word ${n} ${round % 2}`);
      await call(member, 'POST', '/users/me/alert_words', { alert_words });
      await call(member, 'DELETE', '/users/me/alert_words', { alert_words });
    },
    'creates and deletes drafts': async () => {
      const draft = {
        type: 'stream',
        to: [large.channelIds[0]],
        topic: 'draft',
        content: 'x'.repeat(900),
        timestamp: 1,
      };
      const { ids = [] } = await call(member, 'POST', '/drafts', { drafts: Array(1000).fill(draft) });
      for (const id of ids.slice(0, 20)) await call(member, 'DELETE', `/drafts/${id}`);
    },
    'mutes many channels': (round) =>
      call(member, 'POST', '/users/me/subscriptions/properties', {
        subscription_data: large.channelIds.slice(0, 1000).map((stream_id) => ({
          stream_id,
          property: 'is_muted',
          value: round % 2 === 0,
        })),
      }),
    registers: () => call(member, 'POST', '/register'),
    'reads long histories': () =>
      call(member, 'GET', '/messages', { anchor: 'newest', num_before: 5000, num_after: 0 }),
  };

  const storedBytes = (): number => {
    const folder = dirname(organization.database);
    const files = readdirSync(folder).filter((name) => name.startsWith('parley.db'));
    return files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  };

  /** Repeats all requests of the member for `ATTACK_MINUTES` while another user sends messages. */
  async function attack(): Promise<Attack> {
    const endsAt = Date.now() + ATTACK_MINUTES * MINUTE_MS;
    const sends: SendTime[] = [];
    const slowest = new Map<string, number>();
    const slowness: number[] = [];
    let rounds = 0;
    let largest = 0;
    const requests = Object.entries(REQUESTS);
    const repeatFrom = async (start: number) => {
      while (Date.now() < endsAt) {
        const round = rounds++;
        for (const [name, request] of [...requests.slice(start), ...requests.slice(0, start)]) {
          if (Date.now() >= endsAt) return;
          const first = sends.length;
          await request(round);
          slowest.set(name, Math.max(slowest.get(name) ?? 0, ...sends.slice(first).map(({ waitMs }) => waitMs)));
          largest = Math.max(largest, storedBytes());
        }
      }
    };
    const watchMachine = async () => {
      while (Date.now() < endsAt) {
        slowness.push(await machineSlowness(true));
        await pause(Math.min(SLOWNESS_EVERY_MS, Math.max(0, endsAt - Date.now())));
      }
    };
    const schedule = { request: sendOf(sender, 'others'), serverPid: server.pid, everyMs: SEND_EVERY_MS, endsAt };
    await Promise.all([
      ...Array.from({ length: AT_ONCE }, (_, n) => repeatFrom(Math.floor((n * requests.length) / AT_ONCE))),
      sendRegularly(schedule, (time) => sends.push(time)),
      watchMachine(),
    ]);
    return {
      sends,
      slowest,
      slowness: slowness.reduce((sum, each) => sum + each, 0) / slowness.length,
      rounds,
      largest,
    };
  }

  it(
    "keeps other users' latency, the disk and the memory within their bounds",
    async () => {
      await server.probe.lap();
      const retainedBefore = await server.probe.retainedBytes();
      await server.probe.lap();
      const before = storedBytes();
      const attacks: Attack[] = [];
      let isSlow = true;
      while (isSlow && attacks.length < ATTACKS) {
        attacks.push(await attack());
        const { sends, slowness } = attacks.at(-1)!;
        isSlow = waitOf(sends, 0.99) >= MAX_WAIT_MS * slowness;
      }
      const { stallMs, peakBytes } = await server.probe.lap();
      const retained = (await server.probe.retainedBytes()) - retainedBefore;
      const rounds = attacks.reduce((sum, each) => sum + each.rounds, 0);
      const growth = Math.max(...attacks.map(({ largest }) => largest)) - before;
      const report = attacks.map(({ sends, slowness, slowest }) => ({
        sends: sends.length,
        waitP50: waitOf(sends, 0.5),
        waitP99: waitOf(sends, 0.99),
        waitMax: waitOf(sends, 1),
        waitP99WithOtherProcesses: percentile(
          sends.map(({ totalMs }) => totalMs),
          0.99,
        ),
        machineSlowness: slowness,
        slowest: Object.fromEntries([...slowest].sort((a, b) => b[1] - a[1]).slice(0, 8)),
      }));
      if (IS_LONG || process.env.HOSTILE_REPORT) {
        const sizes = { diskMiB: growth / MIB, retainedMiB: retained / MIB, peakMiB: peakBytes / MIB };
        console.log({ minutes: ATTACK_MINUTES, rounds, stallMs, ...sizes }, ...report);
      }
      if (isSlow) throw new Error(`Sends of others took too long: ${JSON.stringify(report, null, 2)}`);
      expect(growth).toBeLessThan(maxDiskBytes(rounds));
      expect(retained).toBeLessThan(MAX_RETAINED_BYTES);
      expect(peakBytes).toBeLessThan(MAX_PEAK_BYTES);
      expect(server.output).not.toContain('"level":"error"');
    },
    ATTACKS * (ATTACK_MINUTES + 10) * MINUTE_MS,
  );
});

interface Attack {
  readonly sends: readonly SendTime[];
  /** Longest wait during each request, by its name. */
  readonly slowest: ReadonlyMap<string, number>;
  /** Mean slowness of the machine. */
  readonly slowness: number;
  readonly rounds: number;
  /** Largest size of the data folder. */
  readonly largest: number;
}

const waitOf = (sends: readonly SendTime[], share: number): number =>
  percentile(
    sends.map(({ waitMs }) => waitMs),
    share,
  );

const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.ceil(values.length * share) - 1]!;
