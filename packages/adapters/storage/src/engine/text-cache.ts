import { LRUCache } from 'lru-cache';

/** Maximum total length of a cache's texts in characters. */
const MAX_LENGTH = 4_000_000;

/** LRU cache of values by text. */
export const newTextCache = <Value extends {}>(): LRUCache<string, Value> =>
  new LRUCache({ maxSize: MAX_LENGTH, sizeCalculation: (_, text) => text.length + 1 });

/** Maximum total number of elements of a cache's sets. */
const MAX_ELEMENTS = 100_000;

/** LRU cache of sets shared by many rows, by the texts of their elements. */
export const newSharedSets = <Element>(): LRUCache<string, ReadonlySet<Element>> =>
  new LRUCache({ maxSize: MAX_ELEMENTS, sizeCalculation: ({ size }) => size + 1 });

/** Memoizes a pure function of a text. Most rows of a table contain the same JSON and then share one value. */
export function memoize<Value extends {}>(parse: (text: string) => Value): (text: string) => Value {
  const cache = newTextCache<Value>();
  return (text) => {
    const existing = cache.get(text);
    if (existing !== undefined) return existing;
    const value = parse(text);
    cache.set(text, value);
    return value;
  };
}
