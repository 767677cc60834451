import { SHAREABLE, TextChunks } from './text-chunks.js';

const chunksOf = (add: (chunks: TextChunks) => void): readonly string[] => {
  const chunks = new TextChunks();
  add(chunks);
  return chunks.finish();
};

describe('TextChunks', () => {
  it('puts short texts together, and leaves one as it is that other answers may have', () => {
    const long = 'x'.repeat(SHAREABLE);
    const chunks = chunksOf((it) => {
      for (const text of ['a', 'b', long, 'c']) it.add(text);
    });
    expect(chunks).toEqual(['ab', long, 'c']);
  });

  it.each([0, 1, 2, 3])('cuts a text that no other answer has, and no character in two (%d)', (before) => {
    const text = 'x'.repeat(before) + '🎉'.repeat(SHAREABLE);
    const chunks = chunksOf((it) => it.addOwn(text));
    expect(chunks.join('')).toBe(text);
    expect(chunks.length).toBeGreaterThan(2);
    for (const chunk of chunks) {
      expect(chunk.length).toBeLessThan(SHAREABLE);
      expect(chunk.isWellFormed()).toBe(true);
    }
  });

  it.each([[[]], [['1']], [['1', '{"a":2}', '3']]])('writes %j as a list', (elements) => {
    const chunks = chunksOf((it) => it.addList('"list":', elements));
    expect(chunks.join('')).toBe(`"list":[${elements.join(',')}]`);
  });
});
