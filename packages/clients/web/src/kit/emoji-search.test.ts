import type { EmojiEntry } from './emoji-names.js';
import { type EmojiWords, searchable, searchEmoji } from './emoji-search.js';

const emoji = (code: string, ...names: readonly string[]): EmojiEntry => ({
  emoji_name: names[0]!,
  emoji_code: code,
  reaction_type: 'unicode_emoji',
  names,
  character: '',
  imageUrl: null,
});

const ALL = [
  emoji('1f389', 'tada', 'party_popper'),
  emoji('1f973', 'partying'),
  emoji('1f3c3-200d-2640', 'woman_running'),
  emoji('1f1e9-1f1ea', 'flag_germany'),
  { ...emoji('7', 'party_parrot'), reaction_type: 'realm_emoji', imageUrl: '/7.gif' } as const,
];

const found = (query: string, words: EmojiWords | null, language = 'de') =>
  searchEmoji(searchable(ALL, words, language), query).map(({ emoji_name: name }) => name);

const GERMAN: EmojiWords = {
  '1f389': ['Konfettibombe', 'Party', 'Glückwunsch'],
  '1f973': ['Partygesicht', 'feiern'],
  '1f3c3': ['laufende Person', 'Läufer'],
};

test.each([
  ['party', ['party_parrot', 'tada', 'partying']],
  ['konfetti', ['tada']],
  ['glückwunsch', ['tada']],
  ['gluckw', ['tada']],
  ['person lauf', ['woman_running']],
  ['Deutsch', ['flag_germany']],
  ['flag ger', ['flag_germany']],
  ['bombe', []],
])('finds emoji by their names, then by words of the language: %s', (query, names) => {
  expect([...found(query, GERMAN)].sort()).toEqual([...names].sort());
});

test('prefers names over words of the language', () => {
  expect(found('party', { '1f3c3': ['Party'] }).at(-1)).toBe('woman_running');
});

test('finds any part of words in scripts without spaces', () => {
  const words = { '1f389': ['クラッカー', 'お祝い'] };
  expect(found('祝', words, 'ja')).toEqual(['tada']);
  expect(found('ドイツ', words, 'ja')).toEqual(['flag_germany']);
});

test('finds emoji by their names while words are loading', () => {
  expect(found('popper', null)).toEqual(['tada']);
});
