import { readFileSync } from 'node:fs';

/** Time that a thread was runnable without a core; 0 if the system does not report it. */
function coreWaitMs(thread: number | 'thread-self'): number {
  try {
    return Number(readFileSync(`/proc/${thread}/schedstat`, 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

/** Returns the duration of the work in milliseconds, minus the longer core wait of the server or this thread. */
export async function waitOf(work: () => Promise<unknown>, serverPid: number): Promise<number> {
  const startedAt = performance.now();
  const before = [coreWaitMs('thread-self'), coreWaitMs(serverPid)] as const;
  await work();
  const ofOthers = Math.max(coreWaitMs('thread-self') - before[0], coreWaitMs(serverPid) - before[1]);
  return Math.max(0, performance.now() - startedAt - ofOthers);
}
