#!/usr/bin/env node
// `npm run configuration`: docs/configuration.md from the rows that are the configuration.
import { writeFileSync } from 'node:fs';
import { prepare } from './prepare.mjs';

prepare();
const { renderConfigurationDocument } = await import('../dist/configuration/settings.js');
writeFileSync(new URL('../../../docs/configuration.md', import.meta.url), renderConfigurationDocument());
