import { alternativesOf, excessesOf, largestOf, leastOf, type ParameterSchema, unboundedIn } from './schema-bounds.js';

const name: ParameterSchema = { type: 'string', maxLength: 2 };
const person: ParameterSchema = {
  type: 'object',
  properties: { name, age: { type: 'integer', minimum: 18 }, words: { type: 'array', items: name, maxItems: 1 } },
  required: ['name', 'age'],
};
const dictionary: ParameterSchema = {
  type: 'object',
  additionalProperties: name,
  propertyNames: { maxLength: 3 },
  maxProperties: 1,
};

describe('unboundedIn', () => {
  it.each([
    [{ type: 'string' }, ['p (text)']],
    [{ type: 'string', maxLength: Number.POSITIVE_INFINITY }, ['p (text)']],
    [{ type: 'array', items: { type: 'string' } }, ['p (list)', 'p[] (text)']],
    [{ type: 'array', maxItems: 1 }, ['p[] (anything)']],
    [{}, ['p (anything)']],
    [{ anyOf: [name, { type: 'string' }] }, ['p|1 (text)']],
    [{ type: 'object', properties: { a: { type: 'string' } } }, ['p.a (text)']],
    [{ type: 'object', additionalProperties: { type: 'string' } }, ['p (dictionary)', 'p (keys)', 'p.* (text)']],
  ] as [ParameterSchema, string[]][])('names the unbounded positions of %j', (schema, positions) => {
    expect(unboundedIn(schema, 'p')).toEqual(positions);
  });

  it.each([
    { type: 'string', enum: ['a'] },
    { type: 'integer' },
    { anyOf: [name, { type: 'null' }] },
    { type: 'object', properties: { a: name }, additionalProperties: true },
    person,
    dictionary,
  ] as ParameterSchema[])('finds no unbounded position in %j', (schema) => {
    expect(unboundedIn(schema, 'p')).toEqual([]);
  });
});

describe('excessesOf', () => {
  const characters = 'is too long (limit: 2 characters)';
  const items = 'is too long (limit: 1 items)';

  it('exceeds one maximum at a time', () => {
    expect(leastOf(person)).toEqual({ name: 'x', age: 18 });
    expect(excessesOf(person)).toEqual([
      { value: { name: 'xxx', age: 18 }, refusal: characters },
      { value: { name: 'x', age: 18, words: ['x', 'x'] }, refusal: items },
      { value: { name: 'x', age: 18, words: ['xxx'] }, refusal: characters },
    ]);
  });

  it('covers entries, keys and values of a dictionary', () => {
    expect(excessesOf(dictionary)).toEqual([
      { value: { x: 'xxx' }, refusal: characters },
      { value: { xxxx: 'x' }, refusal: 'is too long (limit: 3 characters)' },
      { value: { 0: 'x', 1: 'x' }, refusal: items },
    ]);
  });

  it('covers each alternative with the required number of items', () => {
    expect(
      excessesOf({ anyOf: [{ type: 'integer' }, { type: 'array', items: name, minItems: 2, maxItems: 2 }] }),
    ).toEqual([{ value: ['xxx', 'x'], refusal: characters }]);
    expect(excessesOf({ type: 'string', enum: ['a'] })).toEqual([]);
  });
});

describe('largestOf', () => {
  const ids: ParameterSchema = { type: 'array', items: { type: 'integer' }, maxItems: 3 };
  const text = (maxLength: number): ParameterSchema => ({ type: 'string', maxLength });

  it('reaches every maximum', () => {
    expect(largestOf(ids, 1000)).toEqual([1, 2, 3]);
    expect(largestOf(text(5), 1000)).toBe('1xxxx');
    expect(largestOf(text(3), 1000, '😀')).toBe('1😀😀');
    expect(largestOf({ type: 'string', enum: ['a', 'b'] }, 1000)).toBe('a');
    expect(largestOf({ type: 'integer', minimum: 18 }, 1000)).toBe(18);
    expect(largestOf({ type: 'array', items: { type: 'integer', maximum: 1 }, maxItems: 2 }, 1000)).toEqual([1, 1]);
    expect(largestOf(person, 1000)).toEqual({ name: '1x', age: 18, words: ['3x'] });
    expect(largestOf({ ...dictionary, maxProperties: 2 }, 1000)).toEqual({ '1xx': '2x', '3xx': '4x' });
  });

  it('stays within the given room', () => {
    const many: ParameterSchema = { type: 'array', items: text(10_000), maxItems: 1000 };
    const length = JSON.stringify(largestOf(many, 100_000)).length;
    expect(length).toBeGreaterThan(90_000);
    expect(length).toBeLessThanOrEqual(100_000);
    expect(largestOf(many, 20_000)).toHaveLength(1000);
  });

  it('returns one value per alternative', () => {
    const either: ParameterSchema = { anyOf: [ids, text(2)] };
    const largestOfEach = (schema: ParameterSchema) => alternativesOf(schema).map((one) => largestOf(one, 1000));
    expect(largestOfEach(either)).toEqual([[1, 2, 3], '1x']);
    expect(largestOfEach({ type: 'array', items: either, maxItems: 1 })).toEqual([[[1, 2, 3]], ['1x']]);
    expect(largestOfEach({ type: 'object', properties: { a: either, b: either } })).toEqual([
      { a: [1, 2, 3], b: [4, 5, 6] },
      { a: '1x', b: [2, 3, 4] },
      { a: [1, 2, 3], b: '4x' },
    ]);
  });
});
