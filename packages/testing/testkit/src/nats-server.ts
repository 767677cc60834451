import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.js';

/** Debian installs the server in a directory that only root's PATH contains. */
const PROGRAM = [...(process.env.PATH ?? '').split(':'), '/usr/sbin']
  .map((folder) => join(folder, 'nats-server'))
  .find((path) => existsSync(path));

/** True if tests can start a NATS server. */
export const hasNatsServer = PROGRAM !== undefined;

/** NATS server on a loopback port that stays the same after a restart. */
export class NatsServer {
  private stopServer: (() => Promise<void>) | null = null;

  private constructor(readonly port: number) {}

  /** Returns a server that is not yet running. */
  static async atFreePort(): Promise<NatsServer> {
    return new NatsServer(await freePort());
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  async start(...args: readonly string[]): Promise<void> {
    const server = spawn(PROGRAM!, ['-a', '127.0.0.1', '-p', String(this.port), ...args], { stdio: 'ignore' });
    const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
    const onExit = () => server.kill('SIGKILL');
    process.once('exit', onExit);
    this.stopServer = () => {
      process.off('exit', onExit);
      server.kill('SIGKILL');
      return ended;
    };
    while (!(await this.accepts())) await sleep(5);
  }

  async kill(): Promise<void> {
    await this.stopServer?.();
    this.stopServer = null;
  }

  private accepts(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      }).on('error', () => resolve(false));
    });
  }
}
