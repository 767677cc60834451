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
import { IS_LONG, size } from './scale.js';

/** Interval of messages sent by another user. */
const SEND_EVERY_MS = 50;
/** Maximum increase of the 99th percentile of send latency. */
const MAX_EXTRA_MS = 100;
const RUNS = size(1, 5);
const MOVED = size(1000, 10_000);
const NEW_CHANNELS = size(150, 1000);

/** Requests at the limits of an operation do not delay other users' messages (contract decision 10). */
describe('sender during large writes', () => {
  let organization: TestOrganization;
  let server: ParleyProcess;
  let large: LargeOrganization;
  let owner: Account;
  let sender: Account;

  beforeAll(async () => {
    organization = new TestOrganization();
    large = await createLargeOrganization(organization.database, {
      owners: 2,
      members: size(300, 1900),
      channels: size(20, 50),
      messages: 1,
    });
    server = await organization.serve(['--dev']);
    [owner, sender] = (await signIn(server, large.owners)) as [Account, Account];
  });
  afterAll(() => organization.close());

  const call = async (as: Account, method: string, path: string, fields: Readonly<Record<string, string>>) => {
    const { status, text } = await send({
      method,
      url: `${server.url}/api/v1${path}`,
      headers: { authorization: as.authorization, 'content-type': 'application/x-www-form-urlencoded' },
      body: encodeForm(fields),
    });
    expect([status, text]).toEqual([200, expect.stringContaining('"result":"success"')]);
    return JSON.parse(text) as { readonly id: number };
  };
  const sendTo = (as: Account, topic: string) =>
    call(as, 'POST', '/messages', {
      type: 'stream',
      to: JSON.stringify(large.channelNames[0]),
      topic,
      content: 'word',
    });

  /** Returns the 99th percentile of send latency while the work runs. */
  async function waitDuring(work: Promise<unknown>): Promise<number> {
    let isDone = false;
    const ended = work.finally(() => {
      isDone = true;
    });
    const waits: Promise<number>[] = [];
    while (!isDone) {
      waits.push(waitOf(() => sendTo(sender, 'others'), server.pid));
      await pause(SEND_EVERY_MS);
    }
    await ended;
    const sorted = (await Promise.all(waits)).sort((a, b) => a - b);
    return sorted[Math.ceil(sorted.length * 0.99) - 1]!;
  }

  const everybody = () => JSON.stringify([...large.owners, ...large.members].map(({ id }) => id));
  const named = (names: readonly string[]) => JSON.stringify(names.map((name) => ({ name })));

  async function topicOf(count: number, topic: string): Promise<number> {
    let first = 0;
    for (let n = 0; n < count; n += 50) {
      const sent = await Promise.all(Array.from({ length: 50 }, () => sendTo(owner, topic)));
      first ||= Math.min(...sent.map(({ id }) => id));
    }
    return first;
  }

  it.each<[string, (run: number) => Promise<() => Promise<unknown>>]>([
    [
      'subscribing many users to many channels and unsubscribing them',
      async () => async () => {
        const subscriptions = named(large.channelNames.slice(1));
        await call(owner, 'POST', '/users/me/subscriptions', { subscriptions, principals: everybody() });
        await call(owner, 'DELETE', '/users/me/subscriptions', {
          subscriptions: JSON.stringify(large.channelNames.slice(1)),
          principals: JSON.stringify(large.members.map(({ id }) => id)),
        });
      },
    ],
    [
      'creating many channels',
      async (run) => () =>
        call(owner, 'POST', '/users/me/subscriptions', {
          subscriptions: named(Array.from({ length: NEW_CHANNELS }, (_, n) => `New ${run} ${n}`)),
        }),
    ],
    [
      'renaming and moving a topic of many messages',
      async (run) => {
        const id = await topicOf(MOVED, `long ${run}`);
        return async () => {
          await call(owner, 'PATCH', `/messages/${id}`, { topic: `longer ${run}`, propagate_mode: 'change_all' });
          const stream_id = String(large.channelIds[1]);
          await call(owner, 'PATCH', `/messages/${id}`, { stream_id, propagate_mode: 'change_all' });
        };
      },
    ],
  ])(
    'waits at most 100 ms longer during %s',
    async (what, prepare) => {
      const extra: number[] = [];
      for (let run = 0; run < RUNS; run++) {
        const work = await prepare(run);
        const alone = await waitDuring(pause(2000));
        extra.push((await waitDuring(work())) - alone);
      }
      extra.sort((a, b) => a - b);
      if (IS_LONG || process.env.HOSTILE_REPORT) console.log(what, extra);
      expect(extra[Math.floor(RUNS / 2)]).toBeLessThan(MAX_EXTRA_MS * Math.max(1, await machineSlowness()));
    },
    size(60_000, 900_000),
  );
});
