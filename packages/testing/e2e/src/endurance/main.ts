import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { findBinaries } from '@parley/postgres/testing';
import { findChromium } from '../testing/chromium.js';
import { runCommands } from './commands.js';
import { runFrameworks } from './frameworks.js';

const USAGE = `Usage: npm run endurance [-- [MINUTES] [--seed N] [--attack MINUTES] [--stops NUMBER] [--commands | --frameworks [NAME …]]]

Runs each command of the documents alone in a new clone of the last commit, all templates of create-parley, all suites on
PostgreSQL, then the hostile tests in their long form. Repeats the hostile tests, each time with the next seed,
until the minutes have passed (default: 30) or a test fails. Exit code 1: a test failed; the printed seed reproduces the failure.

  --seed N           the first seed; default: random
  --attack MINUTES   duration of the attack by a member in each run; default: 10. Runs only that test
  --stops NUMBER     stops of a shop with an outbox; default: 10000. Runs only that test
  --commands         runs only the commands of the documents
  --frameworks       runs only the templates of create-parley, or those named`;

const ROOT = resolve(import.meta.dirname, '../../../../..');
const { resolve: pathOf } = createRequire(import.meta.url);
const JEST = pathOf('jest/bin/jest');
/** Random actions, a large organization and all languages in the browser. */
const STORIES = [
  pathOf('@playwright/test/cli'),
  'test',
  '--config',
  'packages/clients/web/playwright.config.ts',
  '--workers=1',
  'random',
  'large-organization',
  'appearance',
];
/** Generators of clients, by their package of Python. The second one needs Java. */
const GENERATORS = { 'openapi-python-client': '0.29.1', 'openapi-generator-cli': '7.26.0' };
const POSTGRES_SUITES = 'packages/testing/repo-checks/dist/postgres-suites.js';
const OUTBOX = 'packages/testing/acceptance/src/server/outbox-crash.test.ts';
/** Tests that CI runs in a short form (see `hostile/scale.ts`) or not at all. */
const TESTS = [
  'packages/testing/e2e/src/hostile/',
  'packages/adapters/images/src/hostile-images.test.ts',
  'packages/adapters/images/src/file-metadata.test.ts',
  'packages/testing/e2e/src/crash.test.ts',
  'packages/testing/e2e/src/upload-crash.test.ts',
  'packages/testing/e2e/src/erasure-crash.test.ts',
  'packages/testing/e2e/src/generated-client.test.ts',
  'packages/testing/acceptance/src/access/two-worlds.test.ts',
  'packages/testing/acceptance/src/exports/hostile-archives.test.ts',
  'packages/testing/acceptance/src/exports/import-merge.random.test.ts',
  'packages/domain/src/markdown/hostile-cards.test.ts',
  'packages/adapters/node-adapters/src/hostile-mails.test.ts',
  'packages/moving/import-readers/src/every-cut.test.ts',
  'packages/server/src/facade/notification-crash.test.ts',
  OUTBOX,
  'packages/testing/acceptance/src/server/drills.test.ts',
  'packages/testing/acceptance/src/kernel/canary-words.test.ts',
  'packages/testing/bench/src/bench.test.ts',
];

interface Options {
  readonly minutes: number;
  readonly seed: number;
  /** Duration of the attack by a member; null to run all tests with the default duration. */
  readonly attackMinutes: number | null;
  /** Kills of the shop with an outbox; null to run all tests with the default number. */
  readonly stops: number | null;
  /** True to run only the commands of the documents. */
  readonly isForCommands: boolean;
  /** Names of the only templates to run; empty for all, null to run tests too. */
  readonly frameworks: readonly string[] | null;
}

const DEFAULT_ATTACK_MINUTES = 10;
const ATTACK = 'packages/testing/e2e/src/hostile/member-at-limits.test.ts';
const NUMBER = /^\d+(\.\d+)?$/;

