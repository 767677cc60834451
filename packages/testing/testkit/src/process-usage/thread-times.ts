import { readFileSync } from 'node:fs';

/**
 * Returns how long the main thread has run, and how long it was runnable without a core. On systems without this data,
 * returns the time of all threads and 0.
 */
export function threadTimes(): { readonly workedMs: number; readonly waitedMs: number } {
  try {
    const [worked, waited] = readFileSync('/proc/self/schedstat', 'latin1').split(' ');
    return { workedMs: Number(worked) / 1e6, waitedMs: Number(waited) / 1e6 };
  } catch {
    const { user, system } = process.cpuUsage();
    return { workedMs: (user + system) / 1000, waitedMs: 0 };
  }
}
