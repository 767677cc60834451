import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderTables } from './tables-document.js';

it('docs/tables.md ends with the output of npm run docs:generate', () => {
  const document = readFileSync(join(__dirname, '../../../../../docs/tables.md'), 'utf8');
  expect(document.split('-->\n\n')[1]).toBe(`${renderTables()}\n`);
});
