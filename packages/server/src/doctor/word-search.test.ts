import { WordSearch } from './word-search.js';

const linesIn = (words: readonly string[], ...parts: readonly (string | Buffer)[]) => {
  const search = new WordSearch(new Map(words.map((word, index) => [index + 1, word])));
  const found: (readonly [number, number])[] = [];
  let [state, offset] = [0, 0];
  for (const part of parts) {
    const bytes = Buffer.from(part as string);
    state = search.scan(bytes, state, offset, (line, at) => found.push([line, at]));
    offset += bytes.length;
  }
  return found;
};

describe('the search for words in bytes', () => {
  it.each<[string, readonly string[], readonly (string | Buffer)[], readonly (readonly [number, number])[]]>([
    [
      'every occurrence',
      ['anna'],
      ['annanna'],
      [
        [1, 0],
        [1, 3],
      ],
    ],
    [
      'words within and at the end of other words',
      ['shehers', 'hers', 'ehe'],
      ['xshehers'],
      [
        [3, 3],
        [1, 1],
        [2, 4],
      ],
    ],
    ['a word that begins within a failed one', ['ananas', 'nanb'], ['ananb'], [[2, 1]]],
    ['words across parts', ['kowalski'], ['x kow', 'al', 'ski'], [[1, 2]]],
    ['JSON forms', ['a"b\\c'], ['{"x":"a\\"b\\\\c"}'], [[1, 6]]],
    ['escapes of other characters', ['Zoë!'], ['"Zo\\u00eb!"'], [[1, 1]]],
    ['lower case, which the search index stores', ['Kowalski'], ['kowalski KOWALSKI'], [[1, 0]]],
    ['bytes of UTF-8', ['Łukasz'], [Buffer.from([0xff, 0xc5]), Buffer.from([0x81]), 'ukasz'], [[1, 1]]],
  ])('finds %s', (_, words, parts, found) => {
    expect(linesIn(words, ...parts)).toEqual(found);
  });

  it('finds what a search for each word finds, in random bytes', () => {
    const letters = 'ab';
    const random = (length: number, seed: number) =>
      Array.from({ length }, (_, i) => letters[(Math.imul(i + 1, seed) >>> 13) & 1]).join('');
    for (let seed = 1e9; seed < 1e9 + 40; seed++) {
      const words = [3, 4, 5, 6].map((length) => random(length, seed + length));
      const text = random(500, seed * 7);
      const expected = words.flatMap((word, index) =>
        [...text].flatMap((_, at) => (text.startsWith(word, at) ? [[index + 1, at] as const] : [])),
      );
      const byPlace = (a: readonly [number, number], b: readonly [number, number]) => a[0] - b[0] || a[1] - b[1];
      expect(linesIn(words, text).sort(byPlace)).toEqual(expected.sort(byPlace));
    }
  });
});
