import { dataSchemaProblem, type JsonObject } from '@parley/domain/kernel';
import { workMsOf } from '@parley/testkit/process-usage';
import fc from 'fast-check';
import { AjvDataValidator } from './data-schemas.js';

const ORDER = JSON.stringify({
  $id: 'order',
  type: 'object',
  properties: { orderId: { type: 'integer' }, state: { enum: ['open', 'paid'] } },
  required: ['orderId'],
  additionalProperties: false,
});

describe('AjvDataValidator', () => {
  const validator = new AjvDataValidator();

  it.each([
    [{ orderId: 7, state: 'open' }, null],
    [{ orderId: '7' }, '/orderId must be integer'],
    [{}, " must have required property 'orderId'"],
    [{ orderId: 7, other: 1 }, ' must NOT have additional properties: other'],
  ])('judges %j by the schema', (data, problem) => {
    expect(validator.mismatch(ORDER, data)).toBe(problem);
  });

  it.each([
    ['another type of rule', { type: 'order' }, 'type must be'],
    ['a missing reference', { $ref: 'https://example.com/order.json' }, "can't resolve reference"],
    ['a malformed pattern', { properties: { a: { type: 'string', pattern: '(' } } }, 'missing closing )'],
  ])('rejects schemas with %s', (_, schema, problem) => {
    expect(validator.schemaProblem(JSON.stringify(schema))).toContain(problem);
  });

  it('accepts schemas with equal ids', () => {
    expect(validator.schemaProblem(ORDER)).toBeNull();
    expect(validator.schemaProblem(ORDER.replace('paid', 'shipped'))).toBeNull();
  });

  it.each([
    ['$async', { $async: true }],
    ['a cycle', { $ref: '#' }],
    ['a pattern of another engine', { properties: { a: { pattern: '(?=a)' } } }],
  ])('does not check data by a stored schema with %s', (_, schema) => {
    for (const data of [{}, { a: 'a' }]) expect(validator.mismatch(JSON.stringify(schema), data)).toBeNull();
  });

  it('does not check data by a stored text that is not JSON', () => {
    expect(validator.mismatch('{', { a: 1 })).toBeNull();
  });

  it('matches patterns in linear time, and refuses values that need too many steps', async () => {
    const schema = (pattern: string) => JSON.stringify({ properties: { a: { pattern } } });
    const long = { a: `${'a'.repeat(4000)}!` };
    const evil = () => validator.mismatch(schema('^(a+)+$'), long);
    expect(await workMsOf(evil, 100)).toBeLessThan(100);
    expect(evil()).toBe('/a must match pattern "^(a+)+$"');
    const large = schema('a{1,100}b{1,100}c{1,100}');
    const problem = ' takes too many steps to match the patterns of the schema';
    expect(await workMsOf(() => validator.mismatch(large, long), 100)).toBeLessThan(100);
    expect(validator.mismatch(large, long)).toBe(problem);
    expect(validator.mismatch(large, { a: 'abc' })).toBeNull();
  });
});

const word = fc.constantFrom('a', 'b', 'orderId', 'état');
const pattern = fc
  .array(fc.constantFrom('a', '[a-z]', '\\d', '(a+)+', '(?:a|b)*', 'a{1,100}', '.', '^', '$', '\\p{L}{2}', 'é?'), {
    maxLength: 12,
  })
  .map((parts) => parts.join(''));
