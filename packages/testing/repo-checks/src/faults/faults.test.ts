import { productSources } from '../measures.js';
import { FAULTS } from './faults.js';

describe('planted fault', () => {
  it('replaces only text that occurs exactly once in the product', () => {
    const sources = productSources().map(({ text }) => text);
    const countOf = (part: string) => sources.reduce((sum, text) => sum + text.split(part).length - 1, 0);
    expect(FAULTS.filter(({ text }) => countOf(text) !== 1).map(({ name }) => name)).toEqual([]);
  });
});
