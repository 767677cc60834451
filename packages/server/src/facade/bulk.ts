import { DomainError } from '@parley/domain/kernel';
import type { ParamType } from '@parley/http';
import { listOf } from '../kernel/values.js';
import { argument } from './argument-types.js';

/** Maximum number of items in one call. */
export const MAX_ITEMS_PER_CALL = 10_000;
/** Number of items in progress, which share commits. */
const AT_A_TIME = 20;

/** Outcome of one item of a call for many. */
export type ItemResult<Value> =
  | { readonly value: Value; readonly error: null }
  | { readonly value: null; readonly error: DomainError };

/** Checks all items of a call before the first one takes effect. @throws DomainError INVALID_ARGUMENT */
export const itemsOf = <Item>(name: string, type: ParamType<Item>, items: unknown): readonly Item[] =>
  argument(name, listOf(type, { max: MAX_ITEMS_PER_CALL }), items);

/**
 * Returns the outcomes in the order of the items. Each item has its own units of work, and items with the same key run
 * in order. Errors other than a `DomainError` reject the call; earlier items remain.
 */
export async function performEach<Item, Value>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  perform: (item: Item) => Promise<Value>,
): Promise<readonly ItemResult<Value>[]> {
  const results: ItemResult<Value>[] = [];
  for (const together of withoutRepeatedKeys(items, keyOf)) {
    for (const outcome of await Promise.allSettled(together.map(perform))) {
      if (outcome.status === 'fulfilled') results.push({ value: outcome.value, error: null });
      else if (outcome.reason instanceof DomainError) results.push({ value: null, error: outcome.reason });
      else throw outcome.reason;
    }
  }
  return results;
}

function* withoutRepeatedKeys<Item>(items: readonly Item[], keyOf: (item: Item) => string): Generator<readonly Item[]> {
  let together = new Map<string, Item>();
  for (const item of items) {
    if (together.size >= AT_A_TIME || together.has(keyOf(item))) {
      yield [...together.values()];
      together = new Map();
    }
    together.set(keyOf(item), item);
  }
  yield [...together.values()];
}
