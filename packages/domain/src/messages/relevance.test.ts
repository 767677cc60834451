import type { MessageListEntry } from './message-condition.js';
import { rank } from './relevance.js';

type Hit = Parameters<typeof rank>[0][number];

const hit = (id: number, change: Partial<Hit> = {}): Hit => ({
  entry: { id } as MessageListEntry,
  words: [{ asTyped: 1, positions: [0] }],
  age: 0.5,
  isOwn: false,
  ...change,
});
const ids = (...hits: readonly Hit[]) => rank(hits).map(({ entry }) => entry.id);
const word = (asTyped: number, ...positions: readonly number[]) => ({ asTyped, positions });

describe('rank', () => {
  it('prefers words in the form in which they were typed, most of all rare ones', () => {
    expect(ids(hit(2, { words: [word(0, 0)] }), hit(1))).toEqual([1, 2]);
    const rare = hit(1, { words: [word(1, 0), word(0, 10)] });
    const frequent = [2, 3, 4].map((id) => hit(id, { words: [word(0, 0), word(1, 10)] }));
    expect(ids(...frequent, rare)[0]).toBe(1);
  });

  it('prefers words that are close to each other', () => {
    const words = (distance: number) => [word(1, 0), word(1, 500, distance)];
    expect(ids(hit(3, { words: words(400) }), hit(2, { words: words(40) }), hit(1, { words: words(4) }))).toEqual([
      1, 2, 3,
    ]);
  });

  it('prefers messages with more occurrences, own conversations and newer messages', () => {
    expect(ids(hit(2), hit(1, { words: [word(3, 0, 5, 9)] }))).toEqual([1, 2]);
    expect(ids(hit(2), hit(1, { isOwn: true }))).toEqual([1, 2]);
    expect(ids(hit(1, { age: 0.9 }), hit(2, { age: 0.1 }))).toEqual([2, 1]);
    expect(ids(hit(1), hit(3), hit(2))).toEqual([3, 2, 1]);
  });

  it('accepts no hits, and words beyond the examined part', () => {
    expect(ids()).toEqual([]);
    expect(ids(hit(1, { words: [word(0), word(0)] }), hit(2, { words: [word(0), word(1, 4)] }))).toEqual([2, 1]);
  });
});
