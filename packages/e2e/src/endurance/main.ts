import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

const USAGE = `Usage: npm run endurance [-- [MINUTES] [--seed N]]

Runs the tests of the hostile load in their long form, again and again, each time with the next seed, until so many minutes have
passed (default: 30) or something fails. Runs at least once. Exit code 1: something failed; the seed that was said repeats it.

  --seed N   the first seed; default: chosen by chance`;

const ROOT = resolve(import.meta.dirname, '../../../..');
const JEST = createRequire(import.meta.url).resolve('jest/bin/jest');
/** Tests that CI runs in a short form; see `hostile/scale.ts`. */
const TESTS = [
  'packages/e2e/src/hostile/',
  'packages/images/src/hostile-images.test.ts',
  'packages/e2e/src/crash.test.ts',
  'packages/e2e/src/scheduling-crash.test.ts',
  'packages/e2e/src/upload-crash.test.ts',
  'packages/bench/src/bench.test.ts',
];

interface Options {
  readonly minutes: number;
  readonly seed: number;
}

/** @throws Error that explains the invalid command line */
function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { seed: { type: 'string' } },
    allowPositionals: true,
  });
  const [minutes = '30', ...others] = positionals;
  const seed = values.seed ?? String(Math.floor(Math.random() * 1e9));
  if (others.length > 0 || !/^\d+(\.\d+)?$/.test(minutes)) throw new Error('It takes a number of minutes.');
  if (!/^\d{1,9}$/.test(seed)) throw new Error('--seed takes a number.');
  return { minutes: Number(minutes), seed: Number(seed) };
}

/** Returns the exit code. */
async function main(args: readonly string[]): Promise<number> {
  let options: Options;
  try {
    options = readOptions(args);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  const endsAt = Date.now() + options.minutes * 60_000;
  for (let { seed } = options; ; seed++) {
    console.log(`Seed ${seed}`);
    if ((await runOnce(seed)) !== 0) {
      console.log(`Failed with seed ${seed}. Once more: npm run endurance -- 0 --seed ${seed}`);
      return 1;
    }
    if (Date.now() >= endsAt) return 0;
  }
}

/** Runs tests sequentially, so that none slows another. */
async function runOnce(seed: number): Promise<number | null> {
  const child = spawn(process.execPath, [JEST, '--runInBand', ...TESTS], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, HOSTILE_LOAD: 'long', HOSTILE_SEED: String(seed) },
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return code;
}

process.exitCode = await main(process.argv.slice(2));
