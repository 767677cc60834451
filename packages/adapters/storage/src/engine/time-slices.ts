import { slicesOf } from '@parley/domain/kernel';

/** Time slice of a unit before it yields to the event loop. */
export const SLICE_MS = 8;

export interface TimeSlices {
  /** Returns null within the slice of the unit, otherwise a promise that resolves in a later turn of the event loop. */
  nextSlice(): Promise<void> | null;
}

/** Sets among the parameters of a call that is made in slices of them. */
export interface SlicedSets {
  /** Positions of the sets. The call returns nothing, or results by ascending element that can be joined. */
  readonly positions: readonly number[];
  /** Maximum product of the lengths of all lists in one call. */
  readonly size: number;
}

/** Sliced sets by repository and method. */
export type SlicedCalls = Readonly<Record<string, Readonly<Record<string, SlicedSets>>>>;

type Method = (...parameters: unknown[]) => unknown;

/**
 * Returns repositories whose calls yield to the event loop once the unit has used up its time slice, and which slice
 * large sets. Made once per connection: a call within the time slice costs one look at the clock and no promise.
 */
export function inTimeSlices<T extends object>(repositories: T, slices: TimeSlices, sliced: SlicedCalls = {}): T {
  const wrapped: Record<string, unknown> = {};
  for (const [name, repository] of Object.entries(repositories)) {
    wrapped[name] = withYieldingMethods(repository, slices, sliced[name] ?? {});
  }
  return wrapped as T;
}

function withYieldingMethods(
  repository: object,
  slices: TimeSlices,
  sliced: Readonly<Record<string, SlicedSets>>,
): object {
  const wrapped: Record<string, unknown> = Object.create(repository);
  for (const name of methodNames(repository)) {
    const method = (repository as Record<string, unknown>)[name] as Method;
    const call: Method = (...parameters) => {
      const pause = slices.nextSlice();
      return pause === null
        ? method.apply(repository, parameters)
        : pause.then(() => method.apply(repository, parameters));
    };
    const sets = sliced[name];
    wrapped[name] = sets ? callInSlices(call, sets) : call;
  }
  return wrapped;
}

function methodNames(repository: object): ReadonlySet<string> {
  const names = new Set<string>();
  for (let type = repository; type !== Object.prototype; type = Object.getPrototypeOf(type)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(type))) {
      if (typeof value === 'function' && name !== 'constructor') names.add(name);
    }
  }
  return names;
}

const callInSlices =
  (call: Method, { positions, size }: SlicedSets): Method =>
  (...parameters) =>
    lengthOf(parameters) <= size ? call(...parameters) : callForSlices(call, parameters, positions, size);

/** Returns the product of the lengths of all lists. */
function lengthOf(parameters: readonly unknown[]): number {
  let length = 1;
  for (const parameter of parameters) if (Array.isArray(parameter)) length *= parameter.length;
  return length;
}

async function callForSlices(
  call: Method,
  parameters: readonly unknown[],
  [position, ...others]: readonly number[],
  size: number,
): Promise<unknown> {
  const set = inOrder(parameters[position!] as readonly unknown[]);
  const room = Math.floor(size / (others.length > 0 ? 1 : lengthOf(parameters.with(position!, null))));
  const results: unknown[] = [];
  for (const slice of slicesOf(set, Math.max(1, room))) {
    const some = parameters.with(position!, slice);
    results.push(await (others.length > 0 ? callForSlices(call, some, others, size) : call(...some)));
  }
  return joined(results);
}

/** Ids ascend, because results do. */
const inOrder = (set: readonly unknown[]): readonly unknown[] =>
  typeof set[0] === 'number' ? [...(set as readonly number[])].sort((a, b) => a - b) : set;

function joined(results: readonly unknown[]): unknown {
  if (results[0] instanceof Set) return new Set(results.flatMap((set) => [...(set as ReadonlySet<unknown>)]));
  if (results[0] instanceof Map) return new Map(results.flatMap((map) => [...(map as ReadonlyMap<unknown, unknown>)]));
  return Array.isArray(results[0]) ? results.flat() : undefined;
}
