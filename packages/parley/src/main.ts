#!/usr/bin/env node
import { COMMANDS, startCommandLine } from '@parley/server/cli';
import { SIMULATE_COMMAND } from './simulate.command.js';

startCommandLine([...COMMANDS, SIMULATE_COMMAND]);