/** @throws Error with an explanation of the invalid command line */
function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string' },
      attack: { type: 'string' },
      stops: { type: 'string' },
      commands: { type: 'boolean' },
      frameworks: { type: 'boolean' },
    },
    allowPositionals: true,
  });
  const { attack, stops } = values;
  const durations = values.frameworks ? [] : positionals;
  const [minutes = attack === undefined && stops === undefined ? '30' : '0', ...others] = durations;
  const seed = values.seed ?? String(Math.floor(Math.random() * 1e9));
  if (others.length > 0 || !NUMBER.test(minutes)) throw new Error('It takes a number of minutes.');
  if (!/^\d{1,9}$/.test(seed)) throw new Error('--seed takes a number.');
  if (attack !== undefined && !NUMBER.test(attack)) throw new Error('--attack takes a number of minutes.');
  if (stops !== undefined && !/^[1-9]\d{0,5}$/.test(stops)) throw new Error('--stops takes a number.');
  if (attack !== undefined && stops !== undefined) throw new Error('--attack and --stops exclude each other.');
  const numberOf = (value: string | undefined) => (value === undefined ? null : Number(value));
  return {
    minutes: Number(minutes),
    seed: Number(seed),
    attackMinutes: numberOf(attack),
    stops: numberOf(stops),
    isForCommands: values.commands ?? false,
    frameworks: values.frameworks ? positionals : null,
  };
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
  if (options.isForCommands) return runCommands(ROOT);
  if (options.frameworks) return runFrameworks(ROOT, options.frameworks);
  const isLimited = options.attackMinutes !== null || options.stops !== null;
  const steps = isLimited ? [] : [runCommands, runFrameworks, runOnPostgres, installGenerators];
  for (const step of steps) if ((await step(ROOT)) !== 0) return 1;
  const endsAt = Date.now() + options.minutes * 60_000;
  for (let { seed } = options; ; seed++) {
    console.log(`Seed ${seed}`);
    if ((await runOnce(options, seed)) !== 0) {
      console.log(`Failed with seed ${seed}. To repeat: npm run endurance -- 0 --seed ${seed}`);
      return 1;
    }
    if (Date.now() >= endsAt) return 0;
  }
}

/** Runs all suites on PostgreSQL. Fails if `npm run test:postgres` would not execute one of their statements. */
async function runOnPostgres(): Promise<number | null> {
  if (findBinaries() === null) {
    console.log('PostgreSQL is missing, so its suites were skipped');
    return 0;
  }
  const folder = mkdtempSync(join(tmpdir(), 'parley-statements-'));
  const env = { ...process.env, PARLEY_ALL: '1', PARLEY_STATEMENTS: folder };
  const code = await run([JEST, '--selectProjects=postgres', '--rootDir=.'], env);
  const result = code === 0 ? await run([POSTGRES_SUITES, folder, '--check'], env) : code;
  rmSync(folder, { recursive: true });
  return result;
}

/** Installs generators of clients. Tests without theirs skip themselves. */
function installGenerators(root: string): number {
  for (const [name, version] of Object.entries(GENERATORS)) {
    const folder = join(root, 'node_modules/.cache', name);
    if (existsSync(join(folder, 'bin', name))) continue;
    const isInstalled = [
      ['python3', '-m', 'venv', '--clear', folder],
      [join(folder, 'bin/pip'), 'install', '--quiet', `${name}==${version}`],
    ].every(([command, ...args]) => spawnSync(command!, args, { stdio: 'inherit' }).status === 0);
    if (!isInstalled) console.log(`${name} cannot be installed, so the tests of its clients are skipped`);
  }
  return 0;
}

/** Runs tests sequentially, so that none slows another. */
async function runOnce({ attackMinutes, stops }: Options, seed: number): Promise<number | null> {
  const minutes = String(attackMinutes ?? DEFAULT_ATTACK_MINUTES);
  const only = attackMinutes !== null ? [ATTACK] : stops !== null ? [OUTBOX] : null;
  const env = {
    ...process.env,
    ...(stops !== null && { PARLEY_OUTBOX_STOPS: String(stops) }),
    HOSTILE_LOAD: 'long',
    HOSTILE_SEED: String(seed),
    HOSTILE_MINUTES: minutes,
  };
  const code = await run([JEST, '--runInBand', ...(only ?? TESTS)], env);
  if (code !== 0 || only !== null) return code;
  if (findChromium() !== null) return run(STORIES, env);
  console.log('Chromium is missing, so the stories in the browser were skipped');
  return 0;
}

async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number | null> {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit', env });
  const [code] = (await once(child, 'close')) as [number | null];
  return code;
}

process.exitCode = await main(process.argv.slice(2));
