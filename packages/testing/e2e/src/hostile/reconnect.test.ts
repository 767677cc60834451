import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { machineSlowness } from '@parley/testkit/process-usage';
import { send } from '../conformance/request.js';
import {
  type Account,
  createLargeOrganization,
  type LargeOrganization,
  signIn,
} from '../testing/large-organization.js';
import type { ParleyProcess } from '../testing/parley-process.js';
import { within } from '../testing/pause.js';
import { TestOrganization } from '../testing/test-organization.js';
import { size } from './scale.js';

const MEGABYTE = 1024 * 1024;
const MAX_STALL_MS = 250;
const MAX_GROWTH_BYTES = 200 * MEGABYTE;
const SENT_AT_A_TIME = 32;
const FORM = 'application/x-www-form-urlencoded';

/** System limit on listener backlogs. */
const MOST_WAITING = '/proc/sys/net/core/somaxconn';

/** All clients reconnect at the same time after missing every event. */
describe('server with reconnecting clients', () => {
  const people = size(300, 2000);
  const missed = size(400, 3000);
  let organization: TestOrganization;
  let large: LargeOrganization;
  let accounts: readonly Account[];
  let server: ParleyProcess;

  beforeAll(async () => {
    organization = new TestOrganization();
    large = await createLargeOrganization(organization.database, {
      owners: 1,
      members: people,
      channels: 1,
      messages: 0,
    });
    server = await organization.serve(['--dev']);
    accounts = await signIn(server, large.members);
  });
  afterAll(() => organization.close());

  const call = async ({ authorization }: Account, method: string, path: string, form = '') => {
    const url = `${server.url}/api/v1${path}`;
    const headers = { Authorization: authorization, 'Content-Type': FORM };
    const { status, text } = await send({ method, url, headers, body: method === 'GET' ? null : form });
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${text}`);
    return JSON.parse(text);
  };

  it('delivers all missed events to all clients, by polls and by streams, without stalling', async () => {
    const registration = `event_types=${encodeURIComponent('["message"]')}&fetch_event_types=[]`;
    const queues = await Promise.all(
      accounts.map(async (account) => (await call(account, 'POST', '/register', registration)).queue_id as string),
    );
    const contents = Array.from({ length: missed }, (_, n) => `Message ${n} `.padEnd(200, 'x'));
    for (let from = 0; from < missed; from += SENT_AT_A_TIME) {
      await Promise.all(
        contents.slice(from, from + SENT_AT_A_TIME).map((content) => {
          const form = new URLSearchParams({
            type: 'stream',
            to: String(large.channelIds[0]),
            topic: 'x',
            content,
          });
          return call(accounts[0]!, 'POST', '/messages', form.toString());
        }),
      );
    }
    await server.terminate();
    server = await organization.serve(['--dev'], server.port, { isProbed: true });
    const { peakBytes: before } = await server.probe.lap();
    const heard = await Promise.all(
      accounts.map((account, n) => (n % 2 === 0 ? readAll : streamAll)(account, queues[n]!)),
    );
    const { stallMs, peakBytes } = await server.probe.lap();

    for (const texts of heard) expect([...texts].sort()).toEqual([...contents].sort());
    expect(new Set(heard.map((texts) => texts.join('\n'))).size).toBe(1);
    expect(stallMs).toBeLessThan(MAX_STALL_MS * (await machineSlowness()));
    expect(peakBytes - before).toBeLessThan(MAX_GROWTH_BYTES);
    expect(server.output).not.toContain('"level":"error"');
  });

  it('accepts a thousand concurrent connections while busy', async () => {
    const most = existsSync(MOST_WAITING) ? Number(readFileSync(MOST_WAITING, 'latin1')) : 128;
    server.signal('SIGSTOP');
    const open = () => {
      const socket = connect(Number(server.port), '127.0.0.1').on('error', () => {});
      return { socket, isOpen: once(socket, 'connect') };
    };
    const opened = Array.from({ length: Math.min(1000, most) }, open);
    const areOpen = await within(10_000, Promise.all(opened.map(({ isOpen }) => isOpen)));
    for (const { socket } of opened) socket.destroy();
    server.signal('SIGCONT');
    expect(areOpen).not.toBeNull();
    expect(await call(accounts[0]!, 'GET', '/server_settings')).toMatchObject({ result: 'success' });
  });

  async function readAll(account: Account, queueId: string): Promise<readonly string[]> {
    const texts: string[] = [];
    for (let last = -1; texts.length < missed; ) {
      const path = `/events?queue_id=${queueId}&last_event_id=${last}&dont_block=true`;
      const { events } = await call(account, 'GET', path);
      for (const { id, message } of events) {
        texts.push(message.content);
        last = id;
      }
      if (events.length === 0) throw new Error(`A queue ended after ${texts.length} of ${missed} messages`);
    }
    return texts;
  }

  async function streamAll({ authorization }: Account, queueId: string): Promise<readonly string[]> {
    const url = `${server.url}/api/v1/events/stream?queue_id=${queueId}&last_event_id=-1`;
    const response = await fetch(url, { headers: { Authorization: authorization } });
    const texts: string[] = [];
    let rest = '';
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      const frames = (rest + piece).split('\n\n');
      rest = frames.pop()!;
      for (const frame of frames) {
        if (frame.startsWith('id: ')) texts.push(JSON.parse(frame.slice(frame.indexOf('{'))).message.content);
      }
      if (texts.length >= missed) return texts;
    }
    throw new Error(`A stream ended after ${texts.length} of ${missed} messages: ${rest}`);
  }
});
