import { constants, setPriority } from 'node:os';
import { text } from 'node:stream/consumers';
import type { Terminal } from './command.js';

const SECOND_THOUGHTS_MS = 1000;

export const processTerminal: Terminal = {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
  readInput: () => text(process.stdin),
  interrupted: () =>
    new Promise((resolve) => {
      let askedAt = 0;
      const ask = () => {
        if (askedAt === 0) askedAt = performance.now();
        // npm hands on a Ctrl-C that we have had already; whoever asks again later does not want to wait.
        else if (performance.now() - askedAt > SECOND_THOUGHTS_MS) process.exit(1);
        resolve();
      };
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, ask);
      // The server outlives the terminal that it was started from.
      process.on('SIGHUP', () => {});
    }),
  comeAfterServer: () => setPriority(constants.priority.PRIORITY_LOW),
};
