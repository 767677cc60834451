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
/** Longest shutdown with a waiting poll and an open stream. */
const STOP_MS = 2000;
const NEST_ON_FASTIFY = 'nest on fastify';

/**
 * Runs the named templates of create-parley with the packed file; without names all, NestJS on Fastify too. Returns the number
 * that failed.
 */
export async function runFrameworks(root: string, names: readonly string[] = []): Promise<number> {
  execFileSync('npm', ['run', '--silent', 'pack'], { cwd: root, stdio: 'ignore' });
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const tarball = join(root, `packages/parley/dist/parley-${version}.tgz`);
  const program = join(root, 'packages/create-parley/dist/main.js');
  const help = execFileSync(process.execPath, [program, '--help'], { encoding: 'utf8' });
  const all = [.../--template NAME {2}([^;]+);/.exec(help)![1]!.split(', '), NEST_ON_FASTIFY];
  const templates = names.length > 0 ? names : all;
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
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.pipe(process.stdout, { end: false });
    stream.on('data', (chunk) => {
      output += String(chunk);
    });
  }
  try {
    await started(url, child);
    await useChat(url);
    // The log of a build that has left files out.
    assert.doesNotMatch(output, /of Parley is missing/);
    const cookie = await logIn(url, 'Ann');
    const waiting = await register(url, cookie);
    const poll = fetch(`${url}/chat/api/v1/events?${waiting}`, { headers: { cookie } }).then((it) => it.text(), String);
    const stream = (await openStream(url, cookie)).text().catch(String);
    await sleep(500);
    const startedAt = performance.now();
    // npm ends before the application, which has the same streams.
    const ended = once(child, 'close');
    process.kill(-child.pid!, 'SIGTERM');
    const isInTime = await Promise.race([ended.then(() => true), sleep(STOP_MS).then(() => false)]);
    assert(isInTime, `it does not end within ${STOP_MS} ms`);
    await Promise.all([poll, stream]);
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
  const opened = await fetch(`${url}/chat`, { headers: { cookie: ann } });
  const page = await opened.text();
  // The page of a server without web client has no such element.
  assert.match(page, /<div id="parley"/);
  for (const script of [/<script[^>]* src="([^"]+)"/.exec(page)![1]!, `${url}/chat/web/element.js`]) {
    const { status, headers } = await fetch(new URL(script, opened.url));
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/javascript; charset=utf-8'], script);
  }
  assert.equal((await json(await fetch(`${api}/users/me`, { headers: { cookie: ann } }))).is_owner, true);

  const queue = await register(url, ann);
  const poll = fetch(`${api}/events?${queue}`, { headers: { cookie: ann } });
  const stream = (await openStream(url, ann)).body!.pipeThrough(new TextDecoderStream()).getReader();
  await sleep(200);
  const body = new URLSearchParams({ type: 'channel', to: '"general"', topic: 'x', content: 'Hello' });
  assert.equal((await post(`${api}/messages`, bob, body)).status, 200);
  assert.equal((await json(await poll)).events[0]!.message.content.includes('Hello'), true);
  let streamed = '';
  while (!streamed.includes('Hello')) {
    const { value, done } = await stream.read();
    assert(!done, 'the stream ends without the message');
    streamed += value;
  }
  await stream.cancel();

  const content = new Uint8Array(3_000_000).fill(7);
  const form = new FormData();
  form.append('file', new Blob([content]), 'large.bin');
  const { url: file } = await json(await post(`${api}/user_uploads`, ann, form));
  const { url: temporary } = await json(await fetch(`${api}${file}`, { headers: { cookie: ann } }));
  const download = await fetch(`${url}/chat${temporary.replace(/^\/chat\//, '/')}`);
  assert(Buffer.from(content).equals(Buffer.from(await download.arrayBuffer())), 'the download differs');
}

async function openStream(url: string, cookie: string): Promise<Response> {
  const response = await fetch(`${url}/chat/api/v1/events/stream?${await register(url, cookie)}`, {
    headers: { cookie },
  });
  assert.equal(response.status, 200);
  return response;
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
