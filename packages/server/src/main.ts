#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { runCommandLine } from './cli/run-command-line.js';

/**
 * By how much V8 lets the heap of a server grow before it collects garbage; by itself it lets it double and more. When thousands
 * of clients return at once, what is added is mostly garbage of their requests (docs/performance.md). The process is ours alone
 * here: an application that embeds Parley chooses for itself. Other commands end soon, and are quicker without.
 */
const HEAP_GROWING_PERCENT = 70;

const words = process.argv.slice(2);
if (words[0] === 'serve') setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
process.exitCode = await runCommandLine(words);
