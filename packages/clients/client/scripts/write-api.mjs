#!/usr/bin/env node
// Generates src/api.ts from the route table. Git ignores the file; builds, type checks and tests generate it first.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { sourcesOf } from '../../../server/scripts/sources.mjs';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
// Bundle in the folder of the HTTP adapter, where its libraries resolve.
const bundle = fileURLToPath(new URL('../../../adapters/http/dist/route-table.mjs', import.meta.url));
await build({
  stdin: {
    contents: `export { createRoutes } from '@parley/http';
      export { openApiOf } from '@parley/http/openapi/openapi.js';
      export { writeClientApi } from '@parley/http/openapi/client-api.js';`,
    resolveDir: root,
  },
  outfile: bundle,
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  logLevel: 'warning',
  ...sourcesOf(root),
});
const { createRoutes, openApiOf, writeClientApi } = await import(pathToFileURL(bundle));
rmSync(bundle);
const file = new URL('../src/api.ts', import.meta.url);
const text = writeClientApi(openApiOf(createRoutes({})));
// An unchanged file keeps its date, which avoids a rebuild.
if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
