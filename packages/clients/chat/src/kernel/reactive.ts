import { computed, type Signal, signal } from '@preact/signals-core';

/**
 * A value that changes. Reading `value` inside a computation subscribes to it; `peek` does not. `subscribe` calls back
 * immediately and on every change, and returns an unsubscribe function.
 */
export interface Reading<T> {
  readonly value: T;
  peek(): T;
  subscribe(listener: (value: T) => void): () => void;
}

/**
 * Rows by key, observed individually: a row change re-runs only computations that read that row or the whole table.
 * Lookups of missing keys re-run whenever a row is added or removed. Rows are immutable.
 */
export class Table<K, V> {
  private readonly rows = new Map<K, V>();
  private readonly versions = new Map<K, Signal<number>>();
  private readonly keyVersion = signal(0);
  private readonly anyVersion = signal(0);

  get(key: K): V | undefined {
    this.observe(key);
    const row = this.rows.get(key);
    if (row === undefined) this.onMissing?.(key);
    return row;
  }

  has(key: K): boolean {
    return this.get(key) !== undefined;
  }

  /** Called for keys that `get` does not find. */
  onMissing: ((key: K) => void) | null = null;

  /** Keys in insertion order; observes insertions and removals only. */
  keys(): readonly K[] {
    this.keyVersion.value;
    return [...this.rows.keys()];
  }

  /** Rows in insertion order; observes every change. */
  values(): readonly V[] {
    this.anyVersion.value;
    return [...this.rows.values()];
  }

  /** Returns the row without observing it. */
  peek(key: K): V | undefined {
    return this.rows.get(key);
  }

  /** Returns all rows without observing them. */
  all(): ReadonlyMap<K, V> {
    return this.rows;
  }

  set(key: K, row: V): void {
    const isNew = !this.rows.has(key);
    if (!isNew && this.rows.get(key) === row) return;
    this.rows.set(key, row);
    this.changed(key, isNew);
  }

  /** Replaces a row if it exists. */
  change(key: K, change: (row: V) => V): void {
    const row = this.rows.get(key);
    if (row !== undefined) this.set(key, change(row));
  }

  delete(key: K): void {
    if (!this.rows.delete(key)) return;
    this.changed(key, true);
    // Readers re-run and create a new version.
    this.versions.delete(key);
  }

  /** Replaces all rows. */
  reset(entries: Iterable<readonly [K, V]>): void {
    const before = new Map(this.rows);
    this.rows.clear();
    for (const [key, row] of entries) this.rows.set(key, row);
    for (const key of this.versions.keys()) {
      if (before.get(key) !== this.rows.get(key)) this.bump(key);
      if (!this.rows.has(key)) this.versions.delete(key);
    }
    this.keyVersion.value++;
    this.anyVersion.value++;
  }

  private changed(key: K, isMembership: boolean): void {
    this.bump(key);
    if (isMembership) this.keyVersion.value++;
    this.anyVersion.value++;
  }

  private bump(key: K): void {
    const version = this.versions.get(key);
    if (version) version.value++;
  }

  private observe(key: K): void {
    // A page may read more missing keys than fit in memory, so they share one version.
    if (!this.rows.has(key)) {
      this.keyVersion.value;
      return;
    }
    let version = this.versions.get(key);
    if (!version) {
      version = signal(0);
      this.versions.set(key, version);
    }
    version.value;
  }
}

/** Computed value that keeps its identity while `isEqual` returns true. */
export function derived<T>(compute: () => T, isEqual: (a: T, b: T) => boolean): Reading<T> {
  let last: { readonly value: T } | undefined;
  return computed(() => {
    const value = compute();
    if (last === undefined || !isEqual(last.value, value)) last = { value };
    return last.value;
  });
}

/** Computed values by key, kept while observed; up to `MAX_IDLE` unobserved ones are cached. */
export class Memo<K, T> {
  private readonly readings = new Map<K, Reading<T>>();

  constructor(
    private readonly compute: (key: K) => T,
    private readonly isEqual: (a: T, b: T) => boolean = isSame,
  ) {}

  at(key: K): Reading<T> {
    const existing = this.readings.get(key);
    if (existing) return existing;
    if (this.readings.size >= MAX_MEMO) this.readings.delete(this.readings.keys().next().value!);
    const reading = derived(() => this.compute(key), this.isEqual);
    this.readings.set(key, reading);
    return reading;
  }
}

/** An evicted reading still works for its readers; the next caller gets a new one. */
const MAX_MEMO = 20_000;

export const isSame = <T>(a: T, b: T): boolean => Object.is(a, b) || shallow(a, b);

/** Compares array elements and object properties by identity. */
function shallow(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((element, index) => Object.is(element, b[index]));
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const left = a as Readonly<Record<string, unknown>>;
  const right = b as Readonly<Record<string, unknown>>;
  const names = Object.keys(left);
  return names.length === Object.keys(right).length && names.every((name) => Object.is(left[name], right[name]));
}

/** Deeply compares plain data. */
export function isSameDeep(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) =>
      isSameDeep((a as Readonly<Record<string, unknown>>)[name], (b as Readonly<Record<string, unknown>>)[name]),
    )
  );
}
