import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below those that systems give to whoever asks for any. */
const LOWEST = 15_000;
const COUNT = 15_000;
const TRIES = 100;

/**
 * A port of the loopback address that nobody listens on, and that nobody is given who takes any: whatever else runs, it is
 * still free when a server that had it starts again.
 */
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
