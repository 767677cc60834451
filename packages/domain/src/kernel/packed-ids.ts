/**
 * Ascending ids as the differences between them: a thousand take a few hundred bytes instead of eight thousand. A negative
 * number says how many more times the difference before it follows.
 */
export interface PackedIds {
  readonly steps: readonly number[];
}

/** More than any event names; a damaged count would fill the memory. */
const MOST_IDS = 10_000_000;
/** Shorter lists are as short as they are. */
const WORTHWHILE = 16;

/** The list itself where it is short, or does not ascend. */
export function packIds(ids: readonly number[]): PackedIds | readonly number[] {
  if (ids.length < WORTHWHILE) return ids;
  const steps: number[] = [];
  let previous = 0;
  let repeats = 0;
  let latest = 0;
  for (const id of ids) {
    const step = id - previous;
    if (step <= 0) return ids;
    previous = id;
    if (step === latest) {
      repeats++;
      continue;
    }
    if (repeats > 0) steps.push(-repeats);
    repeats = 0;
    latest = step;
    steps.push(step);
  }
  if (repeats > 0) steps.push(-repeats);
  return { steps };
}

/** Null where the text was damaged. */
export function unpackIds(packed: unknown): number[] | null {
  const { steps } = (packed ?? {}) as Partial<PackedIds>;
  if (!Array.isArray(steps) || steps.some((step) => !Number.isSafeInteger(step))) return null;
  const ids: number[] = [];
  let id = 0;
  let latest = 0;
  for (const step of steps as number[]) {
    if (step > 0) latest = step;
    const times = step > 0 ? 1 : -step;
    if (ids.length + times > MOST_IDS) return null;
    for (let n = 0; n < times; n++) {
      id += latest;
      ids.push(id);
    }
  }
  return ids;
}
