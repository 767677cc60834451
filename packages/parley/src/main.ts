#!/usr/bin/env node
import { startCommandLine } from '@parley/server/cli';
import { SIMULATE_COMMAND } from './simulate.command.js';

startCommandLine([SIMULATE_COMMAND]);
