#!/usr/bin/env node
import { startCommandLine } from './cli/start-command-line.js';

startCommandLine();
