import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { send } from '../conformance/request.js';
import { type Account, createLargeOrganization, signIn } from '../testing/large-organization.js';
import type { ParleyProcess } from '../testing/parley-process.js';
import { pause, within } from '../testing/pause.js';
import { TestOrganization } from '../testing/test-organization.js';
import { size } from './scale.js';

const MEGABYTE = 1024 * 1024;
const ANSWERS_BYTES = 32 * MEGABYTE;
const HEADERS_MS = 1000;
/** Allowed growth besides responses: one page in progress and uncollected garbage. */
const MAX_GROWTH_BYTES = ANSWERS_BYTES + 400 * MEGABYTE;

/** Clients that occupy connections and memory without reading. */
describe('server with slow clients', () => {
  let organization: TestOrganization;
  let server: ParleyProcess;
  let accounts: readonly Account[];

  beforeAll(async () => {
    organization = new TestOrganization();
    const { owners } = await createLargeOrganization(organization.database, {
      owners: 20,
      members: 0,
      channels: 3,
      messages: size(2000, 10_000),
    });
    const dev = await organization.serve(['--dev']);
    accounts = await signIn(dev, owners);
    await dev.terminate();
    server = await organization.serveLimited({
      answersBytes: ANSWERS_BYTES,
      answerMs: 1000,
      answerBytesPerSecond: 10 * MEGABYTE,
      headersMs: HEADERS_MS,
    });
  });
  afterAll(() => organization.close());

  const open = async (): Promise<Socket> => {
    const socket = connect(Number(server.port), '127.0.0.1');
    await once(socket, 'connect');
    // A reset is a valid way to end a connection.
    return socket.on('error', () => {});
  };
  /** Returns the status of a request with headers sent in time; a busy server receives them late. */
  const servedStatus = async () => {
    for (;;) {
      const url = `${server.url}/api/v1/server_settings`;
      const { status } = await send({ method: 'GET', url, headers: {}, body: null });
      if (status !== 408) return status;
    }
  };
  const haveAllEnded = (sockets: readonly Socket[], ms: number) =>
    within(ms, Promise.all(sockets.map((socket) => socket.closed || once(socket, 'close'))));

  it('limits memory when clients request the largest pages without reading, and disconnects them', async () => {
    const target = '/api/v1/messages?anchor=newest&num_before=5000&num_after=0';
    const rounds = size(2, 20);
    const { peakBytes: before } = await server.probe.lap();
    for (let round = 0; round < rounds; round++) {
      const sockets = await Promise.all(Array.from({ length: size(60, 400) }, open));
      for (const [n, socket] of sockets.entries()) {
        const { authorization } = accounts[n % accounts.length]!;
        socket.pause();
        socket.write(
          `GET ${target} HTTP/1.1\r\nHost: localhost:${server.port}\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`,
        );
      }
      expect(await servedStatus()).toBe(200);
      await pause(2500);
      // Resumes reading only now, since a paused connection does not report its end.
      for (const socket of sockets) socket.resume();
      expect(await haveAllEnded(sockets, 60_000)).not.toBeNull();
      expect(await servedStatus()).toBe(200);
    }
    const { peakBytes } = await server.probe.lap();
    expect(peakBytes - before).toBeLessThan(MAX_GROWTH_BYTES);
    expect(server.output).not.toContain('"level":"error"');
  });

  it.each([
    ['say nothing', ''],
    ['begin a request line', 'GET /api/v1/mess'],
    ['begin headers', 'POST /api/v1/messages HTTP/1.1\r\nHost: localhost\r\nX-A: '],
  ])('closes connections that %s', async (_name, text) => {
    const sockets = await Promise.all(Array.from({ length: size(200, 2000) }, open));
    for (const socket of sockets) socket.resume().write(text);
    expect(await servedStatus()).toBe(200);
    expect(await haveAllEnded(sockets, HEADERS_MS + 30_000)).not.toBeNull();
    expect(await servedStatus()).toBe(200);
  });
});
