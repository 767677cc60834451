#!/usr/bin/env node
// Starts the bundle with the V8 caches that write-caches.mjs made.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { dirname } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

const require = createRequire(import.meta.url);
const cacheSuffix = `.${cachedDataVersionTag()}.cache`;
const compileWithoutCache = require.extensions['.js'];

// The tag identifies the version and options of V8 and the processor; other combinations find no cache. With
// `--enable-source-maps`, Node maps only code that it compiled itself.
require.extensions['.cjs'] = (module, filename) => {
  const cache = filename + cacheSuffix;
  if (process.sourceMapsEnabled || !existsSync(cache)) return compileWithoutCache(module, filename);
  const script = new Script(Module.wrap(readFileSync(filename, 'latin1')), {
    filename,
    cachedData: readFileSync(cache),
  });
  const run = script.runInThisContext();
  run.call(module.exports, module.exports, createRequire(filename), module, filename, dirname(filename));
};
require('./main.cjs');
