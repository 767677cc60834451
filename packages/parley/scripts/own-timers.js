// Clocks and timers of Node when the package is loaded, so that fake timers in tests of an application do not stop the engine.
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import * as timers from 'node:timers';

export const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = timers;
const nextTick = process.nextTick.bind(process);
const { queueMicrotask } = globalThis;

export { nextTick as 'process.nextTick', performance, queueMicrotask };
