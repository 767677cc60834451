import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { DOCUMENTS } from './documents.js';

const packages = resolve(__dirname, '../../../..');

it.each(Object.entries(DOCUMENTS))('docs/%s.md equals the output of npm run docs:generate', (name, render) => {
  expect(readFileSync(resolve(packages, `../docs/${name}.md`), 'utf8')).toBe(render(packages));
});
