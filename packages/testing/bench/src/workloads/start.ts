import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { onItsCore } from '../harness/child.js';
import { interleave } from '../harness/interleave.js';
import { SERVE_ENVIRONMENT, SERVE_SCRIPT, serveArguments } from '../harness/parley-server.js';
import { ratioOf } from '../harness/table.js';
import type { Workload } from '../workload.js';
import { demo } from '../worlds/worlds.js';

/** Restart with an existing demo organization. */
export const start: Workload = {
  name: 'start',
  async run(lab) {
    const { database } = await lab.copyOf(demo);
    const port = await freePort();
    const serve = [fileURLToPath(SERVE_SCRIPT), ...serveArguments(database, port), '--demo'];
    const rounds = await interleave(lab.rounds, {
      parley: async () => {
        const startedAt = performance.now();
        const server = startNode(serve);
        const ended = once(server, 'exit');
        try {
          await answered(port, server);
          return performance.now() - startedAt;
        } finally {
          server.kill('SIGTERM');
          await ended;
        }
      },
      node: async () => {
        const startedAt = performance.now();
        await once(startNode(['-e', '0']), 'exit');
        return performance.now() - startedAt;
      },
    });
    return [
      {
        label: 'process start to first answered request, demo database present ÷ node -e 0',
        ...ratioOf(rounds.parley, rounds.node, ' ms'),
        goal: { atMost: 4.5 },
      },
    ];
  },
};

function startNode(args: readonly string[]): ChildProcess {
  const [command, ...rest] = onItsCore('server', [process.execPath, ...args]);
  return spawn(command!, rest, { stdio: 'ignore', env: { ...process.env, ...SERVE_ENVIRONMENT } });
}

/** Returns a free port, which the measured server takes shortly afterwards. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Connects every millisecond until the port opens, then waits for the response. @throws Error if the server exits */
async function answered(port: number, server: ChildProcess): Promise<void> {
  for (;;) {
    if (server.exitCode !== null) throw new Error(`The server did not start: exit code ${server.exitCode}`);
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    try {
      await once(socket, 'connect');
      socket.write('GET /api/v1/server_settings HTTP/1.1\r\nHost: localhost\r\n\r\n');
      const [answer] = (await once(socket, 'data')) as [Buffer];
      if (!answer.toString('latin1').startsWith('HTTP/1.1 200')) throw new Error(`It answered ${answer}`);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw error;
      await sleep(1);
    } finally {
      socket.destroy();
    }
  }
}
