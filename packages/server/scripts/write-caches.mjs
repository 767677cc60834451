// Starts a server from the bundle and writes a V8 cache of each script that it loaded. Written after the start, the caches
// also contain the functions that a start runs.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { cachedDataVersionTag, setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';

const [main] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const cacheSuffix = `.${cachedDataVersionTag()}.cache`;
const scripts = new Map();
require.extensions['.cjs'] = (module, filename) => {
  // Stack traces show the file name that the cache contains.
  const script = new Script(Module.wrap(readFileSync(filename, 'latin1')), { filename: basename(filename) });
  scripts.set(filename, script);
  const run = script.runInThisContext();
  run.call(module.exports, module.exports, createRequire(filename), module, filename, dirname(filename));
};

const folder = mkdtempSync(join(tmpdir(), 'parley-bundle-'));
process.once('exit', (exitCode) => {
  rmSync(folder, { recursive: true, force: true });
  if (exitCode !== 0) return;
  // V8 rejects caches of other options, and the server has set this one.
  setFlagsFromString('--heap-growing-percent=0');
  for (const [filename, script] of scripts) {
    const path = filename + cacheSuffix;
    // Renaming prevents a server from reading a partial file.
    writeFileSync(`${path}.new`, script.createCachedData());
    renameSync(`${path}.new`, path);
  }
});
process.stdout.write = (text) => {
  if (text.startsWith('Parley is at')) process.exit(0);
  return true;
};
for (const name of Object.keys(process.env)) if (name.startsWith('PARLEY_')) delete process.env[name];
process.chdir(folder);
const database = ['--database', 'sqlite:parley.db'];
// Runs in another process, since a later start does not run its functions.
spawnSync(process.execPath, [main, 'realm', 'create', '--new-database', '', 'Organization', ...database], {
  stdio: ['ignore', 'ignore', 2],
});
process.argv = [process.execPath, main, 'serve', '--dev', '--port', '0', '--log-level', 'silent', ...database];
require(main);
