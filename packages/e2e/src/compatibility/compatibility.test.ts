import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pointlessNotes, renderCompatibility, unknownRoutes } from './compatibility.js';

it('docs/compatibility.md is what npm run compatibility would write', () => {
  expect(readFileSync(resolve(__dirname, '../../../../docs/compatibility.md'), 'utf8')).toBe(renderCompatibility());
});

it('notes what is missing of operations that are there', () => {
  expect(pointlessNotes()).toEqual([]);
});

it('every route is an operation of the contract', () => {
  expect(unknownRoutes()).toEqual([]);
});
