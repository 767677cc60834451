#!/usr/bin/env node
// `npm run docs:generate`: writes the documents that are generated from declarations and the settings of the server.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { renderPersons, renderTables } from '../../../adapters/sqlite/dist/testing/tables-document.js';
import { renderConfigurationDocument } from '../../../server/dist/configuration/settings.js';
import { DOCUMENTS, withIntroduction } from '../dist/documents/documents.js';

const packages = fileURLToPath(new URL('../../..', import.meta.url));
const write = (name, text) => writeFileSync(new URL(`../../../../docs/${name}.md`, import.meta.url), text);
for (const [name, render] of Object.entries(DOCUMENTS)) write(name, render(packages));
write('tables', withIntroduction(packages, 'tables', renderTables()));
write('personal-data', withIntroduction(packages, 'personal-data', renderPersons()));
write('configuration', renderConfigurationDocument());
