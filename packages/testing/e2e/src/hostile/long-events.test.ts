import { machineSlowness } from '@parley/testkit/process-usage';
import { encodeForm, send } from '../conformance/request.js';
import {
  type Account,
  createLargeOrganization,
  type LargeOrganization,
  signIn,
} from '../testing/large-organization.js';
import type { ParleyProcess } from '../testing/parley-process.js';
import { TestOrganization } from '../testing/test-organization.js';

/** Message with 0.7 MB of HTML. */
const FORMULAS = '$$x$$ '.repeat(1666);
/** Maximum number of due events of a queue that is caught up. */
const MESSAGES = 200;
const MAX_STALL_MS = 100;

describe('messages with the longest HTML', () => {
  let organization: TestOrganization;
  let large: LargeOrganization;
  let server: ParleyProcess;
  let owner: Account;

  beforeAll(async () => {
    organization = new TestOrganization();
    large = await createLargeOrganization(organization.database, { owners: 1, members: 0, channels: 1, messages: 0 });
    // A queue with the default limit ends within seconds.
    server = await organization.serve(['--dev', '--event-queue=250'], '0', { isProbed: true });
    [owner] = (await signIn(server, large.owners)) as [Account];
  });
  afterAll(() => organization.close());

  const call = async (method: string, path: string, fields: Readonly<Record<string, string | number | boolean>>) => {
    const form = encodeForm(Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)])));
    const { status, text } = await send({
      method,
      url: `${server.url}/api/v1${path}${method === 'GET' ? `?${form}` : ''}`,
      headers: { authorization: owner.authorization, 'content-type': 'application/x-www-form-urlencoded' },
      body: method === 'GET' ? null : form,
    });
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${text}`);
    return JSON.parse(text);
  };
  const poll = (queueId: string, last: number) =>
    call('GET', '/events', { queue_id: queueId, last_event_id: last, dont_block: true });
  const openQueue = async (apply_markdown: boolean): Promise<string> => {
    const wishes = { apply_markdown, event_types: '["message"]', fetch_event_types: '[]' };
    const { queue_id: id } = await call('POST', '/register', wishes);
    await poll(id, -1);
    return id;
  };
  const expectNoStall = async () => {
    const { stallMs } = await server.probe.lap();
    expect(stallMs).toBeLessThan(MAX_STALL_MS * (await machineSlowness(true)));
  };

  it('reach caught-up queues without stalls', async () => {
    const queues = [await openQueue(true), await openQueue(false)];
    // Warm up the JIT first.
    await server.probe.lap();
    const ids: number[] = [];
    for (let n = 0; n < MESSAGES; n++) {
      const to = { type: 'stream', to: large.channelIds[0]!, topic: 'formulas' };
      ids.push((await call('POST', '/messages', { ...to, content: FORMULAS })).id);
    }
    await expectNoStall();
    for (const queue of queues) {
      const received: number[] = [];
      for (let last = -1; received.length < MESSAGES; ) {
        const { events } = await poll(queue, last);
        received.push(...events.map((event: { readonly message: { readonly id: number } }) => event.message.id));
        last = events.at(-1).id;
      }
      expect(received).toEqual(ids);
      await expectNoStall();
    }
  });

  it('fit into pages that cause no stall', async () => {
    const page = { anchor: 'newest', num_before: MESSAGES, num_after: 0, apply_markdown: true };
    expect((await call('GET', '/messages', page)).messages).toHaveLength(MESSAGES);
    await expectNoStall();
  });
});
