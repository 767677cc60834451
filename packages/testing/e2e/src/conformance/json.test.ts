import { type Json, jsonTypeOf, toParameterText } from './json.js';

it.each<[Json, string]>([
  [[1, 'é', true], '[1, "\\u00e9", true]'],
  [{ a: [], 'b "': null }, '{"a": [], "b \\"": null}'],
  ['😀', '"\\ud83d\\ude00"'],
])('JSON conversion sends %j as %s, like the recorded requests', (value, text) => {
  expect(toParameterText(value)).toBe(text);
});

it.each<[Json, string]>([
  [null, 'null'],
  [true, 'boolean'],
  [1, 'integer'],
  [1.5, 'number'],
  ['', 'string'],
  [[], 'list'],
  [{}, 'object'],
])('JSON conversion reports the type of %j as %s', (value, type) => {
  expect(jsonTypeOf(value)).toBe(type);
});
