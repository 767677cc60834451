import { UnitRecord } from '@parley/domain/composition';
import type { Clock } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';

/**
 * Each declared by the repository that keeps it. Rows are never changed in place. Tables keyed by an id ascend, because ids
 * are given in that order.
 */
export interface Tables {
  /** The last number given, by what it counts. */
  readonly counters: Map<string, number>;
}

/** Those that were never written are absent. */
export type StoredTables = Partial<Tables>;

type ReadonlyTable<T> = T extends Map<infer K, infer V> ? ReadonlyMap<K, V> : never;

const EMPTY: ReadonlyMap<unknown, unknown> = new Map();

export const keyOf = (...parts: readonly (number | string)[]): string => parts.join(':');
export const ascending = (a: number, b: number): number => a - b;

/** One unit's view of the tables: those committed when it began, and copies of the ones it changes. */
export class MemoryUnit {
  readonly record = new UnitRecord();
  private readonly changed = new Map<keyof Tables, Tables[keyof Tables]>();
  private hasEnded = false;

  constructor(
    private readonly committed: StoredTables,
    private readonly isWritable: boolean,
    readonly clock: Clock,
    readonly words: SearchWords,
  ) {}

  read<N extends keyof Tables>(name: N): ReadonlyTable<Tables[N]> {
    this.refuseAfterEnd();
    // Tables are kept by name, and the compiler cannot follow which type belongs to a name that is a parameter.
    return (this.changed.get(name) ?? this.committed[name] ?? EMPTY) as unknown as ReadonlyTable<Tables[N]>;
  }

  change<N extends keyof Tables>(name: N): Tables[N] {
    this.refuseAfterEnd();
    if (!this.isWritable) throw new Error(`A reading unit tried to change ${name}`);
    let copy = this.changed.get(name) as Tables[N] | undefined;
    if (!copy) {
      copy = new Map(this.committed[name] as Map<never, never> | undefined) as unknown as Tables[N];
      this.changed.set(name, copy);
    }
    return copy;
  }

  /** Those that were ever written. */
  names(): readonly (keyof Tables)[] {
    return [...new Set([...Object.keys(this.committed), ...this.changed.keys()])] as (keyof Tables)[];
  }

  /** 1, 2, 3 … for each counter, whatever was deleted meanwhile. */
  nextNumber<T extends number>(counter: string): T {
    const next = (this.read('counters').get(counter) ?? 0) + 1;
    this.change('counters').set(counter, next);
    return next as T;
  }

  /** What the tables are once this unit is committed. */
  result(): StoredTables {
    return { ...this.committed, ...Object.fromEntries(this.changed) };
  }

  /** Whoever kept the repositories beyond their unit finds them shut. */
  end(): void {
    this.hasEnded = true;
  }

  private refuseAfterEnd(): void {
    if (this.hasEnded) throw new Error('The unit of work has ended');
  }
}
