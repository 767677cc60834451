import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, until } from '@parley/testkit';
import { encodeForm, encodeMultipart, type HttpAnswer } from './conformance/request.js';
import type { ParleyProcess } from './testing/parley-process.js';
import { pause, within } from './testing/pause.js';
import { CLIENT, DOMAIN, FORGED, isInstalled, PROGRAMS, RunningProxy } from './testing/running-proxy.js';
import { type Person, TestOrganization } from './testing/test-organization.js';

describe.each(PROGRAMS.map((program) => [program.sample, program] as const))('sample %s', (_, program) => {
  if (!isInstalled(program)) {
    it.skip(`passes streams on: ${program.name} is not installed`, () => {});
    return;
  }
  let folder: string;
  let organization: TestOrganization;
  let ann: Person;
  let server: ParleyProcess;
  let nodePort: number;
  let proxy: RunningProxy;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'parley-proxy-'));
    organization = await TestOrganization.withOrganization();
    ann = await organization.addPerson('Ann', 'owner');
    nodePort = await freePort();
    const flags = [`--url=https://${DOMAIN}`, '--trust-proxy=127.0.0.1', '--log-level=info'];
    server = await organization.serve(flags, String(nodePort));
    proxy = await RunningProxy.start(program, { folder, port: await freePort(), httpPort: await freePort(), nodePort });
  });
  afterAll(async () => {
    await proxy?.end('SIGTERM');
    await organization?.close();
    rmSync(folder, { recursive: true });
  });

  const post = (path: string, form: Readonly<Record<string, string>>) =>
    proxy.call({ as: ann, path, body: encodeForm(form), headers: { 'Content-Type': FORM } });
  const register = async (): Promise<string> =>
    JSON.parse((await post('/register', { event_types: '["message"]' })).text).queue_id;
  const say = (content: string) => post('/messages', { type: 'direct', to: `[${ann.id}]`, content });
  const poll = async () => ({ as: ann, path: `/events?queue_id=${await register()}&last_event_id=-1` });
  async function stream() {
    const path = `/events/stream?queue_id=${await register()}&last_event_id=-1`;
    const beganAt = performance.now();
    const response = await proxy.open({ as: ann, path });
    const received: string[] = [];
    response.setEncoding('utf8').on('data', (piece: string) => received.push(piece));
    return { response, beganAt, untilSent: (part: string) => until(() => received.join('').includes(part)) };
  }

  it("passes on a stream's heartbeat immediately and an event within a second", async () => {
    const { beganAt, response, untilSent } = await stream();
    await untilSent('event: heartbeat');
    const saidAt = performance.now();
    await say('To be');
    await untilSent('To be');
    const times = { heartbeatMs: saidAt - beganAt, eventMs: performance.now() - saidAt };
    expect({ times, areShort: Math.max(...Object.values(times)) < 1000 }).toEqual({ times, areShort: true });
    response.destroy();
  });

  it('passes on the event for which a poll waits', async () => {
    const answer = proxy.call(await poll());
    await pause(300);
    await say('or not to be');
    const { status, text } = await answer;
    expect([status, JSON.parse(text).events[0].message.content]).toEqual([200, 'or not to be']);
  });

  it('passes on uploads and downloads', async () => {
    const content = Buffer.alloc(5_000_000, 'x');
    const file = { field: 'filename', name: 'notes.bin', content, type: 'application/octet-stream' };
    const { body, contentType } = await encodeMultipart({}, [file]);
    const headers = { 'Content-Type': contentType };
    const uploaded = await proxy.call({ as: ann, path: '/user_uploads', body: Buffer.from(body), headers });
    const received = await proxy.call({ as: ann, path: JSON.parse(uploaded.text).url });
    expect([uploaded.status, received.status, received.text.length]).toEqual([200, 200, content.length]);
  });

  it("forwards the client's address but no forged one", async () => {
    await proxy.call({ as: ann, path: '/users/me', headers: { 'X-Forwarded-For': FORGED } });
    await until(() => server.output.includes('"/users/me"'));
    expect(server.output).toContain(`"ip":"${CLIENT}"`);
    expect(server.output).not.toContain(FORGED);
  });

  it('reports a killed node as documented', async () => {
    const { response } = await stream();
    const hasEnded = new Promise((resolve) => response.on('error', () => {}).once('close', () => resolve(true)));
    const answer = proxy.call(await poll()).then(({ status }) => String(status), String);
    await pause(300);
    await server.kill();
    expect(await answer).toBe(program.killed);
    expect(await within(5000, hasEnded)).toBe(true);
    expect(partsOf(await say('lost'))).toMatchObject(program.unavailable);
  });

  it('passes on the response of a node that is overloaded', async () => {
    const node = createServer((incoming, response) => {
      const isReady = incoming.url === '/readyz';
      incoming.resume();
      response.writeHead(isReady ? 200 : 503, { 'Content-Type': 'application/json', 'Retry-After': '7' });
      response.end('{"result":"error","msg":"","code":"SERVER_NOT_READY"}');
    }).listen(nodePort, '127.0.0.1');
    await until(async () => (await say('late')).headers['retry-after'] === '7');
    expect(partsOf(await say('late'))).toEqual({ status: 503, code: 'SERVER_NOT_READY', retryAfter: '7' });
    node.close().closeAllConnections();
  });

  const { stop } = program;
  if (stop === undefined) return;
  it('ends streams soon after a reload', async () => {
    if (!server.isRunning) server = await organization.serve([`--url=https://${DOMAIN}`], String(nodePort));
    await proxy.isReady();
    await stream();
    expect(await within(10_000, proxy.end(stop))).toBe(true);
  });
});

const FORM = 'application/x-www-form-urlencoded';

/** Null for a body that is not JSON. */
function partsOf({ status, headers, text }: HttpAnswer) {
  const isJson = headers['content-type']?.startsWith('application/json');
  return { status, code: isJson ? JSON.parse(text).code : null, retryAfter: headers['retry-after'] };
}
