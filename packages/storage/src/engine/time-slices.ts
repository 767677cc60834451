/** Time slice of a unit before it yields to the event loop. */
export const SLICE_MS = 8;

export interface TimeSlices {
  /** Returns null while the slice of the unit lasts, otherwise a promise that resolves in a later turn of the event loop. */
  nextSlice(): Promise<void> | null;
}

type Method = (...parameters: unknown[]) => unknown;

/**
 * Returns repositories whose calls yield to the event loop once the unit has used up its time slice. Made once per
 * connection: a call within the slice costs one look at the clock and no promise.
 */
export function inTimeSlices<T extends object>(repositories: T, slices: TimeSlices): T {
  const wrapped: Record<string, unknown> = {};
  for (const [name, repository] of Object.entries(repositories))
    wrapped[name] = withYieldingMethods(repository, slices);
  return wrapped as T;
}

function withYieldingMethods(repository: object, slices: TimeSlices): object {
  const wrapped: Record<string, unknown> = Object.create(repository);
  for (const name of methodNames(repository)) {
    const method = (repository as Record<string, unknown>)[name] as Method;
    wrapped[name] = (...parameters: unknown[]) => {
      const pause = slices.nextSlice();
      return pause === null
        ? method.apply(repository, parameters)
        : pause.then(() => method.apply(repository, parameters));
    };
  }
  return wrapped;
}

function methodNames(repository: object): ReadonlySet<string> {
  const names = new Set<string>();
  for (let type = repository; type !== Object.prototype && type !== null; type = Object.getPrototypeOf(type)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(type))) {
      if (typeof value === 'function' && name !== 'constructor') names.add(name);
    }
  }
  return names;
}
