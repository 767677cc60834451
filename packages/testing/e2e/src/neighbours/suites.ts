import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort, until } from '@parley/testkit';
import { isInstalled, PATH } from '../testing/running-proxy.js';

const ROOT = resolve(import.meta.dirname, '../../../../..');
const JEST = createRequire(import.meta.url).resolve('jest/bin/jest');
const [KEY, SECRET] = ['parley', 'parley-secret'];
const BUCKETS = 'packages/adapters/blobs/src/s3-blob-store.test.ts';
const POOLERS = 'packages/adapters/postgres/src/engine/refusals.test.ts';

/** S3 servers on a folder with a bucket, with how to get them. */
const S3_SERVERS: Readonly<
  Record<string, { readonly module: string; readonly argsOf: (...at: string[]) => string[] }>
> = {
  versitygw: {
    module: 'github.com/versity/versitygw/cmd/versitygw@latest',
    argsOf: (address, folder) => ['--port', address!, '--quiet', 'posix', folder!],
  },
  minio: {
    module: 'github.com/minio/minio@latest',
    argsOf: (address, folder) => ['server', '--quiet', '--address', address!, folder!],
  },
};

/** Runs existing suites with a real S3 server or PgBouncer. Returns a line. */
export async function runSuite(name: string): Promise<string> {
  const server = S3_SERVERS[name];
  const source = server === undefined ? `apt-get install ${name}` : `go install ${server.module}`;
  if (!isInstalled({ name })) return `${name} was skipped: it is not installed (${source})`;
  if (server === undefined) return `${name}: ${summaryOf('postgres', POOLERS, ['-t', 'PgBouncer'])}`;
  const folder = mkdtempSync(join(tmpdir(), 'parley-s3-'));
  const address = `127.0.0.1:${await freePort()}`;
  const environment = {
    ROOT_ACCESS_KEY: KEY,
    ROOT_SECRET_KEY: SECRET,
    MINIO_ROOT_USER: KEY,
    MINIO_ROOT_PASSWORD: SECRET,
  };
  mkdirSync(join(folder, 'parley'));
  const child = spawn(name, server.argsOf(address, folder), {
    env: { ...environment, PATH, HOME: folder },
    stdio: 'ignore',
  });
  try {
    await until(() =>
      fetch(`http://${address}/`).then(
        () => true,
        () => false,
      ),
    );
    return `${name}: ${summaryOf('memory', BUCKETS, [], { PARLEY_S3: `http://${KEY}:${SECRET}@${address}` })}`;
  } finally {
    child.kill();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Returns Jest's summary, which names failed tests. */
function summaryOf(project: string, path: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  // The path comes first, since --selectProjects takes all names after it.
  const all = [JEST, path, '--forceExit', '--rootDir=.', `--selectProjects=${project}`, ...args];
  const { status, stderr } = spawnSync(process.execPath, all, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  const summary = /^Tests: +(.*)$/m.exec(stderr)?.[1];
  return status === 0 ? `${path}: ${summary}` : `**fails**: ${stderr.slice(-3000)}`;
}
