// Installs the package with several package managers, without permission to run install scripts.
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

/** Returns the number of failed package managers. */
export async function tryPackageManagers({ cache, env, tarball }) {
  const tried = await Promise.allSettled(
    MANAGERS.map((manager) => tryManager(manager, join(cache, 'package-managers', manager.spec), env, tarball)),
  );
  for (const [index, { status, reason }] of tried.entries()) {
    const { spec } = MANAGERS[index];
    if (status === 'fulfilled') console.log(`The package works with ${spec}.`);
    else console.error(`The package fails with ${spec}: ${reason.message}`);
  }
  return tried.filter(({ status }) => status === 'rejected').length;
}

async function tryManager({ spec, install }, folder, { ...env }, tarball) {
  const tools = join(folder, 'tools');
  mkdirSync(tools, { recursive: true });
  writeFileSync(join(tools, 'package.json'), '{ "private": true }');
  await execute('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', spec], { cwd: tools, env });
  env.PATH = `${join(tools, 'node_modules/.bin')}${delimiter}${env.PATH}`;
  const app = join(folder, 'app');
  rmSync(app, { recursive: true, force: true });
  await execute(process.execPath, [createParley, app, '--yes', '--parley', tarball], { env });
  await execute('sh', ['-c', install], { cwd: app, env });
  copyFileSync(join(scripts, 'story-on-node.mjs'), join(app, 'story.mjs'));
  const story = await execute('node', ['story.mjs'], { cwd: app, env });
  assert.match(story.stdout, /The story ends well/, story.stderr);
}
