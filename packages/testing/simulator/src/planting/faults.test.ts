import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PLANTED_FAULTS } from './faults.js';

const PACKAGES = join(__dirname, '../../../..');

describe('planted faults', () => {
  it('replace only text that occurs exactly once in its file', () => {
    const countIn = (file: string, text: string) => readFileSync(join(PACKAGES, file), 'utf8').split(text).length - 1;
    expect(PLANTED_FAULTS.filter(({ file, text }) => countIn(file, text) !== 1).map(({ name }) => name)).toEqual([]);
  });
});
