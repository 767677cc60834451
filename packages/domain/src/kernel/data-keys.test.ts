import {
  checkDataKeys,
  compareDataKeys,
  type DataKey,
  type DataKeyDeclaration,
  indexedValue,
  parseDataFilter,
} from './data-keys.js';

const declared = (name: string, type = 'number', kind = 'message') => ({ kind, name, type }) as DataKeyDeclaration;
const key = (id: number, declaration: DataKeyDeclaration, isIndexed = true) =>
  ({ ...declaration, id, isIndexed }) as DataKey;

describe('checkDataKeys', () => {
  it.each([
    ['too many keys', Array.from({ length: 21 }, (_, each) => declared(`k${each}`)), 'at most 20 keys'],
    ['an empty name', [declared('')], 'The key ""'],
    ['a name with other characters', [declared('a=b')], 'a letter, then letters, digits and underscores'],
    ['a long name', [declared('a'.repeat(51))], 'at most 50 in total'],
    ['an unknown type', [declared('a', 'date')], 'must be string or number or boolean'],
  ])('rejects %s', (_, keys, message) => {
    expect(() => checkDataKeys(keys)).toThrow(expect.objectContaining({ code: 'INVALID_DATA_KEY' }));
    expect(() => checkDataKeys(keys)).toThrow(message);
  });

  it('accepts the maximum', () => {
    checkDataKeys(Array.from({ length: 20 }, (_, each) => declared(`k${each}`.padEnd(50, 'x'))));
  });
});

describe('compareDataKeys', () => {
  it('replaces keys with another type and keeps those of other kinds apart', () => {
    const former = [key(1, declared('a')), key(2, declared('b')), key(3, declared('a', 'number', 'user'))];
    const wanted = [declared('a'), declared('b', 'string'), declared('a', 'number', 'channel')];
    const { added, removed } = compareDataKeys(former, wanted);
    expect(added).toEqual(wanted.slice(1));
    expect(removed).toEqual(former.slice(1));
  });
});

describe('indexedValue', () => {
  it.each([
    ['a number', { a: 7.5 }, declared('a'), '7.5'],
    ['negative zero', { a: -0 }, declared('a'), '0'],
    ['a text', { a: 'é' }, declared('a', 'string'), 'é'],
    ['a boolean', { a: false }, declared('a', 'boolean'), 'false'],
    ['nothing for a value of another type', { a: '7' }, declared('a'), null],
    ['nothing for an object', { a: {} }, declared('a', 'string'), null],
    ['nothing for an inherited member', {}, declared('constructor', 'string'), null],
    ['nothing for a long text', { a: 'x'.repeat(201) }, declared('a', 'string'), null],
    ['nothing for a text with a null character', { a: '\0' }, declared('a', 'string'), null],
  ])('returns %s', (_, data, of, expected) => {
    expect(indexedValue(data, of)).toBe(expected);
  });
});

describe('parseDataFilter', () => {
  const keys = [
    key(1, declared('orderId')),
    key(2, declared('state', 'string')),
    key(3, declared('isPaid', 'boolean')),
    key(4, declared('late'), false),
  ];

  it.each([
    ['orderId=7', 1, '7'],
    ['orderId=7.0', 1, '7'],
    ['state=a=b', 2, 'a=b'],
    ['state=', 2, ''],
    ['isPaid=true', 3, 'true'],
  ])('parses %s', (filter, id, value) => {
    expect(parseDataFilter(keys, 'message', filter)).toMatchObject({ key: { id }, value });
  });

  it.each([
    ['orderId', 'missing value of data key orderId'],
    ['other=7', 'unknown data key other'],
    ['orderId=', 'invalid number '],
    ['orderId=Infinity', 'invalid number Infinity'],
    ['isPaid=1', 'invalid boolean 1'],
    [`state=${'x'.repeat(201)}`, `invalid string ${'x'.repeat(201)}`],
    ['late=7', 'data key late is being indexed'],
  ])('rejects %s', (filter, description) => {
    expect(() => parseDataFilter(keys, 'message', filter)).toThrow(
      expect.objectContaining({ code: 'INVALID_DATA_FILTER', details: { description } }),
    );
  });

  it('rejects a key of another kind', () => {
    expect(() => parseDataFilter(keys, 'channel', 'orderId=7')).toThrow('unknown data key orderId');
  });
});
