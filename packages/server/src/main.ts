#!/usr/bin/env node
import { runCommandLine } from './cli.js';

process.exitCode = await runCommandLine(process.argv.slice(2));
