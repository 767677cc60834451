import { threadTimes } from './thread-times.js';

/** Duration of `calibrate` on the reference machine for test limits. */
const CALIBRATION_MS = 10;
const CALIBRATIONS = 3;
const TRIES = 3;

let slowness: number | undefined;

/**
 * Returns the slowness of this machine relative to the reference machine for test limits; at least 1. Cached unless a
 * new measurement is requested, because the machine's load varies.
 */
export async function machineSlowness(isAnew = false): Promise<number> {
  if (isAnew) slowness = undefined;
  slowness ??= await measureSlowness();
  return slowness;
}

/**
 * Returns the milliseconds of thread work, scaled to the reference machine for test limits and excluding time spent
 * waiting for a core. Retries work above the limit and returns the minimum, because garbage collection may interfere.
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

/** Runs a typical mix of text, object and regular expression operations. */
function calibrate(): number {
  const words = new Map<string, number>();
  for (let n = 0; n < 20_000; n++) {
    const text = JSON.stringify({ word: `word ${(n * 7919) % 4001}` });
    words.set(text, (words.get(text) ?? 0) + text.replace(/[aeiou]+/g, '').length);
  }
  return words.size;
}
