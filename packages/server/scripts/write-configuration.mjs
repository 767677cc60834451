#!/usr/bin/env node
// `npm run configuration`: generates docs/configuration.md from settings.ts.
import { writeFileSync } from 'node:fs';
import { prepare } from './prepare.mjs';

prepare();
const { renderConfigurationDocument } = await import('../dist/configuration/settings.js');
writeFileSync(new URL('../../../docs/configuration.md', import.meta.url), renderConfigurationDocument());
