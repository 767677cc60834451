import { Parameters } from './request.js';

describe('request parameter parsing', () => {
  it('prefers body parameters over query parameters', () => {
    const parameters = new Parameters(
      new Map([
        ['a', '1'],
        ['b', '2'],
      ]),
      new Map([['a', '3']]),
    );
    expect(['a', 'b', 'c'].map((name) => parameters.get(name))).toEqual(['3', '2', undefined]);
    expect(['a', 'b', 'c'].map((name) => parameters.originOf(name))).toEqual(['body', 'query', undefined]);
    expect([...parameters.names()].sort()).toEqual(['a', 'b']);
    expect(parameters.size).toBe(2);
  });

  it('yields well-formed text from every parser', () => {
    const parameters = new Parameters(new Map([['\ud800', '']]), new Map([['a', '\udc00 😀 \ud83d']]));
    expect(parameters.get('a')).toBe('\ufffd 😀 \ufffd');
    expect([...parameters.names()].sort()).toEqual(['a', '\ufffd']);
  });
});
