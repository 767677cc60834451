// Checks the entry points and types of the package, and installs it with several package managers, without permission to run
// install scripts.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const scripts = dirname(fileURLToPath(import.meta.url));
const createParley = join(scripts, '../../create-parley/dist/main.js');

/** Packages of the registry with their installation. */
const MANAGERS = [
  { spec: 'npm@11', install: 'npm install --ignore-scripts' },
  { spec: 'npm@12', install: 'npm install' },
  { spec: 'pnpm@latest', install: 'pnpm install --ignore-scripts' },
];

/** Linters of packages. Parley is an ES module, and a style sheet has no types. */
const LINTERS = [
  { spec: 'publint@0', command: 'publint' },
  {
    spec: '@arethetypeswrong/cli@0',
    command: 'attw --profile esm-only --exclude-entrypoints web/style.css --format ascii',
  },
];

/** Returns the number of failed linters and package managers. */
export async function tryPackageManagers({ cache, env, tarball }) {
  const folderOf = ({ spec }) => join(cache, 'package-managers', spec.replace('/', '-'));
  const tried = await Promise.allSettled([
    ...LINTERS.map((linter) => lint(linter, folderOf(linter), env, tarball)),
    ...MANAGERS.map((manager) => tryManager(manager, folderOf(manager), env, tarball)),
  ]);
  for (const [index, { status, reason }] of tried.entries()) {
    const { spec } = [...LINTERS, ...MANAGERS][index];
    if (status === 'fulfilled') console.log(`The package works with ${spec}.`);
    else console.error(`The package fails with ${spec}: ${reason.stdout ?? ''}${reason.message}`);
  }
  return tried.filter(({ status }) => status === 'rejected').length;
}

async function lint({ spec, command }, folder, env, tarball) {
  const tools = await installTools(spec, folder, env);
  await execute('sh', ['-c', `${command} "$0"`, tarball], { env: tools, maxBuffer: MAX_OUTPUT_BYTES });
}

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** Returns an environment in which the programs of a package can be called. */
async function installTools(spec, folder, env) {
  const tools = join(folder, 'tools');
  mkdirSync(tools, { recursive: true });
  writeFileSync(join(tools, 'package.json'), '{ "private": true }');
  await execute('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', spec], { cwd: tools, env });
  return { ...env, PATH: `${join(tools, 'node_modules/.bin')}${delimiter}${env.PATH}` };
}

async function tryManager({ spec, install }, folder, given, tarball) {
  const env = await installTools(spec, folder, given);
  const app = join(folder, 'app');
  rmSync(app, { recursive: true, force: true });
  await execute(process.execPath, [createParley, app, '--yes', '--parley', tarball], { env });
  await execute('sh', ['-c', install], { cwd: app, env });
  copyFileSync(join(scripts, 'story-on-node.mjs'), join(app, 'story.mjs'));
  const story = await execute('node', ['story.mjs'], { cwd: app, env });
  assert.match(story.stdout, /The story ends well/, story.stderr);
}
