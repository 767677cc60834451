import type { EmojiEntry } from './emoji-names.js';
import { MAX_RECENT, parseRecent, recentFirst, withPicked } from './recent-emoji.js';

const emoji = (code: string): EmojiEntry => ({
  emoji_name: code,
  emoji_code: code,
  reaction_type: 'unicode_emoji',
  names: [code],
  character: code,
  imageUrl: null,
});
const all = ['a', 'b', 'c', 'd'].map(emoji);
const orderAfter = (...picked: readonly string[]) =>
  recentFirst(
    all,
    picked.reduce((recent: readonly string[], code) => withPicked(recent, emoji(code)), []),
  ).map(({ emoji_code: code }) => code);

test('lists the latest picked emoji first, each once', () => {
  expect(orderAfter()).toEqual(['a', 'b', 'c', 'd']);
  expect(orderAfter('c', 'b', 'c')).toEqual(['c', 'b', 'a', 'd']);
});

test('ignores remembered emoji that no longer exist', () => {
  expect(orderAfter('c', 'gone')).toEqual(['c', 'a', 'b', 'd']);
});

test('remembers a limited number of emoji', () => {
  let recent: readonly string[] = [];
  for (let i = 0; i <= MAX_RECENT; i++) recent = withPicked(recent, emoji(`${i}`));
  expect(recent).toHaveLength(MAX_RECENT);
  expect(recent[0]).toBe(`unicode_emoji ${MAX_RECENT}`);
});

test.each([
  [null, []],
  ['no JSON', []],
  ['{"a":1}', []],
  ['["unicode_emoji a",1]', ['unicode_emoji a']],
])('reads damaged stored emoji as far as possible: %s', (stored, keys) => {
  expect(parseRecent(stored)).toEqual(keys);
});
