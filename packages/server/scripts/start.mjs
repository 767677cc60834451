#!/usr/bin/env node
// `npm start`: installs and builds everything missing, then serves the demo organization in the same process, which
// receives flags and signals directly.
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
process.argv.splice(2, 0, 'serve');
await import('../dist/bundle/main.js');
