/** Longer than the time slice after which a unit of work yields to the event loop. */
const LONGER_THAN_SLICE_MS = 10;

/** Blocks the event loop, so that the next repository call of a unit yields. */
export function useUpTimeSlice(): void {
  for (const since = performance.now(); performance.now() - since < LONGER_THAN_SLICE_MS; );
}
