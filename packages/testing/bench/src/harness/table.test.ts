import { formatNumber, formatTable } from './table.js';

describe('formatNumber', () => {
  it.each`
    value        | text
    ${0.41234}   | ${'0.412'}
    ${3}         | ${'3'}
    ${96.44}     | ${'96.4'}
    ${12345.678} | ${'12 300'}
    ${1234567}   | ${'1 230 000'}
  `('formats $value as $text', ({ value, text }) => {
    expect(formatNumber(value)).toBe(text);
  });
});

describe('formatTable', () => {
  it('reports for each value whether it reaches its goal', () => {
    const table = formatTable([
      { label: 'sends', ours: '5 000/s', limit: '10 000/s', value: 0.5, goal: { atLeast: 0.4 } },
      { label: 'memory', ours: '120 MB', limit: '', value: 120, goal: { atMost: 110, unit: 'MB' } },
      { label: 'aside', ours: '1', limit: '2', value: 0.5, goal: null },
    ]);
    expect(table.split('\n')).toEqual([
      '| workload |    ours |    limit |  ratio |     goal |        |',
      '| -------- | ------: | -------: | -----: | -------: | ------ |',
      '| sends    | 5 000/s | 10 000/s |    0.5 |    ≥ 0.4 | met    |',
      '| memory   |  120 MB |          | 120 MB | ≤ 110 MB | missed |',
      '| aside    |       1 |        2 |    0.5 |          |        |',
    ]);
  });
});
