#!/usr/bin/env node
// `npm run docs:generate`: writes the documents that are generated from the route table, the integrations and the settings of the server.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { renderConfigurationDocument } from '../../server/dist/configuration/settings.js';
import { renderApiIndex } from '../dist/documents/api-index.js';
import { renderCompatibility } from '../dist/documents/compatibility.js';
import { renderIntegrations } from '../dist/documents/integrations.js';

const write = (name, text) => writeFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), text);
write('api-index', renderApiIndex(fileURLToPath(new URL('../..', import.meta.url))));
write('compatibility', renderCompatibility());
write('configuration', renderConfigurationDocument());
write('integrations', renderIntegrations());
