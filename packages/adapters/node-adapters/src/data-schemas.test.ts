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
    ['an unknown keyword', { typ: 'object' }, 'unknown keyword: "typ"'],
    ['a missing reference', { $ref: 'https://example.com/order.json' }, "can't resolve reference"],
    ['a malformed pattern', { properties: { a: { type: 'string', pattern: '(' } } }, 'Invalid regular expression'],
  ])('rejects schemas with %s', (_, schema, problem) => {
    expect(validator.schemaProblem(JSON.stringify(schema))).toContain(problem);
  });

  it('accepts schemas with equal ids', () => {
    expect(validator.schemaProblem(ORDER)).toBeNull();
    expect(validator.schemaProblem(ORDER.replace('paid', 'shipped'))).toBeNull();
  });
});
