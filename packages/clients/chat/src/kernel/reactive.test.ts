import { computed } from '@preact/signals-core';
import { Table } from './reactive.js';

describe('Table', () => {
  /** Collects the rows seen by a subscriber of one key, in order. */
  function seenBy(table: Table<number, string>, key: number) {
    const seen: (string | undefined)[] = [];
    computed(() => table.get(key)).subscribe((row) => seen.push(row));
    return seen;
  }

  it('notifies a subscriber of a key when its row is added, removed and added again', () => {
    const table = new Table<number, string>();
    const seen = seenBy(table, 1);
    table.set(2, 'other');
    table.set(1, 'first');
    table.set(1, 'changed');
    table.delete(1);
    table.delete(2);
    table.set(1, 'second');
    expect(seen).toEqual([undefined, 'first', 'changed', undefined, 'second']);
  });

  it('notifies the subscribers of all keys when all rows are replaced', () => {
    const table = new Table<number, string>();
    table.set(1, 'first');
    const [ofFirst, ofSecond] = [seenBy(table, 1), seenBy(table, 2)];
    table.reset([[2, 'second']]);
    table.reset([[1, 'again']]);
    expect(ofFirst).toEqual(['first', undefined, 'again']);
    expect(ofSecond).toEqual([undefined, 'second', undefined]);
  });

  it('re-runs computations of other rows only when rows are added or removed', () => {
    const table = new Table<number, string>();
    table.set(1, 'first');
    table.set(2, 'second');
    let [ofFirst, ofMissing] = [0, 0];
    computed(() => [table.get(1), ++ofFirst]).subscribe(() => {});
    computed(() => [table.get(3), ++ofMissing]).subscribe(() => {});
    table.set(2, 'changed');
    expect([ofFirst, ofMissing]).toEqual([1, 1]);
    table.set(4, 'added');
    expect([ofFirst, ofMissing]).toEqual([1, 2]);
  });
});
