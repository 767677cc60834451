import { performance } from 'node:perf_hooks';

/** How long some work holds the event loop in one go, in milliseconds; what it throws is ignored. */
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
    // Refused, which is an answer too.
  }
  isOver = true;
  await turn();
  return longest;
}

/** The least of several, since others use the machine too. */
export async function leastStall(work: () => Promise<unknown>, times: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < times; i++) least = Math.min(least, await stallOf(work));
  return least;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
