import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { encodeForm, send } from '../conformance/request.js';
import {
  type Account,
  createLargeOrganization,
  type LargeOrganization,
  signIn,
} from '../testing/large-organization.js';
import type { ParleyProcess } from '../testing/parley-process.js';
import { TestOrganization } from '../testing/test-organization.js';
import { size } from './scale.js';

const MIB = 1024 * 1024;
const LOG_MIB = 2;
const QUEUE_MIB = 1;
const CHANNELS = size(100, 900);
const ROUNDS = size(20, 40);
/** Space for the write-ahead log and channels, independent of the number of rounds. */
const OTHER_BYTES = 24 * MIB;

/** Subscribing and unsubscribing writes events without leaving data behind. */
describe('member who repeatedly joins and leaves channels with long descriptions', () => {
  let organization: TestOrganization;
  let large: LargeOrganization;
  let server: ParleyProcess;
  let member: Account;

  beforeAll(async () => {
    organization = new TestOrganization();
    large = await createLargeOrganization(organization.database, { owners: 1, members: 2, channels: 1, messages: 1 });
    server = await organization.serve(['--dev', `--event-log=${LOG_MIB}`, `--event-queue=${QUEUE_MIB}`]);
    [member] = (await signIn(server, large.members)) as [Account];
  });
  afterAll(() => organization.close());

  const call = async (method: string, path: string, fields: Readonly<Record<string, string>> = {}) => {
    const query = method === 'GET' ? `?${encodeForm(fields)}` : '';
    const { text } = await send({
      method,
      url: `${server.url}/api/v1${path}${query}`,
      headers: { authorization: member.authorization, 'content-type': 'application/x-www-form-urlencoded' },
      body: method === 'GET' ? null : encodeForm(fields),
    });
    return JSON.parse(text);
  };
  const register = async (): Promise<string> =>
    (await call('POST', '/register', { event_types: '["subscription"]' })).queue_id;
  const poll = (queue_id: string) =>
    call('GET', '/events', { queue_id, last_event_id: '-1', dont_block: 'true' }).then(({ result, code }) =>
      result === 'success' ? result : code,
    );
  const storedBytes = (): number => {
    const folder = dirname(organization.database);
    const files = readdirSync(folder).filter((name) => name.startsWith('parley.db'));
    return files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  };

  it("stays within the event log's disk limit and ends only queues that are behind", async () => {
    const names = Array.from({ length: CHANNELS }, (_, n) => `Long ${n}`);
    const description = 'x'.repeat(1024);
    const subscriptions = JSON.stringify(names.map((name) => ({ name, description })));
    await call('POST', '/users/me/subscriptions', { subscriptions });
    const behind = await register();
    const before = storedBytes();
    let largest = 0;
    // The queue ends at the next sweep, or once its events are neither in the log nor in a cache.
    let isEnded = false;
    for (let round = 0; round < ROUNDS || !isEnded; round++) {
      const left = await call('DELETE', '/users/me/subscriptions', { subscriptions: JSON.stringify(names) });
      const joined = await call('POST', '/users/me/subscriptions', { subscriptions });
      expect([left.result, joined.result]).toEqual(['success', 'success']);
      largest = Math.max(largest, storedBytes());
      isEnded ||= (await poll(behind)) === 'BAD_EVENT_QUEUE_ID';
    }
    expect(largest - before).toBeLessThan(LOG_MIB * MIB + OTHER_BYTES);
    expect(await poll(await register())).toBe('success');
    // A poll that finds the queue ended logs it; the sweep does not.
    const others = server.output.split('\n').filter((line) => !line.includes(behind));
    expect(others).toEqual([`Parley is at ${server.url}`, '']);
  });
});
