#!/usr/bin/env node
// Installs the package with several versions of Node and runs a short story on each: `npm run test:node -- 20.19 24`
// (default: 22.14 and 24). The versions come from npm as packages `node@VERSION`. npm chooses better-sqlite3 12 for
// Node 20, which is compiled with the headers in these packages, and better-sqlite3 13 for newer versions. Node 18 must
// be refused in one line. The last version also runs the package managers.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tryPackageManagers } from './try-package-managers.mjs';

const home = join(dirname(fileURLToPath(import.meta.url)), '..');
const cache = join(home, '../../node_modules/.cache/node-versions');
const { version: packed } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
const tarball = join(home, 'dist', `parley-${packed}.tgz`);
const named = process.argv.slice(2);
const versions = named.length > 0 ? named : ['22.14', '24'];

// Each compilation of SQLite uses one core.
const tried = await Promise.all(versions.map(tryVersion));
const failures = tried.filter(({ isRight }) => !isRight).length;
const { isRight, env } = tried.at(-1);
process.exit(failures + (isRight ? await tryPackageManagers({ cache, env, tarball }) : 0));

async function tryVersion(version) {
  const folder = join(cache, version);
  const bin = join(folder, 'node/node_modules/.bin');
  mkdirSync(join(folder, 'node'), { recursive: true });
  if (!existsSync(join(bin, 'node'))) {
    writeFileSync(join(folder, 'node/package.json'), '{ "private": true }');
    await install(join(folder, 'node'), process.env, `node@${version}`);
  }
  // npm runs with this version too.
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  const app = join(folder, 'app');
  mkdirSync(app, { recursive: true });
  for (const name of ['package.json', 'package-lock.json', 'data', 'backup.tar', 'node_modules/parley']) {
    rmSync(join(app, name), { recursive: true, force: true });
  }
  writeFileSync(join(app, 'package.json'), '{ "private": true, "type": "module" }');
  await install(app, env, '--ignore-scripts', tarball);
  if (Number.parseInt(version, 10) < 20) return { isRight: isRefused(app, env), env };
  const sqlite = join(app, 'node_modules/better-sqlite3');
  const isCompiled = readFileSync(join(sqlite, 'package.json'), 'utf8').includes('"install"');
  if (isCompiled && !existsSync(join(sqlite, 'build/Release/better_sqlite3.node'))) {
    const headers = join(folder, 'node/node_modules/node/node_modules', `node-${process.platform}-${process.arch}`);
    const quick = { CFLAGS: '-O1', CXXFLAGS: '-O1', npm_config_nodedir: headers, npm_config_jobs: 'max' };
    await run('npm', ['rebuild', 'better-sqlite3'], { cwd: app, env: { ...env, ...quick } });
  }
  cpSync(join(home, 'scripts/story-on-node.mjs'), join(app, 'story.mjs'));
  const isRight = (await run('node', ['story.mjs'], { cwd: app, env })) === 0;
  if (!isRight) console.error(`The story fails on Node ${version}.`);
  return { isRight, env };
}

/** True if the command names the Node that it needs in one line. */
function isRefused(cwd, env) {
  const { status, stderr } = spawnSync('node', ['node_modules/parley/dist/main.js', '--version'], {
    cwd,
    env,
    encoding: 'utf8',
  });
  const isRight = status === 1 && /^parley: Parley needs Node 20\.19 or newer; this is Node [\d.]+\.\n$/.test(stderr);
  if (!isRight) console.error(stderr);
  return isRight;
}

async function install(cwd, env, ...what) {
  const status = await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...what], { cwd, env });
  assert.equal(status, 0, `npm cannot install ${what.join(' ')}`);
}

/** Returns the exit code of a command. */
async function run(command, args, options) {
  const [status] = await once(spawn(command, args, { ...options, stdio: 'inherit' }), 'close');
  return status;
}
