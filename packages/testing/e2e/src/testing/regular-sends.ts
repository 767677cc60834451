import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { HttpRequest } from '../conformance/request.js';

export interface SendSchedule {
  readonly request: HttpRequest;
  /** Process id of the server; its waits for a core do not count. */
  readonly serverPid: number;
  readonly everyMs: number;
  /** Unix time in milliseconds. */
  readonly endsAt: number;
}

/** Latency of a send, without and with the time that other processes used the cores. */
export interface SendTime {
  readonly waitMs: number;
  readonly totalMs: number;
}

/** Compiled, since a thread cannot load TypeScript; `npm test` builds it first. */
const SENDER = resolve(import.meta.dirname, '../../dist/testing/regular-sender.js');

/**
 * Repeats a request and reports each latency. Runs in its own thread, so that the test's other requests and responses
 * do not count as latency.
 */
export async function sendRegularly(schedule: SendSchedule, onSent: (time: SendTime) => void): Promise<void> {
  const sender = new Worker(SENDER, { workerData: schedule });
  sender.on('message', onSent);
  await new Promise((ended, fail) => sender.once('exit', ended).once('error', fail));
}
