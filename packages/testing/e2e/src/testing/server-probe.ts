import type { ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface ProbeCall {
  readonly id: number;
  readonly name: 'lap' | 'retained';
}

export interface Lap {
  /** Longest event loop stall, excluding time that other processes used its core. */
  readonly stallMs: number;
  /** Peak resident memory of the process. */
  readonly peakBytes: number;
}

/** Compiled, since the server process cannot load TypeScript; `npm test` builds it first. */
const PROBE = pathToFileURL(resolve(import.meta.dirname, '../../dist/testing/probe.js')).href;

/** Node options that load the probe. */
export const PROBE_OPTIONS: readonly string[] = ['--import', PROBE];

/** Measurements taken inside a server's process; see `probe.ts`. */
export class Probe {
  private lastId = 0;

  constructor(private readonly child: ChildProcess) {}

  /** Returns measurements since the previous lap once the server is idle. */
  lap(): Promise<Lap> {
    return this.call<Lap>('lap');
  }

  /** Returns bytes still referenced after garbage collection. */
  retainedBytes(): Promise<number> {
    return this.call<number>('retained');
  }

  private call<T>(name: ProbeCall['name']): Promise<T> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        this.child.off('message', take).off('close', fail);
        act();
      };
      const take = (answer: { readonly id: number; readonly value: T }) => {
        if (answer.id === id) settle(() => resolve(answer.value));
      };
      const fail = () => settle(() => reject(new Error('The server has ended')));
      this.child.on('message', take).once('close', fail);
      this.child.send({ id, name } satisfies ProbeCall, (error) => {
        if (error) settle(() => reject(error));
      });
    });
  }
}
