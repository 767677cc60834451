import { dataSchemaProblem } from './data-schema-subset.js';

const problemOf = (schema: unknown) => dataSchemaProblem(JSON.stringify(schema));
const nested = (levels: number): object => (levels === 1 ? {} : { not: nested(levels - 1) });
/** Definitions that each refer twice to the next one. */
const doubling = Object.fromEntries(
  Array.from({ length: 8 }, (_, n) => [
    `d${n}`,
    n === 7 ? true : { anyOf: Array(2).fill({ $ref: `#/$defs/d${n + 1}` }) },
  ]),
);
const patterns = (count: number) => ({ anyOf: Array.from({ length: count }, () => ({ pattern: 'a' })) });
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

describe('dataSchemaProblem', () => {
  it.each<[string, unknown]>([
    ['true', true],
    ['types and values', { type: ['object', 'null'], properties: { a: { enum: [1, 'x'], const: 1, minimum: 0 } } }],
    ['a reference', { $id: 'order', $defs: { id: { type: 'integer' } }, properties: { id: { $ref: '#/$defs/id' } } }],
    ['a property with the name of a keyword', { properties: { $async: { type: 'string' }, $ref: true } }],
    ['an identifier', { pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' }],
    ['repetitions', { pattern: String.raw`^\p{L}{1,100}[)\]]{2}\){3}(a|b)+\{x{4,}$` }],
    ['20 levels', nested(20)],
    ['24 patterns', patterns(24)],
    ['1,500 values', { enum: numbers(1500) }],
  ])('accepts %s', (_, schema) => {
    expect(problemOf(schema)).toBeNull();
  });

  it.each<[string, unknown, string]>([
    ['asynchronous schemas', { $async: true }, 'the keyword $async is not supported here'],
    ['unknown keywords', { typ: 'object' }, 'the keyword typ is not supported here'],
    ['inherited names', { constructor: 1 }, 'the keyword constructor is not supported here'],
    ['inner identifiers', { items: { $id: 'a' } }, 'the keyword $id is not supported here'],
    ['dynamic references', { $dynamicRef: '#a' }, 'the keyword $dynamicRef is not supported here'],
    ['references to the schema itself', { $ref: '#' }, '$ref must be #/$defs/ and a name of $defs'],
    ['references to other documents', { $ref: 'a.json' }, '$ref must be #/$defs/ and a name of $defs'],
    ['references to nothing', { $ref: '#/$defs/toString' }, '$ref must be #/$defs/ and a name of $defs'],
    [
      'cyclic references',
      { $defs: { a: { items: { $ref: '#/$defs/b' } }, b: { not: { $ref: '#/$defs/a' } } } },
      '$defs/b refers to itself',
    ],
    ['doubling references', { $defs: doubling }, 'it has more than 150 subschemas'],
    ['21 levels', nested(21), 'it has more than 20 levels'],
    ['151 subschemas', { anyOf: Array.from({ length: 150 }, () => true) }, 'it has more than 150 subschemas'],
    ['25 patterns', patterns(25), 'it has more than 150 subschemas'],
    [
      '11 comparisons of all pairs',
      { anyOf: Array(11).fill({ uniqueItems: true }) },
      'it has more than 150 subschemas',
    ],
    ['1,501 values', { enum: numbers(1501) }, 'it lists more than 1500 values'],
    ['1,501 names', { required: numbers(1500).map(String), type: 'object' }, 'it lists more than 1500 values'],
    ['long patterns', { pattern: 'a'.repeat(101) }, 'a pattern has more than 100 characters'],
    [
      'long names of properties',
      { patternProperties: { [`${'a'.repeat(101)}`]: true } },
      'a pattern has more than 100 characters',
    ],
    ['many repetitions', { pattern: 'a{101}' }, 'a pattern repeats a character more than 100 times'],
    ['many optional repetitions', { pattern: 'a{0,101}' }, 'a pattern repeats a character more than 100 times'],
    ['repeated groups', { pattern: '(a{10}){10}' }, 'a pattern repeats a group by {}'],
    ['repeated groups after a quotation', { pattern: String.raw`\Q[\E(a){9}]` }, 'a pattern contains \\Q, [] or [^]'],
    ['repeated groups after a bracket', { pattern: '[][x](a){9}]' }, 'a pattern contains \\Q, [] or [^]'],
    ['patterns of another type', { pattern: 1 }, 'pattern must be a text'],
    ['lists of another type', { allOf: {} }, 'allOf must be an array'],
    ['maps of another type', { properties: [] }, 'properties must be an object'],
    ['schemas of another type', { items: 'x' }, 'a schema must be an object, true or false'],
    ['a text', 'x', 'a schema must be an object, true or false'],
  ])('refuses %s', (_, schema, problem) => {
    expect(problemOf(schema)).toBe(problem);
  });

  it.each(['', '{', 'undefined', '{"a":1,}'])('refuses text that is not JSON: %s', (text) => {
    expect(dataSchemaProblem(text)).toBe('it is not JSON');
  });
});
