#!/usr/bin/env node
// `npm run client-api`: src/api.ts from the route table.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../../../', import.meta.url);
// What it is made of, and no more: the client itself may need the new types.
spawnSync(process.execPath, [fileURLToPath(new URL('node_modules/typescript/bin/tsc', root)), '-b', 'packages/http'], {
  cwd: fileURLToPath(root),
  stdio: 'inherit',
});
const { createRoutes } = await import('../../http/dist/index.js');
const { openApiOf } = await import('../../http/dist/openapi/openapi.js');
const { writeClientApi } = await import('../../http/dist/openapi/client-api.js');
writeFileSync(new URL('../src/api.ts', import.meta.url), writeClientApi(openApiOf(createRoutes({}))));
