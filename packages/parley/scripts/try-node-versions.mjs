#!/usr/bin/env node
// Installs the package with several versions of Node and runs a short story on each: `npm run test:node -- 22 24`.
// The versions come from npm as packages `node@VERSION`. SQLite comes as its prebuilt binary, or is compiled with the
// headers in these packages. The story says that it skips SQLite if both are missing. The last version also runs the
// package managers.
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
const versions = process.argv.slice(2);

// Each compilation of SQLite uses one core.
const tried = await Promise.all(versions.map(tryVersion));
const { env, sqlite, abi } = tried.at(-1);
const failures = tried.filter(({ isRight }) => !isRight).length;
process.exit(failures + (tried.at(-1).isRight ? await tryPackageManagers({ cache, env, tarball, sqlite, abi }) : 0));

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
  for (const name of ['package.json', 'package-lock.json', 'data', 'node_modules/parley']) {
    rmSync(join(app, name), { recursive: true, force: true });
  }
  writeFileSync(join(app, 'package.json'), '{ "private": true, "type": "module" }');
  await install(app, env, '--ignore-scripts', tarball);
  const sqlite = join(app, 'node_modules/better-sqlite3');
  const abi = spawnSync('node', ['-p', 'process.versions.modules'], { cwd: app, env, encoding: 'utf8' }).stdout.trim();
  if (abi === process.versions.modules) {
    cpSync(join(home, '../../node_modules/better-sqlite3/build'), join(sqlite, 'build'), { recursive: true });
  } else if (!existsSync(join(sqlite, 'build/Release/better_sqlite3.node'))) {
    const headers = await headersFor(version, folder);
    const quick = { CFLAGS: '-O1', CXXFLAGS: '-O1', npm_config_nodedir: headers, npm_config_jobs: 'max' };
    await run('npm', ['rebuild', 'better-sqlite3'], { cwd: app, env: { ...env, ...quick } });
  }
  cpSync(join(home, 'scripts/story-on-node.mjs'), join(app, 'story.mjs'));
  const isRight = (await run('node', ['story.mjs'], { cwd: app, env })) === 0;
  if (!isRight) console.error(`The story fails on Node ${version}.`);
  return { isRight, env, sqlite, abi };
}

/** Headers for compiling. Those of Node 24.19 and later make better-sqlite3 12 end the process (nodejs/node#65446). */
async function headersFor(version, folder) {
  const name = `node-${process.platform}-${process.arch}`;
  if (version !== '24') return join(folder, 'node/node_modules/node/node_modules', name);
  const headers = join(folder, 'headers');
  mkdirSync(headers, { recursive: true });
  writeFileSync(join(headers, 'package.json'), '{ "private": true }');
  await install(headers, process.env, `${name}@24.18`);
  return join(headers, 'node_modules', name);
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
