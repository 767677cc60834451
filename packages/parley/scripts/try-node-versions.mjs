#!/usr/bin/env node
// Installs the package with several versions of Node and runs a short story on each: `npm run test:node -- 22 24`.
// The versions come from npm as packages `node@VERSION`. SQLite comes as its prebuilt binary, or is compiled with the
// headers in these packages. The story says that it skips SQLite if both are missing. The last version also runs the
// package managers.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tryPackageManagers } from './try-package-managers.mjs';

const home = join(dirname(fileURLToPath(import.meta.url)), '..');
const cache = join(home, '../../node_modules/.cache/node-versions');
const { version: packed } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
const tarball = `parley-${packed}.tgz`;
const versions = process.argv.slice(2);
let failures = 0;

for (const version of versions) {
  const folder = join(cache, version);
  const bin = join(folder, 'node/node_modules/.bin');
  mkdirSync(join(folder, 'node'), { recursive: true });
  if (!existsSync(join(bin, 'node'))) {
    writeFileSync(join(folder, 'node/package.json'), '{ "private": true }');
    install(join(folder, 'node'), process.env, `node@${version}`);
  }
  // npm runs with this version too.
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  const app = join(folder, 'app');
  mkdirSync(app, { recursive: true });
  for (const name of ['package.json', 'package-lock.json', 'data', 'node_modules/parley']) {
    rmSync(join(app, name), { recursive: true, force: true });
  }
  writeFileSync(join(app, 'package.json'), '{ "private": true, "type": "module" }');
  install(app, env, '--ignore-scripts', join(home, 'dist', tarball));
  const sqlite = join(app, 'node_modules/better-sqlite3');
  const abi = spawnSync('node', ['-p', 'process.versions.modules'], { cwd: app, env, encoding: 'utf8' }).stdout.trim();
  if (abi === process.versions.modules) {
    cpSync(join(home, '../../node_modules/better-sqlite3/build'), join(sqlite, 'build'), { recursive: true });
  } else if (!existsSync(join(sqlite, 'build/Release/better_sqlite3.node'))) {
    const headers = headersFor(version, folder);
    const quick = { CFLAGS: '-O1', CXXFLAGS: '-O1', npm_config_nodedir: headers, npm_config_jobs: 'max' };
    spawnSync('npm', ['rebuild', 'better-sqlite3'], { cwd: app, env: { ...env, ...quick }, stdio: 'inherit' });
  }
  cpSync(join(home, 'scripts/story-on-node.mjs'), join(app, 'story.mjs'));
  const { status } = spawnSync('node', ['story.mjs'], { cwd: app, env, stdio: 'inherit' });
  if (status !== 0) {
    console.error(`The story fails on Node ${version}.`);
    failures++;
  } else if (version === versions.at(-1)) {
    failures += tryPackageManagers({ cache, env, tarball: join(home, 'dist', tarball), sqlite, abi });
  }
}
process.exit(failures);

/** Headers for compiling. Those of Node 24.19 and later make better-sqlite3 12 end the process (nodejs/node#65446). */
function headersFor(version, folder) {
  const name = `node-${process.platform}-${process.arch}`;
  if (version !== '24') return join(folder, 'node/node_modules/node/node_modules', name);
  const headers = join(folder, 'headers');
  mkdirSync(headers, { recursive: true });
  writeFileSync(join(headers, 'package.json'), '{ "private": true }');
  install(headers, process.env, `${name}@24.18`);
  return join(headers, 'node_modules', name);
}

function install(cwd, env, ...what) {
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...what], {
    cwd,
    env,
    stdio: 'inherit',
  });
}
