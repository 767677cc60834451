import { parentPort, workerData } from 'node:worker_threads';
import { type TypesettingJob, typeset } from './typeset.js';

/** Time limit for all code and formulas of one text. */
const TIME_MS = 300;

// Script of the `TypesettingThread` worker: returns the results of each list of jobs.
parentPort?.on('message', (jobs: readonly TypesettingJob[]) => parentPort?.postMessage(typeset(jobs, TIME_MS)));
// Uses shared memory, because an error may overtake an earlier message.
if (workerData instanceof Int32Array) Atomics.store(workerData, 0, 1);
