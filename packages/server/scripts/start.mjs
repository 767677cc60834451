#!/usr/bin/env node
// `npm start`: installs and builds everything missing, then serves the demo organization in the same process, which
// receives flags and signals directly.
import { fileURLToPath } from 'node:url';
import { prepare } from './prepare.mjs';

try {
  prepare();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}

process.env.PARLEY_DEMO ??= 'on';
process.env.PARLEY_DEMO_ACTIVITY ??= 'on';
process.env.PARLEY_DEV ??= 'on';
const main = new URL('../dist/bundle/main.js', import.meta.url);
// The server runs commands, such as imports, by the file in argv[1].
process.argv.splice(1, 1, fileURLToPath(main), 'serve');
await import(main);
