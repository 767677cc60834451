import { threadTimes } from './thread-times.js';

/** What `calibrate` takes on the machine for which tests choose their limits. */
const CALIBRATION_MS = 10;
const CALIBRATIONS = 3;
const TRIES = 3;

let slowness: number | undefined;

/**
 * How many times as long this machine takes as the one for which tests choose their limits; 1 where it is quicker. Measured
 * once, unless it is asked for anew: others may use the machine more than before.
 */
export async function machineSlowness(isAnew = false): Promise<number> {
  if (isAnew) slowness = undefined;
  slowness ??= await measureSlowness();
  return slowness;
}

/**
 * How long this thread works on something, in milliseconds of the machine for which tests choose their limits: without the time
 * for which others have the core, and less on a slower machine. What takes longer than the limit is tried again, since other
 * work of the process, such as collecting garbage, may fall into it; the least counts.
 */
export async function workMsOf(work: () => unknown, limitMs: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let count = 0; count < TRIES && least > limitMs; count++) {
    const factor = await machineSlowness(count > 0);
    least = Math.min(least, (await timed(work)) / factor);
  }
  return least;
}

async function measureSlowness(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let count = 0; count < CALIBRATIONS; count++) least = Math.min(least, await timed(calibrate));
  return Math.max(1, least / CALIBRATION_MS);
}

async function timed(work: () => unknown): Promise<number> {
  const before = threadTimes().workedMs;
  await work();
  return threadTimes().workedMs - before;
}

/** Texts, objects and regular expressions, as in what is measured. */
function calibrate(): number {
  const words = new Map<string, number>();
  for (let n = 0; n < 20_000; n++) {
    const text = JSON.stringify({ word: `word ${(n * 7919) % 4001}` });
    words.set(text, (words.get(text) ?? 0) + text.replace(/[aeiou]+/g, '').length);
  }
  return words.size;
}
