import { type Signal, signal } from '@preact/signals-core';
import { readStored, store } from '../services/storage.js';

/** Choice kept in this browser. */
export interface StoredChoice<T extends string> {
  readonly current: Signal<T>;
  choose(value: T): void;
}

/** Falls back to the first value if the stored one is unknown. */
export function storedChoice<T extends string>(key: string, values: readonly [T, ...T[]]): StoredChoice<T> {
  const current = signal(values.find((value) => value === readStored(key)) ?? values[0]);
  const choose = (value: T) => {
    current.value = value;
    store(key, value);
  };
  return { current, choose };
}

const FOLDED = 'parley-inbox-folded';

/** Maximum stored folded sections; a further one unfolds the oldest. */
const MAX_FOLDED = 1000;

/** Folded sections of the inbox: channel ids, and `direct`. */
export const foldedSections = signal<ReadonlySet<number | 'direct'>>(
  new Set((readStored(FOLDED) ?? '').split(',').flatMap((key) => (key === 'direct' ? key : Number(key) || []))),
);

export function fold(key: number | 'direct', isFolded: boolean): void {
  const others = [...foldedSections.value].filter((each) => each !== key);
  foldedSections.value = new Set(isFolded ? [...others, key].slice(-MAX_FOLDED) : others);
  store(FOLDED, [...foldedSections.value].join());
}
