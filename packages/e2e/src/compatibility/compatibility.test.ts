import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pointlessNotes, renderCompatibility, unknownRoutes } from './compatibility.js';

it('docs/compatibility.md equals the output of npm run compatibility', () => {
  expect(readFileSync(resolve(__dirname, '../../../../docs/compatibility.md'), 'utf8')).toBe(renderCompatibility());
});

it('notes on missing parts exist only for implemented operations', () => {
  expect(pointlessNotes()).toEqual([]);
});

it('every route is a contract operation', () => {
  expect(unknownRoutes()).toEqual([]);
});
