import { readFileSync } from 'node:fs';

/** Time that the main thread of the process was runnable without a core; 0 if the system does not report it. */
function coreWaitMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

/** Returns the duration of the work in milliseconds, minus the longer core wait of the server or this process. */
export async function waitOf(work: () => Promise<unknown>, serverPid: number): Promise<number> {
  const startedAt = performance.now();
  const before = [coreWaitMs(process.pid), coreWaitMs(serverPid)] as const;
  await work();
  const ofOthers = Math.max(coreWaitMs(process.pid) - before[0], coreWaitMs(serverPid) - before[1]);
  return Math.max(0, performance.now() - startedAt - ofOthers);
}
