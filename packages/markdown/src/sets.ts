const NONE: ReadonlySet<never> = new Set();

/** A set of nothing. Most texts have little to say about most things, so this one is shared by all: `withOne` adds to it. */
export const noneOf = <T>(): ReadonlySet<T> => NONE;

/** The set with one more; as long as it holds something, it is the very same. */
export function withOne<T>(set: ReadonlySet<T>, value: T): ReadonlySet<T> {
  if (set === NONE) return new Set([value]);
  (set as Set<T>).add(value);
  return set;
}
