import { connect } from 'node:net';
import { SeededRandomness } from '@parley/testkit';
import { machineSlowness } from '@parley/testkit/process-usage';
import { type HttpAnswer, send } from '../conformance/request.js';
import { type Account, createLargeOrganization, signIn } from '../testing/large-organization.js';
import type { ParleyProcess } from '../testing/parley-process.js';
import { pause, within } from '../testing/pause.js';
import { TestOrganization } from '../testing/test-organization.js';
import type { EncodedRequest } from './encode.js';
import { fuzzedRequests } from './fuzzed-requests.js';
import { SEED, size } from './scale.js';

const AT_A_TIME = 8;
/** Several requests share the event loop, and other processes the machine. */
const MAX_STALL_MS = 500;
/** Shorter than the maximum duration of a poll. */
const PATIENCE_MS = 1000;
const ANSWER_MS = 20_000;

/** Sends requests that no real client sends. `npm run endurance -- --seed N` repeats those of a seed. */
describe(`server fuzzed with seed ${SEED}`, () => {
  let organization: TestOrganization;
  let server: ParleyProcess;
  let accounts: readonly Account[];

  beforeAll(async () => {
    organization = new TestOrganization();
    const { owners, members } = await createLargeOrganization(organization.database, {
      owners: 3,
      members: 10,
      channels: 10,
      messages: 200,
    });
    server = await organization.serve(['--dev'], '0', { isProbed: true });
    accounts = await signIn(server, [...owners, ...members]);
    await server.probe.lap();
  });
  afterAll(() => organization.close());

  it('responds to every request, rejects invalid ones and keeps running', async () => {
    const count = size(1500, 40_000);
    const requests = fuzzedRequests(SEED);
    const failed: unknown[] = [];
    let next = 0;
    let worstMs = 0;
    const work = async () => {
      while (next < count) {
        const number = next++;
        const request = requests.next().value as EncodedRequest;
        const account = number % 10 === 0 ? null : accounts[number % accounts.length]!;
        const answer = await responseTo(server, request, account);
        if (answer && !isOrderly(answer)) {
          const { method, target, body } = request;
          failed.push([number, method, target, body, answer.status, answer.text.slice(0, 300)]);
        }
      }
    };
    const watch = async () => {
      while (next < count) {
        await pause(200);
        worstMs = Math.max(worstMs, (await server.probe.lap()).stallMs);
      }
    };
    await Promise.all([watch(), ...Array.from({ length: AT_A_TIME }, work)]);
    expect(failed).toEqual([]);
    expect(worstMs).toBeLessThan(MAX_STALL_MS * (await machineSlowness()));
    await expectAlive();
  }, 600_000);

  it('survives bytes that are not requests', async () => {
    const chance = new SeededRandomness(SEED);
    const requests = fuzzedRequests(SEED + 1);
    for (let round = 0; round < size(20, 500); round++) {
      const texts = Array.from({ length: AT_A_TIME }, () => damaged(requests.next().value as EncodedRequest, chance));
      const answers = await Promise.all(texts.map((bytes) => exchange(Number(server.port), bytes)));
      expect(answers.filter((answer) => /^HTTP\/1\.1 5(?!03)/.test(answer))).toEqual([]);
    }
    await expectAlive();
  }, 600_000);

  const expectAlive = async () => {
    const { authorization } = accounts[0]!;
    const url = `${server.url}/api/v1/users/me`;
    const answer = await send({ method: 'GET', url, headers: { Authorization: authorization }, body: null });
    expect(answer.status).toBe(200);
    expect(server.output).not.toContain('"level":"error"');
  };
});

/** Null if the server does not respond in time, as with a poll. */
async function responseTo(
  server: ParleyProcess,
  request: EncodedRequest,
  account: Account | null,
): Promise<HttpAnswer | null> {
  const { method, target, headers, body } = request;
  const isPoll = target.startsWith('/api/v1/events');
  const sent = send({
    method,
    url: `http://127.0.0.1:${server.port}${target}`,
    headers: { ...headers, ...(account && { Authorization: account.authorization }) },
    body,
  });
  const answer = await within(isPoll ? PATIENCE_MS : ANSWER_MS, sent).catch((error: Error) => {
    throw new Error(`${method} ${target} ${body}: ${error.message}`);
  });
  if (!answer && !isPoll) throw new Error(`No answer to ${method} ${target}`);
  return answer;
}

const isOrderly = ({ status, headers }: HttpAnswer): boolean =>
  status < 500 || (status === 503 && headers['retry-after'] !== undefined);

function damaged({ method, target, body, headers }: EncodedRequest, chance: SeededRandomness): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const bytes = Buffer.from(
    `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${lines.join('')}\r\n${body ?? ''}`,
  );
  for (let count = 1 + Math.floor(chance.fraction() * 8); count > 0; count--) {
    bytes[Math.floor(chance.fraction() * bytes.length)] = Math.floor(chance.fraction() * 256);
  }
  return bytes;
}

/** Returns the response bytes until the connection ends or a client would time out. */
function exchange(port: number, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.end(bytes));
    const timer = setTimeout(() => socket.destroy(), PATIENCE_MS);
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      received += chunk;
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(received);
    });
  });
}
