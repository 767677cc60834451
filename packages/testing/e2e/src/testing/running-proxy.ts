import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { until } from '@parley/testkit';
import type { HttpAnswer } from '../conformance/request.js';
import type { Person } from './test-organization.js';

export const DOMAIN = 'chat.example.com';
/** Address of the clients. The proxies connect from 127.0.0.1, the only trusted one. */
export const CLIENT = '127.0.0.2';
export const FORGED = '203.0.113.9';

/** Debian installs servers in a directory that only root's PATH contains. */
export const PATH = `${process.env.PATH}:/usr/sbin`;

export interface Addresses {
  /** Folder with `key.pem`, `certificate.pem` and both in `both.pem`. */
  readonly folder: string;
  readonly port: number;
  readonly httpPort: number;
  /** Port of the server, which takes the place of all nodes. */
  readonly nodePort: number;
  /** True to keep timeouts of the sample that tests shorten. */
  readonly keepsTimeouts?: boolean;
}

export interface Program {
  readonly name: string;
  /** File in docs/deploy. */
  readonly sample: string;
  /** Replaces addresses, files and long timeouts of the sample by those of the test. */
  readonly adapt: (sample: string, addresses: Addresses) => string;
  readonly args: (file: string, addresses: Addresses) => readonly string[];
  /** Result of a request in progress when its node is killed. */
  readonly killed: string;
  /** Response to a request after the kill. */
  readonly unavailable: object;
  /** Signal after which requests in progress may end. */
  readonly stop?: NodeJS.Signals;
  /** Signal that reloads the configuration, or command with its arguments. */
  readonly reload: NodeJS.Signals | ((file: string, addresses: Addresses) => readonly [string, ...string[]]);
}

export const nginx = (sample: string): Program => ({
  name: 'nginx',
  sample,
  adapt: (text, { folder, port, httpPort, nodePort, keepsTimeouts }) => {
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
    const main = `${timeout}${keepsTimeouts ? 60 : 1}s; daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr; events {}`;
    return `${main} http { access_log off; ${files.join(' ')} ${site} }`;
  },
  args: (file) => ['-c', file],
  killed: '502',
  unavailable: { status: 502 },
  stop: 'SIGQUIT',
  reload: 'SIGHUP',
});

export const PROGRAMS: readonly Program[] = [
  nginx('nginx.conf'),
  nginx('nginx-cluster.conf'),
  {
    name: 'caddy',
    sample: 'Caddyfile',
    adapt: (text, { folder, httpPort, port, nodePort, keepsTimeouts }) =>
      text
        .replace(
          /^\{\n/m,
          `{\n\tadmin unix/${folder}/admin.sock\n\tlocal_certs\n\tskip_install_trust\n\thttp_port ${httpPort}\n`,
        )
        .replace('grace_period 10s', keepsTimeouts ? '$&' : 'grace_period 1s')
        // A check between the end of a node and the next request would change its status.
        .replace('health_interval 1s', keepsTimeouts ? '$&' : 'health_interval 10s')
        .replace('{$PARLEY_DOMAIN:chat.example.com}', `${DOMAIN}:${port}`)
        .replace('{$PARLEY_UPSTREAM:127.0.0.1:9991}', `127.0.0.1:${nodePort}`),
    args: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
    killed: '502',
    unavailable: { status: 502 },
    stop: 'SIGTERM',
    reload: (file, { folder }) => {
      const address = ['--address', `unix/${folder}/admin.sock`];
      return ['caddy', 'reload', '--force', '--config', file, '--adapter', 'caddyfile', ...address];
    },
  },
  {
    name: 'haproxy',
    sample: 'haproxy.cfg',
    adapt: (text, { folder, port, httpPort, nodePort, keepsTimeouts }) =>
      text
        .replaceAll(/10\.0\.0\.\d+:9991/g, `127.0.0.1:${nodePort}`)
        .replace('hard-stop-after 60s', keepsTimeouts ? '$&' : 'hard-stop-after 1s')
        .replace('bind :80', `bind 127.0.0.1:${httpPort}`)
        .replace('bind :443', `bind 127.0.0.1:${port}`)
        .replace('/etc/haproxy/chat.example.com.pem', `${folder}/both.pem`),
    args: (file) => ['-W', '-db', '-f', file],
    killed: 'Error: socket hang up',
    unavailable: { status: 503, code: 'SERVER_NOT_READY', retryAfter: '1' },
    stop: 'SIGUSR1',
    reload: 'SIGUSR2',
  },
];

export const isInstalled = ({ name }: Pick<Program, 'name'>): boolean =>
  spawnSync(name, ['-v'], { stdio: 'ignore', env: { PATH } }).error === undefined;

export interface Call {
  readonly as: Person | null;
  /** Path below `/api/v1`, a whole path that begins with it, or that of an uploaded file. */
  readonly path: string;
  /** Default: POST with a body, otherwise GET. */
  readonly method?: string;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Running proxy with a client. */
export class RunningProxy {
  private readonly agent = new Agent({ keepAlive: true });
  private readonly said: string[] = [];

  private constructor(
    private readonly child: ChildProcess,
    private readonly program: Program,
    private readonly addresses: Addresses,
  ) {
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => this.said.push(String(chunk)));
  }

  /** Resolves when it passes on responses, or at once if a proxy in front of it does that later. */
  static async start(program: Program, addresses: Addresses, isOutermost = true): Promise<RunningProxy> {
    const { name, sample, adapt, args } = program;
    const { folder } = addresses;
    makeCertificate(folder);
    const file = join(folder, sample);
    writeFileSync(
      file,
      adapt(readFileSync(resolve(import.meta.dirname, '../../../../../docs/deploy', sample), 'utf8'), addresses),
    );
    const child = spawn(name, args(file, addresses), {
      env: { PATH, HOME: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const proxy = new RunningProxy(child, program, addresses);
    if (isOutermost) await proxy.isReady();
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

  open({ as, path, method, body, headers }: Call): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          agent: this.agent,
          host: '127.0.0.1',
          port: this.addresses.port,
          localAddress: CLIENT,
          servername: DOMAIN,
          rejectUnauthorized: false,
          method: method ?? (body === undefined ? 'GET' : 'POST'),
          path: /^\/(?:user_uploads|api)\//.test(path) ? path : `/api/v1${path}`,
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

  /** Rereads the configuration as the documents of the program say. @throws Error with its output if that fails */
  reload(): void {
    const { reload, sample } = this.program;
    if (typeof reload === 'string') {
      this.child.kill(reload);
      return;
    }
    const [command, ...args] = reload(join(this.addresses.folder, sample), this.addresses);
    const { status, stdout, stderr } = spawnSync(command, args, { env: { PATH, HOME: this.addresses.folder } });
    if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`);
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
