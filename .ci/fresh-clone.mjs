// Runs `npm test` or `npm start` alone in a new clone, as on a stranger's machine: with an empty npm cache, nothing built
// and no compiler. Prints seconds, packages and megabytes, and fails on too many of them. The other arguments belong to the
// command.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const COMPILERS = ['cc', 'c++', 'gcc', 'g++', 'clang', 'clang++', 'make', 'node-gyp'];
/** Goals on two quiet cores. Machines differ by a factor of two. */
const SECONDS = { test: 130, start: 60 };
const MAX_SLOWER = 2.5;
const MAX_PACKAGES = 600;
const MAX_MEGABYTES = 360;
const DEMO = 'http://127.0.0.1:9991';

const [command, ...args] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'parley-fresh-'));
const clone = join(folder, 'parley');
execFileSync('git', ['clone', '--quiet', '.', clone]);

const startedAt = Date.now();
const child = spawn('npm', [command, '--silent', '--', ...args], {
  cwd: clone,
  stdio: ['inherit', 'pipe', 'pipe'],
  // A group of its own: npm does not forward signals.
  detached: true,
  env: { ...process.env, npm_config_cache: join(folder, 'cache'), PATH: withoutCompilers() },
});
const closed = once(child, 'close');
let output = '';
for (const name of ['stdout', 'stderr']) {
  child[name].setEncoding('utf8').on('data', (text) => {
    process[name].write(text);
    if (command === 'start') output += text;
  });
}
process.once('exit', () => {
  if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
process.once('SIGTERM', () => process.exit(1));
if (command === 'start') await openDemo();
else await closed;
const seconds = elapsedSeconds();
const cpu = cpuSeconds();
if (command === 'start') process.kill(-child.pid);
const [status] = await closed;

const failures = [];
const atMost = (limit, value, unit) => {
  if (value > limit) failures.push(`${Math.round(value)} ${unit}, more than ${limit}`);
  return `${Math.round(value)} ${unit}`;
};
const packages = Object.entries(JSON.parse(read('node_modules/.package-lock.json')).packages).filter(
  ([, { link }]) => !link,
).length;
const megabytes = Number.parseInt(execFileSync('du', ['-sm', join(clone, 'node_modules')], { encoding: 'utf8' }), 10);
const figures = [
  atMost(SECONDS[command] * MAX_SLOWER, seconds, 'seconds'),
  `${Math.round(cpu)} seconds of CPU`,
  atMost(MAX_PACKAGES, packages, 'packages'),
  atMost(MAX_MEGABYTES, megabytes, 'MB'),
];
console.log(`\nnpm ${command} in a new clone: ${figures.join(', ')}`);
if (command === 'test' && status !== 0) failures.push(`exit code ${status}`);
if (/"level":"(?:error|fatal)"/.test(output)) failures.push('an error was logged');
if (existsSync(join(folder, 'compilers.log'))) failures.push(`compilers were called: ${read('../compilers.log')}`);
for (const failure of failures) console.error(`npm ${command}: ${failure}`);
process.exitCode = failures.length > 0 ? 1 : 0;

/** Returns a PATH on which each compiler notes its name and fails. */
function withoutCompilers() {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const name of COMPILERS) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} >>'${folder}/compilers.log'\nexit 1\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return `${bin}${delimiter}${process.env.PATH}`;
}

/** Waits until the demo lets somebody log in. */
async function openDemo() {
  for (let page = ''; !page.includes('Hamlet'); await new Promise((resolve) => setTimeout(resolve, 200))) {
    if (child.exitCode !== null || elapsedSeconds() > SECONDS.start * MAX_SLOWER * 2)
      throw new Error('No demo is served.');
    page = await fetch(DEMO).then(
      (response) => response.text(),
      () => '',
    );
  }
}

function elapsedSeconds() {
  return (Date.now() - startedAt) / 1000;
}

/** CPU time of ended child processes and of the running command with its children; NaN on systems other than Linux. */
function cpuSeconds() {
  if (process.platform !== 'linux') return Number.NaN;
  const fieldsOf = (pid) => {
    try {
      return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ').map(Number);
    } catch {
      // The process has ended.
      return [];
    }
  };
  const sum = (fields, from) => fields.slice(from, 15).reduce((total, ticks) => total + ticks, 0);
  const running = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(fieldsOf)
    .filter(([, , group]) => group === child.pid);
  return [sum(fieldsOf('self'), 13), ...running.map((fields) => sum(fields, 11))].reduce((a, b) => a + b) / 100;
}

function read(file) {
  return readFileSync(join(clone, file), 'utf8');
}
