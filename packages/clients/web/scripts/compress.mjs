#!/usr/bin/env node
// Writes compressed copies of the built web client, which the server sends to browsers that accept them. `npm start` skips this.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const folder = join(import.meta.dirname, '../dist/app/web');
for (const name of readdirSync(folder).filter((file) => /\.(js|css|svg)$/.test(file))) {
  const file = join(folder, name);
  if (existsSync(`${file}.br`)) continue;
  const bytes = readFileSync(file);
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
}
