import { parentPort } from 'node:worker_threads';
import type { TypesettingJob } from './job.js';
import { typeset } from './typeset.js';

/** For the code and formulas of one text together. */
const TIME_MS = 300;

// What runs on the thread of `TypesettingThread`: null once it is there, then for every list of jobs the results.
parentPort?.on('message', (jobs: readonly TypesettingJob[]) => parentPort?.postMessage(typeset(jobs, TIME_MS)));
parentPort?.postMessage(null);
