#!/usr/bin/env node
// `npm start`: installs and builds everything missing, then serves the demo organization in the same process, which
// receives flags and signals directly.
import { continueOnNewNode } from './node.mjs';

// A newer Node repeats the command with these arguments.
await continueOnNewNode();
process.env.PARLEY_DEMO ??= 'on';
process.env.PARLEY_DEMO_ACTIVITY ??= 'on';
process.env.PARLEY_DEV ??= 'on';
process.argv.splice(2, 0, 'demo', 'parley', 'serve');
await import('./run.mjs');
