import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.js';

const PROGRAM = [...(process.env.PATH ?? '').split(':'), '/usr/bin', '/usr/sbin']
  .map((folder) => join(folder, 'tinyproxy'))
  .find((path) => existsSync(path));

/** True if tests can start an HTTP proxy. */
export const hasTinyproxy = PROGRAM !== undefined;

/** Address of this machine that is not a loopback address, which calls reach without a proxy. */
export const PROXIED_HOST = '0.0.0.0';

/** HTTP proxy that requires a user name and a password. */
export class Tinyproxy {
  private constructor(
    private readonly folder: string,
    readonly url: string,
    private readonly end: () => Promise<void>,
  ) {}

  static async start(): Promise<Tinyproxy> {
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), 'parley-tinyproxy-'));
    const configuration = join(folder, 'tinyproxy.conf');
    const lines = [
      `Port ${port}`,
      'Listen 127.0.0.1',
      'Timeout 30',
      'LogLevel Connect',
      'ViaProxyName "proxy"',
      'BasicAuth user secret',
    ];
    writeFileSync(configuration, [...lines, `LogFile "${join(folder, 'log')}"`, ''].join('\n'));
    const proxy = spawn(PROGRAM!, ['-d', '-c', configuration], { stdio: 'ignore' });
    const ended = new Promise<void>((resolve) => proxy.once('exit', () => resolve()));
    const onExit = () => proxy.kill('SIGKILL');
    process.once('exit', onExit);
    while (!(await accepts(port))) await sleep(5);
    return new Tinyproxy(folder, `http://user:secret@127.0.0.1:${port}`, () => {
      process.off('exit', onExit);
      proxy.kill('SIGKILL');
      return ended;
    });
  }

  /** First lines of the requests so far, such as `CONNECT 0.0.0.0:443`. */
  get requests(): readonly string[] {
    const log = readFileSync(join(this.folder, 'log'), 'utf8');
    return [...log.matchAll(/Request \(file descriptor \d+\): (\S+ \S+)/g)].map(([, line]) => line!);
  }

  async stop(): Promise<void> {
    await this.end();
    rmSync(this.folder, { recursive: true });
  }
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });
