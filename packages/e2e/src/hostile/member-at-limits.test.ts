import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { machineSlowness } from '@parley/testkit/process-usage';
import { encodeForm, send } from '../conformance/request.js';
import { waitOf } from '../testing/core-waits.js';
import {
  type Account,
  createLargeOrganization,
  type LargeOrganization,
  signIn,
} from '../testing/large-organization.js';
import type { ParleyProcess } from '../testing/parley-process.js';
import { pause } from '../testing/pause.js';
import { TestOrganization } from '../testing/test-organization.js';
import { ATTACK_MINUTES, IS_LONG, size } from './scale.js';

const MINUTE_MS = 60_000;
const MIB = 1024 * 1024;
/** Interval of messages sent by another user. */
const SEND_EVERY_MS = 50;
/** Maximum 99th percentile of send latency, excluding time that other processes used the cores. */
const MAX_WAIT_MS = 100;
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

  const call = async (as: Account, method: string, path: string, fields: Fields = {}) => {
    const texts = Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]);
    const form = encodeForm(Object.fromEntries(texts));
    const { status, text } = await send({
      method,
      url: `${server.url}/api/v1${path}${method === 'GET' ? `?${form}` : ''}`,
      headers: { authorization: as.authorization, 'content-type': 'application/x-www-form-urlencoded' },
      body: method === 'GET' ? null : form,
      timeoutMs: REQUEST_MS,
    });
    // Concurrent requests of the member may change the same object.
    if (status >= 500) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 300)}`);
    return JSON.parse(text);
  };
  const channelsNamed = (prefix: string) =>
    Array.from({ length: NEW_CHANNELS }, (_, n) => ({ name: `${prefix} ${n}` }));
  const namesOf = (prefix: string) => channelsNamed(prefix).map(({ name }) => name);
  const write = (as: Account, topic: string, content: string) =>
    call(as, 'POST', '/messages', { type: 'stream', to: JSON.stringify(large.channelNames[0]), topic, content });
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
  const percentile = (waits: readonly number[], share: number): number =>
    [...waits].sort((a, b) => a - b)[Math.ceil(waits.length * share) - 1]!;

  it(
    "keeps other users' latency, the disk and the memory within their bounds",
    async () => {
      await server.probe.lap();
      const retainedBefore = await server.probe.retainedBytes();
      await server.probe.lap();
      const before = storedBytes();
      const endsAt = Date.now() + ATTACK_MINUTES * MINUTE_MS;
      const waits: number[] = [];
      const rawWaits: number[] = [];
      const slowest = new Map<string, number>();
      const slowness: number[] = [];
      let largest = 0;
      let rounds = 0;
      const attack = async () => {
        while (Date.now() < endsAt) {
          const round = rounds++;
          for (const [name, request] of Object.entries(REQUESTS)) {
            if (Date.now() >= endsAt) return;
            const first = waits.length;
            await request(round);
            slowest.set(name, Math.max(slowest.get(name) ?? 0, ...waits.slice(first)));
            largest = Math.max(largest, storedBytes());
          }
        }
      };
      const others = async () => {
        const sent: Promise<unknown>[] = [];
        while (Date.now() < endsAt) {
          const startedAt = performance.now();
          const wait = waitOf(() => write(sender, 'others', 'word'), server.pid);
          sent.push(
            wait.then((ms) => {
              waits.push(ms);
              rawWaits.push(performance.now() - startedAt);
            }),
          );
          await pause(SEND_EVERY_MS);
        }
        await Promise.all(sent);
      };
      const watch = async () => {
        while (Date.now() < endsAt) {
          slowness.push(await machineSlowness(true));
          await pause(Math.min(20_000, Math.max(0, endsAt - Date.now())));
        }
      };
      await Promise.all([...Array.from({ length: AT_ONCE }, attack), others(), watch()]);
      const { stallMs, peakBytes } = await server.probe.lap();
      const retained = (await server.probe.retainedBytes()) - retainedBefore;
      const slow = slowness.reduce((sum, value) => sum + value, 0) / slowness.length;
      const figures = {
        ...{ minutes: ATTACK_MINUTES, rounds, sends: waits.length },
        waitP50: percentile(waits, 0.5),
        waitP99: percentile(waits, 0.99),
        waitP99WithOtherProcesses: percentile(rawWaits, 0.99),
        ...{ waitMax: percentile(waits, 1), stallMs, machineSlowness: slow },
        diskMiB: (largest - before) / MIB,
        retainedMiB: retained / MIB,
        peakMiB: peakBytes / MIB,
      };
      if (IS_LONG || process.env.HOSTILE_REPORT) {
        const worst = [...slowest].sort((a, b) => b[1] - a[1]).slice(0, 8);
        console.log(figures, Object.fromEntries(worst));
      }
      expect(figures.waitP99).toBeLessThan(MAX_WAIT_MS * Math.max(1, slow));
      expect(largest - before).toBeLessThan(maxDiskBytes(rounds));
      expect(retained).toBeLessThan(MAX_RETAINED_BYTES);
      expect(peakBytes).toBeLessThan(MAX_PEAK_BYTES);
      expect(server.output).not.toContain('"level":"error"');
    },
    (ATTACK_MINUTES + 10) * MINUTE_MS,
  );
});
