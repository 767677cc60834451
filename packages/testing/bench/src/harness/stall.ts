import { performance } from 'node:perf_hooks';

/** Longest time that a task blocks the event loop, in milliseconds; exceptions are ignored. */
export async function stallOf(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = 0;
  let isOver = false;
  const tick = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(tick);
  };
  await turn();
  last = performance.now();
  setImmediate(tick);
  try {
    await work();
  } catch {
    // A rejection is also a valid result.
  }
  isOver = true;
  await turn();
  return longest;
}

/** Minimum of several runs, to exclude the effect of other processes. */
export async function leastStall(work: () => Promise<unknown>, times: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < times; i++) least = Math.min(least, await stallOf(work));
  return least;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
