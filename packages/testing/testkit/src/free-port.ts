import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the range of ephemeral ports. */
const LOWEST = 15_000;
const COUNT = 15_000;
const TRIES = 100;

/** Returns an unused loopback port outside the ephemeral range, so that it remains free while a server restarts. */
export async function freePort(): Promise<number> {
  for (let count = 0; count < TRIES; count++) {
    const port = LOWEST + randomInt(COUNT);
    if (await isFree(port)) return port;
  }
  throw new Error('There is no free port');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
