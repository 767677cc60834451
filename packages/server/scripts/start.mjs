#!/usr/bin/env node
// `npm start`: installs and builds everything missing, then serves the demo organization in the same process, which
// receives flags and signals directly.
import { pathToFileURL } from 'node:url';
import { continueOnNewNode } from './node.mjs';
import { PARLEY, prepare } from './prepare.mjs';

await continueOnNewNode();
try {
  prepare('demo');
} catch (error) {
  console.error(error.message);
  process.exit(1);
}

process.env.PARLEY_DEMO ??= 'on';
process.env.PARLEY_DEMO_ACTIVITY ??= 'on';
process.env.PARLEY_DEV ??= 'on';
// The server runs commands, such as imports, by the file in argv[1].
process.argv.splice(1, 1, PARLEY, 'serve');
await import(pathToFileURL(PARLEY));
