import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { renderCompatibility } from './compatibility.js';

it('docs/compatibility.md equals the output of npm run docs:generate', () => {
  expect(readFileSync(resolve(__dirname, '../../../../docs/compatibility.md'), 'utf8')).toBe(renderCompatibility());
});
