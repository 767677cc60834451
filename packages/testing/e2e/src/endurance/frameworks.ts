import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Time for the build and the start of an application. */
const START_MS = 5 * 60_000;
/** Longest shutdown with a waiting poll; containers are killed after ten seconds. */
const STOP_MS = 8000;
const NEST_ON_FASTIFY = 'nest on fastify';

/** Runs the templates of create-parley with the packed file, NestJS on Fastify too. Returns the number that failed. */
export async function runFrameworks(root: string): Promise<number> {
  execFileSync('npm', ['run', '--silent', 'pack'], { cwd: root, stdio: 'ignore' });
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const tarball = join(root, `packages/parley/dist/parley-${version}.tgz`);
  const program = join(root, 'packages/create-parley/dist/main.js');
  const help = execFileSync(process.execPath, [program, '--help'], { encoding: 'utf8' });
  const templates = [.../--template NAME {2}([^;]+);/.exec(help)![1]!.split(', '), NEST_ON_FASTIFY];
  let failed = 0;
  for (const template of templates) {
    const folder = mkdtempSync(join(tmpdir(), `parley-${template.replaceAll(' ', '-')}-`));
    try {
      const isOnFastify = template === NEST_ON_FASTIFY;
      const written = isOnFastify ? 'nest' : template;
      execFileSync(process.execPath, [program, folder, `--template=${written}`, `--parley=${tarball}`]);
      if (isOnFastify) useFastify(join(folder, 'main.ts'));
      const added = isOnFastify ? ['@nestjs/platform-fastify@11'] : [];
      execFileSync('npm', ['install', ...added, '--no-audit', '--no-fund', '--loglevel=error'], {
        cwd: folder,
        stdio: 'inherit',
      });
      console.log(`${template}: works, stops within ${await tryApplication(folder)} ms`);
    } catch (error) {
      failed++;
      console.error(`${template}: fails`, error);
    }
    rmSync(folder, { recursive: true, force: true });
  }
  return failed;
}

/** Changes the line that frameworks.md changes. */
function useFastify(path: string): void {
  const source = readFileSync(path, 'utf8').replace(
    'NestFactory.create(AppModule)',
    'NestFactory.create(AppModule, new FastifyAdapter())',
  );
  writeFileSync(path, `import { FastifyAdapter } from '@nestjs/platform-fastify';\n${source}`);
}

/** Returns the duration of the shutdown. @throws Error if anything fails */
async function tryApplication(cwd: string): Promise<number> {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const env = { ...process.env, PORT: String(port) };
  const child = spawn('npm', ['start'], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.pipe(process.stdout);
  child.stderr.pipe(process.stderr);
  try {
    await started(url, child);
    await useChat(url);
    const cookie = await logIn(url, 'Ann');
    const waiting = await register(url, cookie);
    const poll = fetch(`${url}/chat/api/v1/events?${waiting}`, { headers: { cookie } }).then((it) => it.text(), String);
    await sleep(500);
    const startedAt = performance.now();
    // npm ends before the application, which has the same streams.
    const ended = once(child, 'close');
    process.kill(-child.pid!, 'SIGTERM');
    const isInTime = await Promise.race([ended.then(() => true), sleep(STOP_MS).then(() => false)]);
    assert(isInTime, `it does not end within ${STOP_MS} ms`);
    await poll;
    return Math.round(performance.now() - startedAt);
  } finally {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL');
  }
}

async function started(url: string, child: ChildProcess): Promise<void> {
  const endsAt = Date.now() + START_MS;
  while (
    !(await fetch(url).then(
      (it) => it.ok,
      () => false,
    ))
  ) {
    assert(child.exitCode === null, 'it ends at once');
    assert(Date.now() < endsAt, 'it does not start');
    await sleep(200);
  }
}

async function useChat(url: string): Promise<void> {
  const [ann, bob] = [await logIn(url, 'Ann'), await logIn(url, 'Bob')];
  const api = `${url}/chat/api/v1`;
  for (const path of ['/chat/', '/chat/web/element.js']) assert.equal((await fetch(url + path)).status, 200, path);
  assert.equal((await json(await fetch(`${api}/users/me`, { headers: { cookie: ann } }))).is_owner, true);

  const queue = await register(url, ann);
  const poll = fetch(`${api}/events?${queue}`, { headers: { cookie: ann } });
  await sleep(200);
  const body = new URLSearchParams({ type: 'channel', to: '"general"', topic: 'x', content: 'Hello' });
  assert.equal((await post(`${api}/messages`, bob, body)).status, 200);
  assert.equal((await json(await poll)).events[0]!.message.content.includes('Hello'), true);

  const content = new Uint8Array(3_000_000).fill(7);
  const form = new FormData();
  form.append('file', new Blob([content]), 'large.bin');
  const { url: file } = await json(await post(`${api}/user_uploads`, ann, form));
  const { url: temporary } = await json(await fetch(`${api}${file}`, { headers: { cookie: ann } }));
  const download = await fetch(`${url}/chat${temporary.replace(/^\/chat\//, '/')}`);
  assert.equal((await download.arrayBuffer()).byteLength, content.length);
}

/** Fields of all used responses. */
interface Reply {
  readonly result: string;
  readonly msg: string;
  readonly is_owner: boolean;
  readonly events: readonly { readonly message: { readonly content: string } }[];
  readonly url: string;
  readonly queue_id: string;
  readonly last_event_id: number;
}

const json = async (response: Response): Promise<Reply> => {
  const body = (await response.json()) as Reply;
  assert.equal(body.result, 'success', body.msg);
  return body;
};

const post = (url: string, cookie: string, body: URLSearchParams | FormData): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { cookie }, body, redirect: 'manual' });

async function logIn(url: string, name: string): Promise<string> {
  const response = await post(`${url}/log-in`, '', new URLSearchParams({ name }));
  assert.equal(response.status, 303);
  return response.headers.get('set-cookie')!.split(';')[0]!;
}

/** Returns the parameters of a poll. */
async function register(url: string, cookie: string): Promise<URLSearchParams> {
  const body = new URLSearchParams({ event_types: '["message"]' });
  const { queue_id, last_event_id } = await json(await post(`${url}/chat/api/v1/register`, cookie, body));
  return new URLSearchParams({ queue_id, last_event_id: String(last_event_id) });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
