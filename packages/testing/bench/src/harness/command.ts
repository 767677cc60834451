import { setTimeout as delay } from 'node:timers/promises';
import { Child } from './child.js';
import { SERVE_ENVIRONMENT, SERVE_SCRIPT, type Usage } from './parley-server.js';

const LOOK_EVERY_MS = 100;

/** Resource usage of a command. */
export interface CommandUsage {
  readonly cpuMs: number;
  /** Peak memory in bytes without mapped files. */
  readonly ownPeak: number;
}

/** Runs `parley` with these arguments to completion on any free core. @throws Error if it fails */
export async function runCommand(words: readonly string[]): Promise<CommandUsage> {
  const probe = new URL('../children/probe.js', import.meta.url);
  const child = Child.start(SERVE_SCRIPT, {
    seat: null,
    args: words,
    env: SERVE_ENVIRONMENT,
    nodeOptions: ['--import', probe.href],
  });
  let usage = await child.call<Usage>('watch');
  // A command may block its event loop until its end.
  const last = child.call<Usage>('usageAtExit').catch(() => null);
  while (!child.hasEnded) {
    await delay(LOOK_EVERY_MS);
    usage = (await child.call<Usage>('usage').catch(() => null)) ?? usage;
  }
  await child.success();
  return (await last) ?? usage;
}
