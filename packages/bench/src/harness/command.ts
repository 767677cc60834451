import { setTimeout as delay } from 'node:timers/promises';
import { Child } from './child.js';
import { SERVE_ENVIRONMENT, SERVE_SCRIPT, type Usage } from './parley-server.js';

const LOOK_EVERY_MS = 100;

/** What a command has used, as it was seen last, at most a tenth of a second before its end. */
export interface CommandUsage {
  readonly cpuMs: number;
  /** The most memory that was its own, without what is mapped from files, in bytes. */
  readonly ownPeak: number;
}

/** Runs `parley` with these words to its end, on whatever core is free. @throws Error when it fails */
export async function runCommand(words: readonly string[]): Promise<CommandUsage> {
  const probe = new URL('../children/probe.js', import.meta.url);
  const child = Child.start(SERVE_SCRIPT, {
    seat: null,
    args: words,
    env: SERVE_ENVIRONMENT,
    nodeOptions: ['--import', probe.href],
  });
  let usage = await child.call<Usage>('watch');
  while (!child.hasEnded) {
    await delay(LOOK_EVERY_MS);
    usage = (await child.call<Usage>('usage').catch(() => null)) ?? usage;
  }
  await child.success();
  return usage;
}
