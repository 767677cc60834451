import type { UnixSeconds } from './ids.js';
import type { Clock } from './ports.js';
import type { Transaction, UnitOfWork } from './unit-of-work.js';

/** Splits a list into consecutive slices of at most `size`, for units of work that yield between them. */
export function* slicesOf<T>(list: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < list.length; start += size) yield list.slice(start, start + size);
}

/** Number of plain rows that long work reads or changes per step, so that other work runs in between. */
export const ROWS_PER_PAGE = 500;
/** The same for rows that are judged one by one or carry more rows or long values with them. */
export const ENTITIES_PER_PAGE = 200;

/** Removes expired rows, in units of work of limited size. */
export abstract class Removal {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  async execute(): Promise<void> {
    const now = this.clock.now();
    const removePart = (tx: Transaction) => this.remove(tx, now, ROWS_PER_PAGE);
    while ((await this.uow.writeAcross(removePart)) === ROWS_PER_PAGE);
  }

  /** Removes up to `limit` rows that have expired at `now`. Returns the number of removed rows. */
  protected abstract remove(tx: Transaction, now: UnixSeconds, limit: number): Promise<number>;
}

/** Returns an object with a value for each name. */
export const recordOf = <Name extends string, T>(
  names: readonly Name[],
  valueFor: (name: Name) => T,
): Readonly<Record<Name, T>> =>
  Object.fromEntries(names.map((name) => [name, valueFor(name)])) as Readonly<Record<Name, T>>;

/** Returns the value of a key that the map must contain. */
export function getOrThrow<K, V>(map: { get(key: K): V | null | undefined }, key: K): V {
  const value = map.get(key);
  if (value === undefined || value === null) throw new Error(`No value of key ${String(key)}`);
  return value;
}

/** Returns the first element of a list that must not be empty. */
export function firstOf<T>(list: ArrayLike<T>): T {
  const first = list[0];
  if (first === undefined) throw new Error('The list is empty');
  return first;
}

/** Returns the last element of a list that must not be empty. */
export function lastOf<T>(list: ArrayLike<T>): T {
  const last = list[list.length - 1];
  if (last === undefined) throw new Error('The list is empty');
  return last;
}
