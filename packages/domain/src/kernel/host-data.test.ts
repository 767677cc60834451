import { changeHostData, MAX_HOST_DATA_BYTES, NO_HOST_DATA, parseHostData } from './host-data.js';

const nested = (depth: number): object => (depth === 1 ? {} : { in: nested(depth - 1) });

describe('parseHostData', () => {
  it.each([
    ['an empty object', {}],
    [
      'values of all types',
      { text: 'a "é" 🙂\0', number: -1.5, yes: true, none: null, list: [1, ['b'], {}], deep: { a: {} } },
    ],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 })],
    ['the maximum depth', nested(10)],
    ['the maximum length', { a: 'x'.repeat(MAX_HOST_DATA_BYTES - '{"a":""}'.length) }],
  ])('accepts %s', (_, value) => {
    expect(parseHostData(value)).toEqual({ ...value });
  });

  it('returns a copy that later changes of the value do not affect', () => {
    const value = { order: { id: 7 } };
    const parsed = parseHostData(value);
    value.order.id = 8;
    expect(parsed).toEqual({ order: { id: 7 } });
  });

  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;

  it.each([
    ['text', 'a', 'data must be an object.'],
    ['null', null, 'data must be an object.'],
    ['a list', [], 'data must be an object.'],
    ['an undefined member', { a: undefined }, /objects, lists, strings/],
    ['a number that is not finite', { a: Number.NaN }, /finite numbers/],
    ['a function', { toJSON: () => 'x' }, /objects, lists, strings/],
    ['a date', { at: new Date(0) }, 'data must consist of plain objects and lists.'],
    ['a lone surrogate', { a: '\ud800' }, 'data must not contain lone surrogates.'],
    ['a lone surrogate in a name', { '\udc00': 1 }, 'data must not contain lone surrogates.'],
    ['more than the maximum depth', nested(11), 'data must be nested at most 10 levels deep.'],
    ['a cycle', cyclic, 'data must be nested at most 10 levels deep.'],
    [
      'more than the maximum length',
      { a: 'x'.repeat(MAX_HOST_DATA_BYTES) },
      'data must be at most 4096 bytes of JSON.',
    ],
    ['too many UTF-8 bytes', { a: 'é'.repeat(MAX_HOST_DATA_BYTES / 2) }, 'data must be at most 4096 bytes of JSON.'],
    ['too many bytes of escape sequences', { a: '\0'.repeat(1000) }, 'data must be at most 4096 bytes of JSON.'],
  ])('rejects %s', (_, value, message) => {
    expect(() => parseHostData(value)).toThrow(expect.objectContaining({ code: 'INVALID_DATA' }));
    expect(() => parseHostData(value)).toThrow(message);
  });

  it('stops at the maximum length instead of visiting every element', () => {
    let visited = 0;
    const list = new Proxy(
      Array.from({ length: 1_000_000 }, () => 0),
      {
        get(target, name, receiver) {
          visited++;
          return Reflect.get(target, name, receiver);
        },
      },
    );
    expect(() => parseHostData({ list })).toThrow('4096 bytes');
    expect(visited).toBeLessThan(10);
  });
});

describe('changeHostData', () => {
  const former = { data: { a: 1 }, version: 3 };

  it.each([undefined, 3])('counts a change from version %s', (expected) => {
    expect(changeHostData(former, { b: 2 }, expected)).toEqual({ data: { b: 2 }, version: 4 });
  });

  it('returns the former data if nothing changes', () => {
    expect(changeHostData(former, { a: 1 })).toBe(former);
    expect(changeHostData(NO_HOST_DATA, {})).toBe(NO_HOST_DATA);
  });

  it('continues to count after the data was removed', () => {
    const removed = changeHostData(former, {});
    expect(removed).toEqual({ data: {}, version: 4 });
    expect(() => changeHostData(changeHostData(removed, { a: 1 }), { c: 3 }, 3)).toThrow(
      expect.objectContaining({ code: 'DATA_VERSION_CONFLICT', details: { version: 5 } }),
    );
  });

  it('rejects another version even if the data is the same', () => {
    expect(() => changeHostData(former, { a: 1 }, 2)).toThrow('The data has version 3, not 2.');
  });
});
