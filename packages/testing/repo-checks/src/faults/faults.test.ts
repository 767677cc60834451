import { productSources } from '../measures.js';
import { shownPath } from '../source-code.js';
import { FAULTS } from './faults.js';

describe('planted fault', () => {
  it('replaces only text that occurs exactly once in its file', () => {
    const texts = new Map(productSources().map(({ file, text }) => [shownPath(file), text]));
    const countIn = (file: string, part: string) => (texts.get(file)?.split(part).length ?? 1) - 1;
    expect(FAULTS.filter(({ file, text }) => countIn(file, text) !== 1).map(({ name }) => name)).toEqual([]);
  });
});
