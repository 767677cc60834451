// Finds a Node that runs the repository's commands. Runs on old versions of Node, without any installed library.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder outside node_modules, which `npm ci` deletes. */
const folder = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', '.node');
const isWindows = process.platform === 'win32';
const library = `node-${isWindows ? 'win' : process.platform}-${process.arch}`;
const installed = join(folder, 'node_modules', library, 'bin', isWindows ? 'node.exe' : 'node');

/**
 * Returns if this Node is new enough. Otherwise installs Node 24 once, repeats the command with it and ends the process.
 */
export async function continueOnNewNode() {
  if (isNew(process.versions.napi)) return;
  if (!isInstalled()) install();
  const path = `${dirname(installed)}${delimiter}${process.env.PATH}`;
  await runAndExit(installed, process.argv.slice(1), { ...process.env, PATH: path });
}

/** True for the Node-API of Node 22.14 and later, which SQLite's driver needs. */
function isNew(nodeApi) {
  return Number(nodeApi) >= 10;
}

function isInstalled() {
  if (!existsSync(installed)) return false;
  const { status, stdout } = spawnSync(installed, ['-p', 'process.versions.napi'], { encoding: 'utf8' });
  return status === 0 && isNew(stdout);
}

function install() {
  console.error(`The commands of this repository need Node 22.14 or newer; this is ${process.versions.node}.`);
  console.error('Installing Node 24 into the folder .node …');
  // Removes an interrupted installation.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
  const { error, status } = spawnSync('npm', ['install', '--prefix', folder, ...flags, `${library}@24`], {
    stdio: ['ignore', 'ignore', 2],
    shell: isWindows,
  });
  if (error) fail(`npm cannot be run (${error.message}).`);
  if (status !== 0) fail('npm could not install it; see above.');
  if (!isInstalled()) fail(`The package ${library} does not run on this system.`);
}

function fail(reason) {
  rmSync(folder, { recursive: true, force: true });
  console.error(`${reason} Install Node 22.14 or newer, and repeat the command.`);
  process.exit(1);
}

/** Runs a program in the foreground, forwards signals to it, and ends this process as it ended. */
export function runAndExit(command, args, env = process.env) {
  const isScript = isWindows && !/\.exe$/.test(command);
  const child = spawn(command, args, { stdio: 'inherit', env, shell: isScript });
  // The terminal sends interrupts to the child as well.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return new Promise(() => {
    child.once('error', ({ message }) => {
      console.error(`Cannot run ${command}: ${message}`);
      process.exit(1);
    });
    child.once('close', (status, signal) => process.exit(status ?? 128 + constants.signals[signal]));
  });
}
