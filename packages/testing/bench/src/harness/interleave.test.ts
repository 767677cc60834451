import { interleave, median, medianRatio } from './interleave.js';

describe('interleave', () => {
  it('alternates contenders, reverses their order every second round, and drops the first round', async () => {
    const turns: string[] = [];
    let figure = 0;
    const take = (name: string) => async () => {
      turns.push(name);
      return figure++;
    };
    const measured = await interleave(2, { ours: take('ours'), limit: take('limit') });
    expect(turns).toEqual(['ours', 'limit', 'limit', 'ours', 'ours', 'limit']);
    expect(measured).toEqual({ ours: [3, 4], limit: [2, 5] });
  });
});

describe('median', () => {
  it.each`
    values          | expected
    ${[3]}          | ${3}
    ${[9, 1, 5]}    | ${5}
    ${[4, 1, 3, 2]} | ${2.5}
  `('returns $expected for $values', ({ values, expected }) => {
    expect(median(values)).toBe(expected);
  });

  it('rejects an empty list', () => {
    expect(() => median([])).toThrow('no median');
  });
});

describe('medianRatio', () => {
  it('compares round by round', () => {
    // A slow round affects both sides and has no effect on the ratio.
    expect(medianRatio([10, 2, 11], [20, 4, 20])).toBe(0.5);
  });
});
