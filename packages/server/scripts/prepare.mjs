// Installs and builds what is missing or outdated. Uses only Node's modules, since node_modules may not exist yet.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFolders } from './package-folders.mjs';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const folders = packageFolders(root);
const inPackage = (name, ...path) => join(folders.get(name), ...path);
const bundler = inPackage('server', 'scripts', 'bundle.mjs');
const clientApi = inPackage('client', 'scripts', 'write-api.mjs');
const compressor = inPackage('web', 'scripts', 'compress.mjs');
/** The built server and command line. */
export const PARLEY = inPackage('server', 'dist', 'bundle', 'main.js');
const web = inPackage('web');
/** Packages that `npm start` needs, with all packages that they import. */
const BUILT = ['server', 'chat'];
/** npm writes this file last, so an interrupted installation does not count. */
const installedMark = join('node_modules', '.package-lock.json');
/**
 * Marks whose modification times are the starts of the last successful steps. Output times prove nothing, since unchanged
 * files are not rewritten.
 */
const typesMark = join(root, 'node_modules', '.parley-types');
const builtMark = join(root, 'node_modules', '.parley-built');
const compressedMark = join(root, 'node_modules', '.parley-compressed');
const STEPS = ['node', 'install', 'types', 'demo', 'product', 'tools'];

/**
 * Prepares everything up to a step, as described in run.mjs. Folders have tools of their own.
 * @throws Error with one clear line when something cannot be installed or built.
 */
export function prepare(last, toolFolders = []) {
  const steps = STEPS.slice(0, STEPS.indexOf(last) + 1);
  if (steps.length === 0) throw new Error(`Unknown preparation: ${last}`);
  if (steps.includes('tools')) toolFolders.unshift('packages/testing');
  if (steps.includes('install')) for (const folder of ['.', ...toolFolders]) install(folder);
  if (steps.includes('types')) generate();
  if (steps.includes('demo') && needsBuild()) build();
  if (steps.includes('product') && modifiedAt(compressedMark) < modifiedAt(builtMark)) compress();
  if (steps.includes('tools')) run('Building all programs', process.execPath, [tsc(), '-b']);
}

function install(folder) {
  const installed = modifiedAt(join(root, folder, installedMark));
  if (installed >= modifiedAt(join(root, folder, 'package-lock.json'))) return;
  const name = folder === '.' ? 'libraries' : `the tools of ${folder}`;
  // No library needs its install script. npm would run node-gyp for better-sqlite3, which contains its binaries.
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  run(`Installing ${name} (npm ci)`, 'npm', ['ci', '--prefix', folder, ...flags]);
}

/** Generates the types of the client from the route table. */
function generate() {
  const generatedAt = modifiedAt(typesMark);
  const isCurrent =
    existsSync(inPackage('client', 'src', 'api.ts')) &&
    [clientApi, join(root, installedMark)].every((file) => modifiedAt(file) <= generatedAt) &&
    !foldersOf('http').some((folder) => hasNewerSource(join(folder, 'src'), generatedAt));
  if (!isCurrent) markAfter(typesMark, () => run('Generating the types of the client', process.execPath, [clientApi]));
}

function build() {
  markAfter(builtMark, () => {
    run('Bundling the server', process.execPath, [bundler]);
    run('Building the web client', process.execPath, [vite(), 'build', web, '--logLevel', 'warn']);
    run('Building the element', process.execPath, [vite(), 'build', web, '--mode', 'element', '--logLevel', 'warn']);
  });
}

/** Writes the copies of the web client that browsers load faster. The demo has none. */
function compress() {
  markAfter(compressedMark, () => run('Compressing the web client', process.execPath, [compressor]));
}

/** Dates the mark with the start of a successful step. An interrupted step does not count. */
function markAfter(mark, step) {
  rmSync(mark, { force: true });
  const startedAt = new Date();
  step();
  writeFileSync(mark, '');
  utimesSync(mark, startedAt, startedAt);
}

function needsBuild() {
  const builtAt = modifiedAt(builtMark);
  const outputs = [PARLEY, join(web, 'dist', 'app', 'index.html')];
  const scripts = ['server', 'sqlite'].map((name) => inPackage(name, 'scripts'));
  return (
    outputs.some((file) => !existsSync(file)) ||
    [join(root, 'tsconfig.json'), join(root, installedMark)].some((file) => modifiedAt(file) > builtAt) ||
    scripts.some((folder) => hasNewerSource(folder, builtAt)) ||
    [web, ...foldersOf(...BUILT)].some((folder) => hasNewerSource(join(folder, 'src'), builtAt))
  );
}

/** Folders of packages and of all packages that they import. */
function foldersOf(...names) {
  const found = new Set();
  const add = (folder) => {
    if (found.has(folder)) return;
    found.add(folder);
    const { references } = JSON.parse(readFileSync(join(folder, 'tsconfig.json'), 'utf8'));
    for (const { path } of references) add(join(folder, path));
  };
  for (const name of names) add(folders.get(name));
  return [...found];
}

function hasNewerSource(dir, than) {
  // Adding, renaming or removing a file changes the date of its folder.
  if (modifiedAt(dir) > than) return true;
  return readdirSync(dir, { withFileTypes: true }).some((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return hasNewerSource(path, than);
    return /(?<!\.test)\.(mjs|tsx?|css|sql)$/.test(entry.name) && modifiedAt(path) > than;
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
  process.stderr.write(`${title} … `);
  const startedAt = Date.now();
  const isNpm = command === 'npm';
  // Standard output is reserved for the caller. The compiler writes its errors to it, npm only what it added. On Windows npm
  // is a script that needs a shell.
  const { error, status } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', isNpm ? 'ignore' : 2, 2],
    shell: process.platform === 'win32' && isNpm,
  });
  if (error) throw new Error(`Cannot run ${command}: ${error.message}`);
  if (status !== 0) throw new Error(`${title} failed; see above.`);
  process.stderr.write(`${Math.round((Date.now() - startedAt) / 1000)} s\n`);
}
