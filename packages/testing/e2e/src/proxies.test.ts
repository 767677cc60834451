import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort, until } from '@parley/testkit';
import { encodeForm, encodeMultipart, type HttpAnswer } from './conformance/request.js';
import type { ParleyProcess } from './testing/parley-process.js';
import { pause, within } from './testing/pause.js';
import { type Person, TestOrganization } from './testing/test-organization.js';

const DOMAIN = 'chat.example.com';
/** Address of the clients. The proxies connect from 127.0.0.1, the only trusted one. */
const CLIENT = '127.0.0.2';
const FORGED = '203.0.113.9';

/** Debian installs servers in a directory that only root's PATH contains. */
const PATH = `${process.env.PATH}:/usr/sbin`;

interface Addresses {
  /** Folder with `key.pem`, `certificate.pem` and both in `both.pem`. */
  readonly folder: string;
  readonly port: number;
  readonly httpPort: number;
  /** Port of the server, which takes the place of all nodes. */
  readonly nodePort: number;
}

interface Program {
  readonly name: 'nginx' | 'caddy' | 'haproxy';
  /** File in docs/deploy. */
  readonly sample: string;
  /** Replaces addresses, files and long timeouts of the sample by those of the test. */
  readonly adapt: (sample: string, addresses: Addresses) => string;
  readonly args: (file: string) => readonly string[];
  /** Result of a request in progress when its node is killed. */
  readonly killed: string;
  /** Response after that. */
  readonly unavailable: object;
  /** Signal after which requests in progress may end. */
  readonly stop?: NodeJS.Signals;
}

const nginx = (sample: string): Program => ({
  name: 'nginx',
  sample,
  adapt: (text, { folder, port, httpPort, nodePort }) => {
    const site = text
      .replaceAll(/server (127|10)\.0\.0\.\d+:9991/g, `server 127.0.0.1:${nodePort}`)
      .replaceAll(/listen \[::\]:.*;/g, '')
      .replace('listen 80;', `listen 127.0.0.1:${httpPort};`)
      .replace('listen 443 ssl http2;', `listen 127.0.0.1:${port} ssl http2;`)
      .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${folder}/key.pem;`)
      .replace(/ssl_certificate \/.*;/, `ssl_certificate ${folder}/certificate.pem;`);
    const files = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((n) => `${n}_temp_path ${folder}/${n};`);
    // Belongs outside of `http`, so the sample names it in a comment.
    const timeout = /# In nginx.conf: (worker_shutdown_timeout )60s;/.exec(text)![1]!;
    const main = `${timeout}1s; daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr; events {}`;
    return `${main} http { access_log off; ${files.join(' ')} ${site} }`;
  },
  args: (file) => ['-c', file],
  killed: '502',
  unavailable: { status: 502 },
  stop: 'SIGQUIT',
});

const PROGRAMS: readonly Program[] = [
  nginx('nginx.conf'),
  nginx('nginx-cluster.conf'),
  {
    name: 'caddy',
    sample: 'Caddyfile',
    adapt: (text, { httpPort, port, nodePort }) =>
      text
        .replace(/^\{\n/m, `{\n\tadmin off\n\tlocal_certs\n\tskip_install_trust\n\thttp_port ${httpPort}\n`)
        .replace('grace_period 10s', 'grace_period 1s')
        // A check between the end of a node and the next request would change its status.
        .replace('health_interval 1s', 'health_interval 10s')
        .replace('{$PARLEY_DOMAIN:chat.example.com}', `${DOMAIN}:${port}`)
        .replace('{$PARLEY_UPSTREAM:127.0.0.1:9991}', `127.0.0.1:${nodePort}`),
    args: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
    killed: '502',
    unavailable: { status: 502 },
    stop: 'SIGTERM',
  },
  {
    name: 'haproxy',
    sample: 'haproxy.cfg',
    adapt: (text, { folder, port, httpPort, nodePort }) =>
      text
        .replaceAll(/10\.0\.0\.\d+:9991/g, `127.0.0.1:${nodePort}`)
        .replace('hard-stop-after 60s', 'hard-stop-after 1s')
        .replace('bind :80', `bind 127.0.0.1:${httpPort}`)
        .replace('bind :443', `bind 127.0.0.1:${port}`)
        .replace('/etc/haproxy/chat.example.com.pem', `${folder}/both.pem`),
    args: (file) => ['-db', '-f', file],
    killed: 'Error: socket hang up',
    unavailable: { status: 503, code: 'SERVER_NOT_READY', retryAfter: '1' },
    stop: 'SIGUSR1',
  },
];

const isInstalled = ({ name }: Program): boolean =>
  spawnSync(name, ['-v'], { stdio: 'ignore', env: { PATH } }).error === undefined;

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

interface Call {
  readonly as: Person | null;
  /** Below `/api/v1`, or of an uploaded file. */
  readonly path: string;
  /** POST; otherwise GET. */
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Running proxy with a client. */
class RunningProxy {
  private readonly agent = new Agent({ keepAlive: true });
  private readonly said: string[] = [];

  private constructor(
    private readonly child: ChildProcess,
    private readonly port: number,
  ) {
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => this.said.push(String(chunk)));
  }

  static async start({ name, sample, adapt, args }: Program, addresses: Addresses): Promise<RunningProxy> {
    const { folder, port } = addresses;
    makeCertificate(folder);
    const file = join(folder, sample);
    writeFileSync(file, adapt(readFileSync(resolve(__dirname, '../../../../docs/deploy', sample), 'utf8'), addresses));
    const child = spawn(name, args(file), { env: { PATH, HOME: folder }, stdio: ['ignore', 'pipe', 'pipe'] });
    const proxy = new RunningProxy(child, port);
    await proxy.isReady();
    return proxy;
  }

  /** Resolves when it passes on responses of the server. @throws Error if it has ended */
  isReady(): Promise<void> {
    return until(async () => {
      if (this.child.exitCode !== null) throw new Error(`The proxy ended: ${this.said.join('')}`);
      const answer = await this.call({ as: null, path: '/server_settings' }).catch(() => null);
      return answer?.status === 200;
    });
  }

  open({ as, path, body, headers }: Call): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          agent: this.agent,
          host: '127.0.0.1',
          port: this.port,
          localAddress: CLIENT,
          servername: DOMAIN,
          rejectUnauthorized: false,
          method: body === undefined ? 'GET' : 'POST',
          path: path.startsWith('/user_uploads/') ? path : `/api/v1${path}`,
          headers: {
            Host: DOMAIN,
            ...(as && { Authorization: `Basic ${Buffer.from(`${as.email}:${as.apiKey}`).toString('base64')}` }),
            ...headers,
          },
        },
        resolve,
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }

  async call(call: Call): Promise<HttpAnswer> {
    const response = await this.open(call);
    return { status: response.statusCode!, headers: response.headers, text: await text(response) };
  }

  /** Resolves to true when it has ended. */
  async end(signal: NodeJS.Signals): Promise<true> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill(signal);
      await once(this.child, 'exit');
    }
    this.agent.destroy();
    return true;
  }
}

function makeCertificate(folder: string): void {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const made = spawnSync('openssl', [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${DOMAIN}`],
    ...['-keyout', key, '-out', certificate],
  ]);
  if (made.status !== 0) throw new Error(String(made.stderr));
  writeFileSync(join(folder, 'both.pem'), readFileSync(certificate, 'utf8') + readFileSync(key, 'utf8'));
}
