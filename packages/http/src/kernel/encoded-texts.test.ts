import { EncodedTexts } from './caches.js';

const newTexts = (maxBytes?: number) => new EncodedTexts('', maxBytes);

describe('encoded texts', () => {
  it.each([
    ['plain'],
    ['é', '🎉'],
    ['half \ud83c', '\udf89 and half'],
    ['lone \ud83c', ' and \udf89'],
    ['', ''],
    ['é'.repeat(100_000)],
  ])('have the bytes of all texts together', (...texts) => {
    expect(
      newTexts()
        .encode(texts)
        .equals(Buffer.from(texts.join(''))),
    ).toBe(true);
  });

  it('have the separator between the texts', () => {
    expect(String(new EncodedTexts(',').encode(['1', '2']))).toBe('1,2');
  });

  it('return the same buffer for the same texts and another one for others', () => {
    const texts = newTexts();
    const first = texts.encode(['a', 'b']);
    expect(texts.encode(['a', 'b'])).toBe(first);
    expect(String(texts.encode(['a', 'c']))).toBe('ac');
    expect(String(texts.encode(['a']))).toBe('a');
  });

  it('keep lists apart that begin with the same text but have different keys', () => {
    const texts = newTexts();
    const [one, other] = [texts.encode([',', 'a'], 'a'), texts.encode([',', 'b'], 'b')];
    expect([texts.encode([',', 'a'], 'a'), texts.encode([',', 'b'], 'b')]).toEqual([one, other]);
    expect(texts.encode([',', 'a'], 'a')).toBe(one);
  });

  it('evict the least recently used buffer when there is no room left', () => {
    const texts = newTexts(1000);
    const first = texts.encode(['first']);
    for (let n = 0; n < 200; n++) texts.encode([`another ${n}`]);
    expect(texts.encode(['first'])).not.toBe(first);
  });
});
