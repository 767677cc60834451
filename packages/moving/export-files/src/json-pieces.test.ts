import { jsonPieces, mapped } from './json.js';

const textOf = (pieces: Iterable<Buffer>): string => Buffer.concat([...pieces]).toString();

it.each([
  [{}],
  [{ a: [] }],
  [{ a: undefined, b: [undefined] }],
  [{ a: [1], b: { c: [2] }, d: null, 'e"': 'é🎉' }],
  [{ none: [], some: Array.from({ length: 100 }, (_, n) => ({ n })), more: Array(201).fill('漢') }],
])('pieces of a dictionary add up to its JSON: %#', (value) => {
  expect(textOf(jsonPieces(value))).toBe(JSON.stringify(value));
});

it('pieces of a list are created lazily', () => {
  let made = 0;
  const list = mapped(Array.from({ length: 1000 }), () => ++made);
  const pieces = jsonPieces({ list });
  expect(made).toBe(0);
  expect(pieces.next().value!.toString()).toMatch(/^\{"list":\[1,2,3,.*,100$/);
  expect(made).toBe(100);
  expect(textOf(pieces)).toMatch(/^,101,.*,1000\]\}$/);
  expect([...list]).toHaveLength(1000);
});
