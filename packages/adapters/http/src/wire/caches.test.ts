import { EncodedTexts } from './caches.js';

const newTexts = (maxBytes?: number) => new EncodedTexts('', maxBytes);

describe('EncodedTexts', () => {
  it.each([
    ['plain'],
    ['é', '🎉'],
    ['half \ud83c', '\udf89 and half'],
    ['lone \ud83c', ' and \udf89'],
    ['', ''],
    ['é'.repeat(100_000)],
  ])('encodes the bytes of all texts together', (...texts) => {
    expect(
      newTexts()
        .encode(texts)
        .equals(Buffer.from(texts.join(''))),
    ).toBe(true);
  });

  it('puts the separator between the texts', () => {
    expect(String(new EncodedTexts(',').encode(['1', '2']))).toBe('1,2');
  });

  it('returns the same buffer for equal texts and another buffer for different texts', () => {
    const texts = newTexts();
    const first = texts.encode(['a', 'b']);
    expect(texts.encode(['a', 'b'])).toBe(first);
    expect(String(texts.encode(['a', 'c']))).toBe('ac');
    expect(String(texts.encode(['a']))).toBe('a');
  });

  it('keeps lists with the same first text but different keys separate', () => {
    const texts = newTexts();
    const [one, other] = [texts.encode([',', 'a'], 'a'), texts.encode([',', 'b'], 'b')];
    expect([texts.encode([',', 'a'], 'a'), texts.encode([',', 'b'], 'b')]).toEqual([one, other]);
    expect(texts.encode([',', 'a'], 'a')).toBe(one);
  });

  it('evicts the least recently used buffer when the cache is full', () => {
    const texts = newTexts(1000);
    const first = texts.encode(['first']);
    for (let n = 0; n < 200; n++) texts.encode([`another ${n}`]);
    expect(texts.encode(['first'])).not.toBe(first);
  });
});
