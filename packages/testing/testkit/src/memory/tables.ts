import { randomBytes } from 'node:crypto';
import { UnitRecord } from '@parley/domain/composition';
import type { Clock, RealmId } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';

/**
 * Tables, each declared by its repository. Rows are immutable. Tables keyed by id are ascending, because ids are
 * assigned in order.
 */
export interface Tables {
  /** Last assigned number per counter. */
  readonly counters: Map<string, number>;
}

/** Tables that were never written are absent. */
export type StoredTables = Partial<Tables>;

type ReadonlyTable<T> = T extends Map<infer K, infer V> ? ReadonlyMap<K, V> : never;

const EMPTY: ReadonlyMap<unknown, unknown> = new Map();

export const keyOf = (...parts: readonly (number | string)[]): string => parts.join(':');
/** Returns the seed of a new row, see `Seed`. */
export const newSeed = (): string => randomBytes(16).toString('hex');
export const ascending = (a: number, b: number): number => a - b;

/** A transaction's view of the tables: its snapshot, and copies of the tables it changes. */
export class MemoryUnit {
  readonly record: UnitRecord;
  private readonly changed = new Map<keyof Tables, Tables[keyof Tables]>();
  private hasEnded = false;

  constructor(
    private readonly committed: StoredTables,
    private readonly isWritable: boolean,
    readonly clock: Clock,
    readonly words: SearchWords,
    /** Organization of the unit; null for a unit across organizations. */
    readonly realmId: RealmId | null,
  ) {
    this.record = new UnitRecord(realmId);
  }

  read<N extends keyof Tables>(name: N): ReadonlyTable<Tables[N]> {
    this.refuseAfterEnd();
    // The compiler cannot relate a table name in a parameter to its type.
    return (this.changed.get(name) ?? this.committed[name] ?? EMPTY) as unknown as ReadonlyTable<Tables[N]>;
  }

  change<N extends keyof Tables>(name: N): Tables[N] {
    this.refuseAfterEnd();
    if (!this.isWritable) throw new Error(`A read-only unit tried to change ${name}`);
    let copy = this.changed.get(name) as Tables[N] | undefined;
    if (!copy) {
      copy = new Map(this.committed[name] as Map<never, never> | undefined) as unknown as Tables[N];
      this.changed.set(name, copy);
    }
    return copy;
  }

  /** Returns the names of all tables ever written. */
  names(): readonly (keyof Tables)[] {
    return [...new Set([...Object.keys(this.committed), ...this.changed.keys()])] as (keyof Tables)[];
  }

  /** Returns 1, 2, 3 … per counter, regardless of deletions. */
  nextNumber<T extends number>(counter: string): T {
    const next = (this.read('counters').get(counter) ?? 0) + 1;
    this.change('counters').set(counter, next);
    return next as T;
  }

  /** Returns the tables after the commit. */
  result(): StoredTables {
    return { ...this.committed, ...Object.fromEntries(this.changed) };
  }

  /** Closes the repositories, so that using them after the transaction fails. */
  end(): void {
    this.hasEnded = true;
  }

  private refuseAfterEnd(): void {
    if (this.hasEnded) throw new Error('The unit of work has ended');
  }
}
