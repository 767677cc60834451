import { parentPort, workerData } from 'node:worker_threads';
import { type TypesettingJob, typeset } from './typeset.js';

/** For the code and formulas of one text together. */
const TIME_MS = 300;

// What runs on the thread of `TypesettingThread`: for every list of jobs it answers the results.
parentPort?.on('message', (jobs: readonly TypesettingJob[]) => parentPort?.postMessage(typeset(jobs, TIME_MS)));
// Shared memory, because an error may reach the other side before a message that was sent earlier.
if (workerData instanceof Int32Array) Atomics.store(workerData, 0, 1);
