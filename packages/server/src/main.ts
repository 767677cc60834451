#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { runCommandLine } from './cli/run-command-line.js';

/**
 * By how much V8 lets the heap grow before it collects garbage; by itself it lets it double and more. When thousands of clients
 * return at once, what is added is mostly garbage of their requests (docs/performance.md). The process is ours alone here:
 * an application that embeds Parley chooses for itself.
 */
const HEAP_GROWING_PERCENT = 70;

setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
process.exitCode = await runCommandLine(process.argv.slice(2));