const count = fc.nat(5);
const value = fc.jsonValue({ maxDepth: 2 });
const { schema } = fc.letrec((tie) => {
  const inner = tie('schema');
  const named = fc.dictionary(word, inner, { maxKeys: 3 });
  const many = fc.array(inner, { minLength: 1, maxLength: 3 });
  const keywords = {
    type: fc.constantFrom('object', 'array', 'string', 'number', ['integer', 'null']),
    enum: fc.array(value, { minLength: 1, maxLength: 5 }),
    const: value,
    ...{ minLength: count, maxLength: count, minItems: count, maxItems: count, minProperties: count },
    ...{ maxProperties: count, minContains: count, maxContains: count, minimum: fc.integer(), maximum: fc.double() },
    ...{ multipleOf: fc.constantFrom(1, 0.1, 7), uniqueItems: fc.boolean(), pattern, $ref: fc.constant('#/$defs/a') },
    ...{ properties: named, dependentSchemas: named, patternProperties: fc.dictionary(pattern, inner, { maxKeys: 2 }) },
    ...{ items: inner, additionalProperties: inner, propertyNames: inner, contains: inner, not: inner },
    ...{ if: inner, else: inner, allOf: many, anyOf: many, oneOf: many, prefixItems: many },
    required: fc.uniqueArray(word),
    dependentRequired: fc.dictionary(word, fc.uniqueArray(word)),
    title: fc.string(),
  };
  return {
    schema: fc.oneof(
      { maxDepth: 4 },
      fc.boolean(),
      fc
        .array(
          fc.oneof(
            ...Object.entries<fc.Arbitrary<unknown>>(keywords).map(([name, of]) => fc.tuple(fc.constant(name), of)),
          ),
          {
            maxLength: 4,
          },
        )
        .map((entries) => Object.fromEntries(entries)),
    ),
  };
});
const root = fc.record({
  $defs: fc.record({ a: fc.constantFrom({ type: 'string' }, { pattern: '^a+$' }) }),
  allOf: fc.array(schema, { minLength: 1, maxLength: 3 }),
});
const data = fc.dictionary(word, fc.jsonValue({ maxDepth: 5 })) as fc.Arbitrary<JsonObject>;

describe('schemas of the subset', () => {
  const validator = new AjvDataValidator();

  it('compile, and judge any data in bounded time', async () => {
    await fc.assert(
      fc.asyncProperty(root, fc.array(data, { minLength: 1, maxLength: 3 }), async (declared, values) => {
        const text = JSON.stringify(declared);
        fc.pre(dataSchemaProblem(text) === null);
        expect(validator.schemaProblem(text)).toBeNull();
        for (const each of values) {
          expect(typeof (validator.mismatch(text, each) ?? '')).toBe('string');
          expect(await workMsOf(() => validator.mismatch(text, each), 1000)).toBeLessThan(1000);
        }
      }),
      { numRuns: 150 },
    );
  });

  const names = Array.from({ length: 900 }, (_, n) => n);
  it.each<[string, object, JsonObject]>([
    ['subschemas', { anyOf: Array(45).fill({ additionalProperties: { not: true } }) }, { a: names }],
    [
      'comparisons of pairs',
      { properties: { a: { allOf: Array(9).fill({ uniqueItems: true }) } } },
      { a: names.map(String) as never },
    ],
    [
      'values',
      {
        properties: {
          a: {
            items: {
              enum: Array(1400)
                .fill('x'.repeat(5))
                .map((x, n) => x + n),
            },
          },
        },
      },
      { a: names.map(() => 'x1399') },
    ],
    [
      'names',
      {
        properties: {
          a: {
            items: {
              anyOf: Array(100)
                .fill({ required: ['a', 'b', 'c', 'd', 'e'] })
                .concat(true),
            },
          },
        },
      },
      { a: names.map(() => ({})) },
    ],
    [
      'patterns',
      { additionalProperties: { items: { allOf: Array(20).fill({ pattern: '^(a+)+$' }) } } },
      { a: names.map(() => 'aa') },
    ],
  ])('judge data of the maximum size with many %s in bounded time', async (_, declared, each) => {
    const text = JSON.stringify(declared);
    expect(dataSchemaProblem(text)).toBeNull();
    validator.mismatch(text, {});
    expect(await workMsOf(() => validator.mismatch(text, each), 200)).toBeLessThan(200);
  });
});
