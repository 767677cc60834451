import { performance } from 'node:perf_hooks';
import { ProcessUsage, retainedBytes } from '@parley/testkit/process-usage';
import type { Lap, ProbeCall } from './server-probe.js';

/** Loaded into a measured server before it starts; a parent queries event loop and memory over IPC. */

const LOOK_EVERY_MS = 10;
/** Maximum wait for the consequences of a request while the event loop is busy. */
const SETTLING_MS = 2000;
const BUSY = 0.5;

const usage = new ProcessUsage();

process.on('message', ({ id, name }: ProbeCall) => {
  const answer = name === 'lap' ? lap() : Promise.resolve(retainedBytes());
  void answer.then((value) => process.send!({ id, value }));
});

/** Returns measurements since the previous lap once the event loop is idle. */
async function lap(): Promise<Lap> {
  const startedAt = performance.now();
  let before = performance.eventLoopUtilization();
  do {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    const now = performance.eventLoopUtilization();
    if (performance.eventLoopUtilization(now, before).utilization < BUSY) break;
    before = now;
  } while (performance.now() - startedAt < SETTLING_MS);
  const { stallMs, peakBytes } = usage;
  usage.reset();
  return { stallMs, peakBytes };
}

// The channel must not keep the server alive.
process.channel?.unref();
// Without its parent, no process would stop it.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
