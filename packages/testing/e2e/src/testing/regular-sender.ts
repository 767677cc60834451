import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { parentPort, workerData } from 'node:worker_threads';
import { send } from '../conformance/request.js';
import { waitOf } from './core-waits.js';
import { pause } from './pause.js';
import type { SendSchedule, SendTime } from './regular-sends.js';

/** Thread of `sendRegularly`. */

const { request, serverPid, everyMs, endsAt } = workerData as SendSchedule;

async function sendOnce(): Promise<void> {
  const startedAt = performance.now();
  const waitMs = await waitOf(async () => {
    const { status, text } = await send(request);
    assert.equal(status, 200, text.slice(0, 300));
  }, serverPid);
  parentPort!.postMessage({ waitMs, totalMs: performance.now() - startedAt } satisfies SendTime);
}

const sent: Promise<void>[] = [];
while (Date.now() < endsAt) {
  sent.push(sendOnce());
  await pause(everyMs);
}
await Promise.all(sent);
