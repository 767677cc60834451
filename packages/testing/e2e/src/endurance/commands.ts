import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Commands that are left out, with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  '.ci/run': 'begins with the commands of new clones itself',
  'npm run endurance': 'runs this list',
  'npm run release': 'release.test.ts runs it',
  'npm run release:artifacts': 'needs the tag of a release',
};
/** Shorter forms of commands that would take hours, and commands with the arguments that they need. */
const SHORT_FORMS: Readonly<Record<string, string>> = {
  'npm run bench': 'npm run bench -- cpu',
  'npm run cluster': 'npm run cluster -- 0.5',
  'npm run faults': 'PARLEY_FAULTS=messages/file-access npm run faults',
  'npm run faults:random': 'npm run faults:random -- --seed 1 --count 0',
  'npm run postgres:suites':
    'export PARLEY_STATEMENTS=$(mktemp -d); npm run test:postgres -- messages/holds && npm run postgres:suites -- $PARLEY_STATEMENTS --check',
  'npm run record': 'npm run record -- --out $(mktemp)',
  'npm run simulate:planted': 'npm run simulate:planted -- --only role',
  'npm run test:web': 'npm run test:web -- gallery.test.ts',
};
/** Commands that end only when they are stopped. They work once they print their address. */
const SERVERS = ['npm start', 'npm run docs', 'npm run gallery'];
const ADDRESS = /http:\/\/(localhost|127\.0\.0\.1):\d+/;
/** Lines of shell code that belong to the repository; others belong to applications and servers. */
const COMMAND = /^(?:npm (?:start|test|run [\w:]+)|\.ci\/run)\b/;
const MAX_MS = 60 * 60_000;

/** Returns each script of the repository and each command of its documents, without what follows the name. */
export function commandsOf(root: string): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly scripts: object };
  const ofScripts = Object.keys(scripts).map((name) =>
    /^(start|test)$/.test(name) ? `npm ${name}` : `npm run ${name}`,
  );
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !/^(adr|contract)/.test(path))
    .map((path) => join('docs', path));
  const ofDocuments = ['README.md', ...pages].flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```/gm)]
      .flatMap(([, code = '']) => code.split(/\n|&&/))
      .flatMap((line) => COMMAND.exec(line.trim())?.[0] ?? []),
  );
  return [...new Set([...ofScripts, ...ofDocuments])].sort();
}

/** Runs each command alone in a new clone of the last commit. Returns the number of commands that failed. */
export async function runCommands(root: string): Promise<number> {
  const failed: string[] = [];
  for (const command of commandsOf(root)) {
    const reason = LEFT_OUT[command];
    if (reason !== undefined) console.log(`${command} is left out: ${reason}`);
    else if (!(await worksAlone(root, command))) failed.push(command);
  }
  if (failed.length > 0) console.log(`These commands fail in a new clone: ${failed.join(', ')}`);
  return failed.length;
}

async function worksAlone(root: string, command: string): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-command-'));
  const clone = join(folder, 'parley');
  execFileSync('git', ['clone', '--quiet', root, clone]);
  const line = SHORT_FORMS[command] ?? command;
  const isServer = SERVERS.includes(command);
  const startedAt = Date.now();
  const child = spawn('sh', ['-c', line], { cwd: clone, detached: true });
  const stop = () => process.kill(-child.pid!, 'SIGTERM');
  const timeout = setTimeout(stop, MAX_MS);
  let output = '';
  let hasAddress = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-10_000);
      if (!isServer || hasAddress || !ADDRESS.test(output)) return;
      hasAddress = true;
      stop();
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timeout);
  const isRight = isServer ? hasAddress : code === 0;
  console.log(`${line}: ${isRight ? 'works' : 'fails'} (${Math.round((Date.now() - startedAt) / 1000)} s)`);
  if (!isRight) console.log(output);
  rmSync(folder, { recursive: true, force: true });
  return isRight;
}
