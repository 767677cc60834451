import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@parley/testkit';
import { runParley } from '../testing/parley-process.js';
import { DOMAIN, isInstalled, PATH, type Program, RunningProxy } from '../testing/running-proxy.js';
import { TestOrganization } from '../testing/test-organization.js';
import { runPostfix } from './postfix.js';
import { CHAINS } from './programs.js';
import { CHECKS } from './proxy-checks.js';
import { runSuite } from './suites.js';

const USAGE = `Usage: npm run neighbours [-- PROGRAM …]

Runs the built server behind nginx, Caddy, HAProxy, Apache and Varnish with the samples of docs/deploy, and prints a table.
Then sends emails through Postfix, and runs the suites of buckets and databases with S3 servers and PgBouncer.
Programs that are not installed are skipped. Takes about two minutes per program. Exit code 1: a check failed.`;

const PASSWORD = 'alas, poor yorick 1601';
const FAILED = '**fails**';

/** Column of the table. */
interface Column {
  readonly title: string;
  readonly cells: readonly string[];
}

/** Runs all checks with one server behind proxies, from the outermost to the innermost. */
async function runBehind(chain: readonly Program[]): Promise<Column> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-neighbours-'));
  const organization = await TestOrganization.withOrganization();
  const proxies: RunningProxy[] = [];
  const cells: string[] = [];
  const title = chain.map(versionOf).join(', ');
  try {
    const args = ['user', 'create', 'ann@elsinore.example', 'Ann', '--role=owner', '--password-stdin'];
    const created = await runParley([...args, `--database=sqlite:${organization.database}`], PASSWORD);
    const [, id, apiKey] = /user (\d+)\nAPI key: (\w+)/.exec(created.out)!;
    const ann = { id: Number(id), email: 'ann@elsinore.example', fullName: 'Ann', apiKey: apiKey! };
    const nodePort = await freePort();
    const flags = [`--url=https://${DOMAIN}`, '--trust-proxy=127.0.0.1', '--log-level=info'];
    let server = await organization.serve(flags, `${nodePort}`);
    const ports = await Promise.all(chain.map(() => freePort()));
    for (const [index, program] of [...chain.entries()].reverse()) {
      const own = { folder, port: ports[index]!, httpPort: await freePort(), nodePort: ports[index + 1] ?? nodePort };
      proxies.unshift(await RunningProxy.start(program, { ...own, keepsTimeouts: true }, index === 0));
    }
    const scene = {
      ...{ proxy: proxies[0]!, port: ports[0]!, ann, password: PASSWORD },
      server: () => server,
      restart: async () => {
        await server.terminate();
        server = await organization.serve(flags, `${nodePort}`);
      },
      reload: () => proxies.at(-1)!.reload(),
    };
    for (const [name, check] of CHECKS) {
      const result = await check(scene).catch((error: Error) => {
        console.log(`${title}: ${name}: ${error.message}`);
        return FAILED;
      });
      console.log(`${title}: ${name}: ${result}`);
      cells.push(result);
    }
  } finally {
    for (const proxy of proxies) await proxy.end('SIGTERM');
    await organization.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return { title, cells };
}

function versionOf({ name }: Program): string {
  const argument = name === 'varnishd' ? '-V' : name === 'caddy' ? 'version' : '-v';
  const { stdout, stderr } = spawnSync(name, [argument], { encoding: 'utf8', env: { PATH } });
  return `${name} ${/\d+\.\d+\.\d+/.exec(stdout + stderr)?.[0]}`;
}

function tableOf(columns: readonly Column[]): string {
  const rows = [
    ['', ...columns.map(({ title }) => title)],
    ['---', ...columns.map(() => '---')],
    ...CHECKS.map(([name], index) => [name, ...columns.map(({ cells }) => cells[index]!)]),
  ];
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Returns the exit code. */
async function main(names: readonly string[]): Promise<number> {
  if (names.some((name) => name.startsWith('-'))) {
    console.log(USAGE);
    return 2;
  }
  const isNamed = (name: string) => names.length === 0 || names.includes(name);
  const columns: Column[] = [];
  const lines: string[] = [];
  for (const chain of CHAINS.filter((chain) => isNamed(chain.at(-1)!.name))) {
    const missing = chain.find((program) => !isInstalled(program));
    if (missing === undefined) columns.push(await runBehind(chain));
    else lines.push(`${chain.at(-1)!.name} was skipped: ${missing.name} is not installed`);
  }
  if (isNamed('postfix')) lines.push(...(await runPostfix()));
  for (const name of ['versitygw', 'minio', 'pgbouncer'].filter(isNamed)) lines.push(await runSuite(name));
  const all = [...(columns.length > 0 ? [tableOf(columns)] : []), ...lines].join('\n');
  console.log(`\n${all}`);
  return all.includes(FAILED) ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2));
