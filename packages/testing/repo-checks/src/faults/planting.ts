import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { packagesDir } from '../source-code.js';

const ROOT = resolve(packagesDir, '..');
const JEST = createRequire(import.meta.url).resolve('jest/bin/jest');
/** A fault may cause an endless loop. */
const TIMEOUT_MS = 15 * 60_000;

export type Outcome = 'found' | 'NOT FOUND' | 'NO TEST';

/**
 * Changes one source file while tests run.
 * @param tests Ends of paths, without `.test.ts`.
 */
export async function plant(
  file: string,
  planted: string,
  tests: readonly string[],
  ...options: readonly string[]
): Promise<{ readonly outcome: Outcome; readonly by: string }> {
  const original = readFileSync(file);
  const restore = () => writeFileSync(file, original);
  const end = () => process.exit(130);
  process.once('exit', restore);
  process.once('SIGINT', end).once('SIGTERM', end);
  try {
    writeFileSync(file, planted);
    const { code, output } = await run(JEST, '--maxWorkers=1', ...options, '--', `/(${tests.join('|')})\\.test\\.ts$`);
    const failed = [...output.matchAll(/^FAIL .*?(\S+\.test\.ts)/gm)].map(([, file]) => file!.split('/').at(-1)!);
    const outcome = /^No tests found/m.test(output) ? 'NO TEST' : code === 0 ? 'NOT FOUND' : 'found';
    return { outcome, by: failed.length > 0 ? ` by ${[...new Set(failed)].join(', ')}` : '' };
  } finally {
    restore();
    process.off('exit', restore).off('SIGINT', end).off('SIGTERM', end);
  }
}

/** Runs a program of Node in the repository. */
export async function run(
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(process.execPath, args, {
    ...{ cwd: ROOT, timeout: TIMEOUT_MS, killSignal: 'SIGKILL' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, output: output + errors };
}
