// Installs the package with several package managers, with and without permission to run install scripts.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const scripts = dirname(fileURLToPath(import.meta.url));
const createParley = join(scripts, '../../create-parley/dist/main.js');

/** Package of the registry, its installation without scripts, and its command in the message about the missing binary. */
const MANAGERS = [
  // npm 11 runs all scripts unless it is told otherwise.
  {
    spec: 'npm@11',
    install: 'npm install',
    blocked: 'npm install --ignore-scripts',
    command: /: (npm approve-[^;]+);/,
  },
  { spec: 'npm@12', install: 'npm install', blocked: 'npm install', command: /: (npm approve-[^;]+);/ },
  // pnpm ends with an error after an installation without scripts.
  { spec: 'pnpm@latest', install: 'pnpm install', blocked: 'pnpm install || true', command: /; (pnpm [^;]+);/ },
];

/** Returns the number of failed package managers. `sqlite` is an installed better-sqlite3 with its binary. */
export async function tryPackageManagers({ cache, env, tarball, sqlite, abi }) {
  if (!existsSync(join(sqlite, 'build/Release/better_sqlite3.node'))) {
    console.log('No package manager was tried, because SQLite has no binary here.');
    return 0;
  }
  const folder = join(cache, 'package-managers');
  const withBinary = { ...env, npm_config_better_sqlite3_local_prebuilds: packBinary(folder, sqlite, abi) };
  let failures = 0;
  await Promise.all(
    MANAGERS.map(async (manager) => {
      try {
        await tryManager(manager, join(folder, manager.spec), withBinary, tarball);
        console.log(`The package works with ${manager.spec}.`);
      } catch (error) {
        console.error(`The package fails with ${manager.spec}: ${error.message}`);
        failures++;
      }
    }),
  );
  return failures;
}

async function tryManager({ spec, install, blocked, command }, folder, { ...env }, tarball) {
  const tools = join(folder, 'tools');
  mkdirSync(tools, { recursive: true });
  writeFileSync(join(tools, 'package.json'), '{ "private": true }');
  await execute('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', spec], { cwd: tools, env });
  env.PATH = `${join(tools, 'node_modules/.bin')}${delimiter}${env.PATH}`;
  const app = join(folder, 'app');
  /** Runs a line of the shell; its error has the output. */
  const run = (line) => execute('sh', ['-c', line], { cwd: app, env });
  const createApp = () => {
    rmSync(app, { recursive: true, force: true });
    return execute(process.execPath, [createParley, app, '--yes', '--parley', tarball], { env });
  };
  const createRealm = `node node_modules/parley/dist/main.js realm create '' Shop --new-database --database sqlite:data/chat.db`;

  // Without permission, one line names the command that helps.
  await createApp();
  rmSync(join(app, 'pnpm-workspace.yaml'));
  const { allowScripts, ...manifest } = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8'));
  assert.deepEqual(allowScripts, { 'better-sqlite3': true });
  writeFileSync(join(app, 'package.json'), JSON.stringify(manifest));
  await run(blocked);
  const { stderr } = await run(createRealm).then(
    () => assert.fail('A binary is there.'),
    (error) => error,
  );
  assert.match(stderr, /^parley: better-sqlite3 has no binary [^\n]*\n$/);
  await run(command.exec(stderr)[1]);
  await run(createRealm);

  // The template gives permission.
  await createApp();
  await run(install);
  copyFileSync(join(scripts, 'story-on-node.mjs'), join(app, 'story.mjs'));
  const story = await run('node story.mjs');
  assert.match(story.stdout, /The story ends well/, story.stderr);
}

/** Packs the binary as a download of the install script, and returns the folder that the script reads. */
function packBinary(folder, sqlite, abi) {
  const prebuilds = join(folder, 'prebuilds');
  mkdirSync(prebuilds, { recursive: true });
  const { version } = JSON.parse(readFileSync(join(sqlite, 'package.json'), 'utf8'));
  const name = `better-sqlite3-v${version}-node-v${abi}-${process.platform}-${process.arch}.tar.gz`;
  execFileSync('tar', ['-czf', join(prebuilds, name), '-C', sqlite, 'build/Release/better_sqlite3.node']);
  return prebuilds;
}
