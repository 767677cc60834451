import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Lap, ProbeCall } from './server-probe.js';

/** Loaded into a server under test before it starts; a parent asks it over IPC how the event loop and memory fare. */

/** How often the event loop is looked at; it is never later by less than that. */
const RESOLUTION_MS = 5;
const MEMORY_EVERY_MS = 20;
/** For so long what a request set off is waited for, while the event loop is busy. */
const SETTLING_MS = 2000;
const BUSY = 0.5;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

let stallMs = 0;
let peakBytes = ownBytes();

let turnedAt = performance.now();
let waitedMs = waitingMs();
setInterval(() => {
  const now = performance.now();
  const waited = waitingMs();
  stallMs = Math.max(stallMs, now - turnedAt - RESOLUTION_MS - (waited - waitedMs));
  turnedAt = now;
  waitedMs = waited;
}, RESOLUTION_MS).unref();

setInterval(() => {
  peakBytes = Math.max(peakBytes, ownBytes());
}, MEMORY_EVERY_MS).unref();

process.on('message', ({ id, name }: ProbeCall) => {
  const answer = name === 'lap' ? lap() : Promise.resolve(retainedBytes());
  void answer.then((value) => process.send!({ id, value }));
});

/** What happened since the last one, once the event loop is idle. */
async function lap(): Promise<Lap> {
  const startedAt = performance.now();
  let before = performance.eventLoopUtilization();
  do {
    await new Promise((resolve) => setTimeout(resolve, 2 * RESOLUTION_MS));
    const now = performance.eventLoopUtilization();
    if (performance.eventLoopUtilization(now, before).utilization < BUSY) break;
    before = now;
  } while (performance.now() - startedAt < SETTLING_MS);
  const result = { stallMs, peakBytes: Math.max(peakBytes, ownBytes()) };
  stallMs = 0;
  peakBytes = ownBytes();
  return result;
}

/** What is still referred to. */
function retainedBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** For how long in all this thread could have run and had no core, because others had it; 0 where the system does not tell. */
function waitingMs(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

/** Resident, without what is mapped from files, the program and the database; with it where the system does not tell. */
function ownBytes(): number {
  try {
    return Number(/^RssAnon:\s*(\d+) kB/m.exec(readFileSync('/proc/self/status', 'latin1'))![1]) * 1024;
  } catch {
    return process.memoryUsage.rss();
  }
}

// Whoever asks does not keep the server alive.
process.channel?.unref();
// Nobody is left to stop it.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
