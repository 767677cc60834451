#!/usr/bin/env node
// Installs and builds what is missing or outdated. Uses only Node's modules, since node_modules may not exist yet.
//
//   prepare.mjs install [FOLDER]…  libraries of the product, its build and `npm test`, and the tools of a folder
//   prepare.mjs                    … and the built product
//   prepare.mjs tools [FOLDER]…    … and all programs of the repository
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { packageFolders } from './package-folders.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const folders = packageFolders(root);
const inPackage = (name, ...path) => join(folders.get(name), ...path);
const bundler = inPackage('server', 'scripts', 'bundle.mjs');
const loader = inPackage('server', 'scripts', 'load-bundle.mjs');
const cacheWriter = inPackage('server', 'scripts', 'write-caches.mjs');
const sqlInliner = inPackage('sqlite', 'scripts', 'inline-sql.mjs');
const clientApi = inPackage('client', 'scripts', 'write-api.mjs');
const bundle = inPackage('server', 'dist', 'bundle', 'main.js');
const web = inPackage('web');
/** Packages that `npm start` needs. The compiler builds what they import. */
const BUILT = ['server', 'chat'];
/** npm writes this file last, so an interrupted installation does not count. */
const installedMark = join('node_modules', '.package-lock.json');
/**
 * Its modification time is the start of the last successful build. Output times prove nothing, since unchanged files
 * are not rewritten.
 */
const builtMark = join(root, 'node_modules', '.parley-built');

/** @throws Error with one clear line when something cannot be installed or built. */
export function prepare() {
  install();
  if (needsBuild()) {
    // An interrupted build does not count.
    rmSync(builtMark, { force: true });
    run('Generating the types of the client …', process.execPath, [clientApi]);
    const startedAt = new Date();
    run('Building …', process.execPath, [tsc(), '-b', ...BUILT.map((name) => folders.get(name))]);
    run('Bundling …', process.execPath, [bundler]);
    run('Building the web client …', process.execPath, [vite(), 'build', web, '--logLevel', 'warn']);
    run('Building the element …', process.execPath, [vite(), 'build', web, '--mode', 'element', '--logLevel', 'warn']);
    writeFileSync(builtMark, '');
    utimesSync(builtMark, startedAt, startedAt);
  }
}

function install(folder = '.') {
  requireNode(20, 19);
  const installed = modifiedAt(join(root, folder, installedMark));
  if (installed >= modifiedAt(join(root, folder, 'package-lock.json'))) return;
  const name = folder === '.' ? 'dependencies' : `the tools of ${folder}`;
  run(`Installing ${name} (npm ci) …`, 'npm', ['ci', '--prefix', folder, '--no-audit', '--no-fund']);
}

function requireNode(major, minor) {
  const [actualMajor = 0, actualMinor = 0] = process.versions.node.split('.').map(Number);
  if (actualMajor < major || (actualMajor === major && actualMinor < minor)) {
    throw new Error(`Parley needs Node ${major}.${minor} or newer; this is ${process.versions.node}.`);
  }
}

function needsBuild() {
  const builtAt = modifiedAt(builtMark);
  if (builtAt === 0 || modifiedAt(join(root, 'tsconfig.json')) > builtAt) return true;
  // The bundle also contains other packages.
  if (
    !existsSync(bundle) ||
    modifiedAt(sqlInliner) > builtAt ||
    modifiedAt(clientApi) > builtAt ||
    modifiedAt(bundler) > builtAt ||
    modifiedAt(loader) > builtAt ||
    modifiedAt(cacheWriter) > builtAt ||
    modifiedAt(join(root, installedMark)) > builtAt
  )
    return true;
  return builtFolders().some((dir) => {
    const output = dir === web ? join('app', 'index.html') : 'tsconfig.tsbuildinfo';
    return (
      !existsSync(join(dir, 'dist', output)) ||
      modifiedAt(join(dir, 'tsconfig.json')) > builtAt ||
      hasNewerSource(join(dir, 'src'), builtAt)
    );
  });
}

/** Folders of the packages that the product consists of. */
function builtFolders() {
  const found = new Set([web]);
  const add = (folder) => {
    if (found.has(folder)) return;
    found.add(folder);
    const { references } = JSON.parse(readFileSync(join(folder, 'tsconfig.json'), 'utf8'));
    for (const { path } of references) add(join(folder, path));
  };
  for (const name of BUILT) add(folders.get(name));
  return [...found];
}

function hasNewerSource(dir, than) {
  // Adding, renaming or removing a file changes the date of its folder.
  if (modifiedAt(dir) > than) return true;
  return readdirSync(dir, { withFileTypes: true }).some((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return hasNewerSource(path, than);
    return /(?<!\.test)\.(tsx?|css|sql)$/.test(entry.name) && modifiedAt(path) > than;
  });
}

function modifiedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function tsc() {
  return join(root, 'node_modules', 'typescript', 'bin', 'tsc');
}

function vite() {
  return join(root, 'node_modules', 'vite', 'bin', 'vite.js');
}

function run(title, command, args) {
  console.error(title);
  // On Windows npm is a script that needs a shell. Standard output is reserved for the caller.
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32' && command === 'npm',
  });
  if (result.error) throw new Error(`Cannot run ${command}: ${result.error.message}`);
  if (result.status !== 0) throw new Error(`${command === 'npm' ? 'npm ci' : 'The build'} failed; see above.`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [what, ...toolFolders] = process.argv.slice(2);
  try {
    if (what === 'install') install();
    else prepare();
    if (what === 'tools') toolFolders.unshift('packages/testing');
    for (const folder of toolFolders) install(folder);
    if (what === 'tools') run('Building all programs …', process.execPath, [tsc(), '-b']);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
