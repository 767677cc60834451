import { EncodedTexts } from './encoded-texts.js';

const newTexts = (room?: number) => new EncodedTexts<string>((parts) => parts.join(''), room);

it.each([
  ['plain'],
  ['é', '🎉'],
  ['half \ud83c', '\udf89 and half'],
  ['lone \ud83c', ' and \udf89'],
  ['', ''],
  ['é'.repeat(100_000)],
])('has the bytes of all parts together', (...parts) => {
  expect(
    newTexts()
      .of(parts)
      .equals(Buffer.from(parts.join(''))),
  ).toBe(true);
});

it('encodes the same parts once, and others anew', () => {
  const texts = newTexts();
  const first = texts.of(['a', 'b']);
  expect(texts.of(['a', 'b'])).toBe(first);
  expect(String(texts.of(['a', 'c']))).toBe('ac');
  expect(String(texts.of(['a']))).toBe('a');
});

it('keeps lists apart that begin with the same part, where their keys are others', () => {
  const texts = newTexts();
  const [one, other] = [texts.of([',', 'a'], 'a'), texts.of([',', 'b'], 'b')];
  expect([texts.of([',', 'a'], 'a'), texts.of([',', 'b'], 'b')]).toEqual([one, other]);
  expect(texts.of([',', 'a'], 'a')).toBe(one);
});

it('knows parts that are objects by what they are, not by what they say', () => {
  const texts = new EncodedTexts<{ readonly word: string }>((parts) => parts.map(({ word }) => word).join(','));
  const [a, b] = [{ word: 'a' }, { word: 'b' }];
  const first = texts.of([a, b]);
  expect(String(first)).toBe('a,b');
  expect(texts.of([a, b])).toBe(first);
  expect(texts.of([a, { word: 'b' }])).not.toBe(first);
});

it('forgets what was long not asked for once it has no room', () => {
  const texts = newTexts(1000);
  const first = texts.of(['first']);
  for (let n = 0; n < 200; n++) texts.of([`another ${n}`]);
  expect(texts.of(['first'])).not.toBe(first);
});
