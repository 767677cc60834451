#!/usr/bin/env node
// `npm run client-api`: generates src/api.ts from the route table. Git ignores the file; builds and type checks generate it first.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../../../../', import.meta.url);
// Builds only the dependencies of the route table, since the client may not compile without the new types.
const { status } = spawnSync(
  process.execPath,
  [fileURLToPath(new URL('node_modules/typescript/bin/tsc', root)), '-b', 'packages/adapters/http'],
  { cwd: fileURLToPath(root), stdio: ['ignore', 2, 2] },
);
if (status !== 0) process.exit(1);
const { createRoutes } = await import('../../../adapters/http/dist/index.js');
const { openApiOf } = await import('../../../adapters/http/dist/openapi/openapi.js');
const { writeClientApi } = await import('../../../adapters/http/dist/openapi/client-api.js');
const file = new URL('../src/api.ts', import.meta.url);
const text = writeClientApi(openApiOf(createRoutes({})));
// An unchanged file keeps its date, which avoids a rebuild.
if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
