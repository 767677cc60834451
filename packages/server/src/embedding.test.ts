import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const root = resolve(__dirname, '../../..');

jest.setTimeout(60_000);

/** The example of docs/embedding.md, as somebody who copied it would run it: on the built packages. */
describe('the embedding example', () => {
  let directory: string;
  let app: ChildProcess;
  let errors = '';
  let url: string;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'parley-embedding-'));
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
    writeFileSync(join(directory, 'app.mjs'), exampleOf(readFileSync(join(root, 'docs/embedding.md'), 'utf8')));
    const port = await freePort();
    url = `http://localhost:${port}`;
    app = spawn(process.execPath, ['app.mjs'], { cwd: directory, env: { ...process.env, PORT: String(port) } });
    app.stderr!.on('data', (chunk) => {
      errors += chunk;
    });
    const [line] = await Promise.race([
      once(createInterface(app.stdout!), 'line'),
      once(app, 'exit').then(() => [errors]),
    ]);
    expect(line).toBe(`${url}/chat`);
  });

  afterAll(() => {
    app.kill('SIGKILL');
    rmSync(directory, { recursive: true });
  });

  async function post(path: string, body: object): Promise<Response> {
    return fetch(url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  /** Signs up with the shop and logs in there; answers how to call the chat with nothing but the shop's cookie. */
  async function customer(name: string) {
    const { chatUserId } = await (await post('/sign-up', { name, password: 'secret' })).json();
    const cookie = (await post('/log-in', { name, password: 'secret' })).headers.get('set-cookie')!.split(';')[0]!;
    const chat = async (method: string, path: string, params: Record<string, string> = {}) => {
      const form = new URLSearchParams(params);
      const isGet = method === 'GET';
      const reply = await fetch(`${url}/chat/api/v1${path}${isGet ? `?${form}` : ''}`, {
        method,
        headers: { cookie },
        ...(!isGet && { body: form }),
      });
      return { status: reply.status, body: await reply.json() };
    };
    return { chatUserId, chat };
  }

  it('lets its own users chat by its own log-in', async () => {
    const ann = await customer('Ann');
    const bob = await customer('Bob');
    expect((await ann.chat('GET', '/users/me')).body).toMatchObject({ user_id: ann.chatUserId, full_name: 'Ann' });

    const welcome = { anchor: 'newest', num_before: '1', num_after: '0', apply_markdown: 'true' };
    const { messages } = (await ann.chat('GET', '/messages', welcome)).body;
    expect(messages[0]).toMatchObject({
      sender_full_name: 'Shopkeeper',
      content: '<p>Welcome, <strong>Ann</strong>!</p>',
    });

    const { queue_id } = (await bob.chat('POST', '/register', { event_types: '["message"]' })).body;
    const waiting = bob.chat('GET', '/events', { queue_id, last_event_id: '-1' });
    const sent = await ann.chat('POST', '/messages', {
      type: 'direct',
      to: JSON.stringify([bob.chatUserId]),
      content: 'Is the shop open?',
    });
    expect(sent.status).toBe(200);
    expect((await waiting).body.events).toMatchObject([
      { type: 'message', message: { id: sent.body.id, content: 'Is the shop open?', sender_id: ann.chatUserId } },
    ]);
  });

  it('tells clients where it is mounted', async () => {
    const reply = await fetch(`${url}/chat/api/v1/server_settings`);
    expect(await reply.json()).toMatchObject({ realm_url: `${url}/chat`, realm_name: 'The Shop' });
  });

  it('refuses callers without credentials; the rest of the application answers as before', async () => {
    expect((await fetch(`${url}/chat/api/v1/users/me`)).status).toBe(401);
    expect((await post('/log-in', { name: 'Ann', password: 'guess' })).status).toBe(401);
    expect((await fetch(`${url}/elsewhere`)).status).toBe(404);
  });

  it('ends when it is told to', async () => {
    app.kill('SIGTERM');
    const [code] = await once(app, 'exit');
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
  });
});

function exampleOf(markdown: string): string {
  const block = /```js\n([\s\S]*?)```/.exec(markdown);
  if (!block) throw new Error('docs/embedding.md has no example');
  return block[1]!;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
