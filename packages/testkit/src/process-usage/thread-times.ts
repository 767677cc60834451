import { readFileSync } from 'node:fs';

/**
 * For how long in all the main thread has run, and for how long it could have run and had no core, because others had it. Where
 * the system does not tell: how long all threads have run, and 0.
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
