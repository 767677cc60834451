import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { renderApiIndex } from './api-index.js';
import { renderCompatibility } from './compatibility.js';
import { renderIntegrations } from './integrations.js';

it.each([
  ['api-index', () => renderApiIndex(resolve(__dirname, '../../..'))],
  ['compatibility', renderCompatibility],
  ['integrations', renderIntegrations],
])('docs/%s.md equals the output of npm run docs:generate', (name, render) => {
  expect(readFileSync(resolve(__dirname, `../../../../docs/${name}.md`), 'utf8')).toBe(render());
});
