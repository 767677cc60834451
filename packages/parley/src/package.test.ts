import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { until } from '@parley/testkit';
import { Application, type RunningApplication, root } from './fixtures/application.js';
import { blocksOf, CODE_DOCUMENTS } from './fixtures/documents.js';

const APP = `
import { createServer } from 'node:http';
import { type Chat, createParley, DomainError, errorHandler, refuse } from 'parley';
import { SendMessage } from 'parley/domain/writing';
import { createTestParley } from 'parley/testing';

const parley = await createTestParley();
const { as } = await parley.populate({ users: { ann: 'owner', bob: 'member' }, channels: ['orders'] });
const ann: Chat = as('ann');
parley.before('message.send', async ({ content }) => {
  if (content === 'bad') throw refuse('No.');
});
const heard = new Promise<string>((resolve) => {
  const off = parley.on('message.sent', ({ realm, message }) => { off(); resolve(realm + ' ' + message.sender.externalId); });
});
await ann.messages.send({ channel: 'orders', topic: '#7', content: 'Paid **now** $$x$$' });
for await (const message of as('bob').messages.list({ channel: 'orders', topic: '#7', last: 20 })) console.log(message.html.slice(0, 32));
await parley.useCase(SendMessage).execute(await ann.caller(), {
  to: { kind: 'channelName', name: 'orders' }, topic: 'x', content: 'c', isReadBySender: true, echo: null,
});
for (const attempt of [() => as('bob').messages.get(999), () => ann.messages.send({ to: 'bob', content: 'bad' })]) {
  await attempt().catch((error: unknown) => console.log(error instanceof DomainError && error.code + ' ' + error.status));
}
console.log(await heard);
await parley.close();

const real = await createParley({ database: 'sqlite:data/chat.db', url: 'https://example.com/chat' });
console.log((await real.realms.ensure({ name: 's' })).url);
createServer(real.handler).close();
const middleware: (error: unknown, ...more: never) => void = errorHandler();
await real.close();
console.log(typeof middleware);
`;

const COMMON_JS = `
import parley = require('parley');
async function main(): Promise<void> {
  const engine = await parley.createParley({ database: 'sqlite:data/chat.db', url: 'http://localhost' });
  console.log('CommonJS', (await engine.realms.list()).map(({ name }) => name).join());
  await engine.close();
}
void main();
`;

const PAGE = `
import { type EventOf, type Message, ParleyClient, ParleyError } from 'parley/client';

export async function follow(signal: AbortSignal): Promise<void> {
  const client = new ParleyClient({ url: '/chat', credentials: 'session' });
  const { id } = await client.post('/messages', { type: 'channel', to: 'orders', topic: '7', content: 'Paid' });
  const { messages } = await client.get('/messages', { anchor: 'newest', num_before: 20, num_after: 0 });
  const contents: string[] = messages.map((message: Message) => message.content);
  // @ts-expect-error: the channel is missing.
  await client.get('/streams/{stream_id}');
  for await (const event of client.events({ event_types: ['message'] }, { signal })) {
    if (event.type === 'registered') console.log(event.state.queue_id, id, contents);
    else if (event.type === 'message') console.log(event.message.content, event.flags.includes('mentioned'));
    else if (event.type === 'delete_message') console.log(event.message_ids.length);
    else if (event.type === 'reaction') describe(event);
    else if (event.type === 'user_settings' && event.property === 'twenty_four_hour_time') console.log(!event.value);
    // @ts-expect-error: what is not a type of event.
    else if (event.type === 'pigeon') console.log(event);
  }
}
const describe = ({ op, emoji_name }: EventOf<'reaction'>): void => console.log(op === 'add', emoji_name.length);
export const isMissing = (error: unknown): boolean => error instanceof ParleyError && error.status === 404;
`;

const STATE = `
import { Chat, type ConversationView, narrowOf } from 'parley/chat';
import { ParleyClient } from 'parley/client';

export function show(list: HTMLElement): () => void {
  const chat = new Chat({ gateway: new ParleyClient({ url: '/chat', credentials: 'host' }) });
  void chat.run();
  const view: ConversationView = chat.open(narrowOf({ kind: 'channel', channelId: 1, topic: 'Order 7' }));
  view.keys.subscribe((keys) => {
    list.replaceChildren(...keys.map((key) => chat.message(key).peek()?.sender.name ?? ''));
  });
  // @ts-expect-error: what is not a part of a message.
  console.log(chat.message('1').peek()?.pigeon);
  return () => chat.stop();
}
`;

const ELEMENT = `
import type {} from 'parley/web/element-react';
import type {} from 'parley/web/element-vue';
import type { GlobalComponents } from 'vue';

const element = document.createElement('parley-chat');
element.texts = { Send: 'Go' };
element.addEventListener('parley-unread', ({ detail }) => console.log(detail.count + 1));
element.addEventListener('click', ({ clientX }) => console.log(clientX));
// @ts-expect-error: a pigeon is not a detail.
element.addEventListener('parley-sent', ({ detail }) => console.log(detail.pigeon));
export const react = (
  <parley-chat channel="orders" view="button" theme="dark high-contrast" onparley-sent={({ detail }) => detail.content} />
);
// @ts-expect-error: there is no such view.
export const wrong = <parley-chat view="pigeon" />;
type VueProps = InstanceType<GlobalComponents['parley-chat']>['$props'];
export const vue: VueProps = { channel: 3, onParleyPerson: ({ detail }) => console.log(detail.userId + 1) };
`;

/** Names that code of documents uses from earlier steps. */
const GIVEN = `
import type { Chat, Parley } from 'parley';
import type { Application } from 'express';
declare global {
  const parley: Parley;
  const sam: Chat;
  const realm: string;
  const app: Application;
  const DomainError: typeof import('parley').DomainError;
}
`;

/** Errors about names and modules of the reader's application, of which `name` is also one of pages. */
const OF_THE_READER = /error TS(2304|2307|2552|18004):|Type 'void' is not assignable to type 'string'/;

const OPTIONS = { target: 'es2022', strict: true, skipLibCheck: false, exactOptionalPropertyTypes: true };

const WELCOME = { anchor: 'newest', num_before: '1', num_after: '0', apply_markdown: 'true' };

let app: Application;
beforeAll(async () => {
  app = await Application.make([
    '@types/better-sqlite3',
    '@types/express',
    '@types/node',
    '@types/react',
    '@types/react-dom',
    'express',
    'fastify',
    'react',
    'react-dom',
    'vue',
  ]);
});
afterAll(() => app.remove());

/** Bytes of the files in a folder. */
const sizeOf = (directory: string): number =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(directory, name)))
    .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0);

describe('npm package', () => {
  beforeAll(() => {
    app.write('consumer/app.ts', APP);
    app.write('consumer/common.cts', COMMON_JS);
    const config = (compilerOptions: object, include: readonly string[]) =>
      JSON.stringify({ compilerOptions: { ...OPTIONS, ...compilerOptions }, include });
    app.write('consumer/tsconfig.json', config({ module: 'nodenext', outDir: 'out' }, ['*.ts', '*.cts']));
    app.write(
      'consumer/tsconfig.bundler.json',
      config({ module: 'esnext', moduleResolution: 'bundler', noEmit: true }, ['*.ts']),
    );
  });

  it('contains only code, types, documentation, texts and licences', () => {
    const contents = ['LICENSE', 'LICENSES-OF-LIBRARIES.txt', 'README.md', 'dist', 'docs', 'package.json', 'texts'];
    expect(readdirSync(app.installed()).sort()).toEqual(contents);
    const files = readdirSync(app.installed('dist'), { recursive: true, encoding: 'utf8', withFileTypes: true })
      // The web client has style sheets and fonts as well.
      .filter((entry) => entry.isFile() && !/\/dist\/(web|components)$|\/dist\/web\//.test(entry.parentPath))
      .map(({ name }) => name);
    expect(files.filter((name) => !/\.(js|d\.ts)$/.test(name) || /\.(test|contract)\./.test(name))).toEqual([]);
    const { manifest } = app;
    const withoutTypes = Object.entries(manifest.exports).filter(([, target]) => typeof target === 'string');
    expect(withoutTypes.map(([name]) => name)).toEqual(['./web/style.css', './package.json']);
    expect(manifest).toMatchObject({ name: 'parley', license: 'Apache-2.0', engines: { node: '>=20.19' } });
    expect(Object.keys(manifest.dependencies).filter((name) => /^@parley|jest|fast-check/.test(name))).toEqual([]);
  });

  it('depends on at most 113 MB, without Redis and telephone number libraries', () => {
    const needed = app.dependencies();
    expect(needed.map(({ name }) => name)).toContain('better-sqlite3');
    expect(needed.map(({ name }) => name).filter((name) => /redis|phone|aws|heif/.test(name))).toEqual([]);
    const bytes = needed.reduce((sum, { directory }) => sum + sizeOf(directory), sizeOf(app.installed()));
    expect(bytes).toBeLessThan(113e6);
  });

  it('includes licences of bundled libraries, and documents with valid links', () => {
    expect(readFileSync(app.installed('LICENSES-OF-LIBRARIES.txt'), 'utf8')).toMatch(/^class-validator \d/m);
    const pages = [
      'README.md',
      ...['embedding', 'client', 'errors', 'operating', 'limits'].map((it) => `docs/${it}.md`),
    ];
    const dead = pages.flatMap((page) =>
      [...readFileSync(app.installed(page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
        .map(([, link]) => join(dirname(page), link!))
        .filter((path) => !existsSync(app.installed(path))),
    );
    expect(dead).toEqual([]);
  });

  it('compiles with nodenext and bundler including declarations and runs from ESM and CommonJS', async () => {
    expect(await app.compile('consumer/tsconfig.json')).toBe('');
    expect(await app.compile('consumer/tsconfig.bundler.json')).toBe('');
    const { stdout, stderr } = await app.node('consumer/out/app.js');
    expect(stdout.split('\n')).toEqual([
      '<p>Paid <strong>now</strong> <sp',
      'UNKNOWN_MESSAGE 404',
      'MESSAGE_REFUSED 403',
      'test ann',
      'https://example.com/chat',
      'function',
      '',
    ]);
    expect(stderr).toBe('');
    const common = await app.node('consumer/out/common.cjs');
    expect(common).toEqual({ stdout: 'CommonJS s\n', stderr: expect.not.stringContaining('Error') });
  });

  it('contains a client without imports that compiles with browser types only', async () => {
    app.write('page/page.ts', PAGE);
    const compilerOptions = { ...OPTIONS, module: 'esnext', moduleResolution: 'bundler', noEmit: true };
    const lib = ['es2022', 'dom'];
    app.write('page/tsconfig.json', JSON.stringify({ compilerOptions: { ...compilerOptions, lib, types: [] } }));
    expect(await app.compile('page/tsconfig.json')).toBe('');
    expect(readFileSync(app.installed('dist/client.js'), 'utf8')).not.toMatch(/^import |require\(/m);
    app.write('client.mjs', "import { ParleyClient } from 'parley/client'; console.log(typeof ParleyClient.logIn);");
    expect((await app.node('client.mjs')).stdout).toBe('function\n');
  });

  it('contains chat state and typed React components for pages with React', async () => {
    app.copyFrom(join(root, 'docs/examples'));
    app.write('page/state.ts', STATE);
    app.write('page/element.tsx', ELEMENT);
    const lib = ['es2022', 'dom', 'dom.iterable'];
    const compilerOptions = {
      ...OPTIONS,
      module: 'esnext',
      moduleResolution: 'bundler',
      jsx: 'react-jsx',
      noEmit: true,
    };
    const files = [
      'react.tsx',
      'custom-look.tsx',
      'element-react.tsx',
      'page/state.ts',
      'page/element.tsx',
      'styles.d.ts',
    ];
    app.write('styles.d.ts', "declare module '*.css';");
    app.write(
      'tsconfig.react.json',
      JSON.stringify({ compilerOptions: { ...compilerOptions, lib, types: [] }, files }),
    );
    expect(await app.compile('tsconfig.react.json')).toBe('');
    expect(app.manifest).toMatchObject({ peerDependenciesMeta: { react: { optional: true } } });
    app.write(
      'state.mjs',
      "import { Chat, MemoryTabs } from 'parley/chat'; console.log(typeof Chat, typeof MemoryTabs);",
    );
    expect((await app.node('state.mjs')).stdout).toBe('function function\n');
  });

  it.each(['element', 'element-vue'])('declares %s without types of React', async (entry) => {
    const lib = ['es2022', 'dom'];
    const compilerOptions = { ...OPTIONS, module: 'esnext', moduleResolution: 'bundler', lib, types: [], noEmit: true };
    app.write(`${entry}/page.ts`, `import type { ParleyChatElement } from 'parley/web/${entry}';\nexport {};\n`);
    // An import of a file that is not a module is an error.
    app.write('no-module.d.ts', '');
    const paths = { react: ['../no-module.d.ts'] };
    app.write(`${entry}/tsconfig.json`, JSON.stringify({ compilerOptions: { ...compilerOptions, paths } }));
    expect(await app.compile(`${entry}/tsconfig.json`)).toBe('');
  });

  it('names types where TypeScript does not read exports', () => {
    const { exports, types, typesVersions } = app.manifest;
    const typesOf = Object.fromEntries(
      Object.entries(exports).flatMap(([path, target]) =>
        typeof target === 'string' ? [] : [[path, (target as { readonly types: string }).types]],
      ),
    );
    const paths = Object.entries(typesVersions['*']!).map(([path, [file]]) => [`./${path}`, file]);
    expect({ '.': types, ...Object.fromEntries(paths) }).toEqual(typesOf);
  });

  it('runs in Jest with fake timers, which do not stop it', async () => {
    app.write(
      'jest/chat.test.js',
      `import { jest } from '@jest/globals';
      it('sends', async () => {
        const { createParley } = await import('parley');
        const { createTestParley } = await import('parley/testing');
        jest.useFakeTimers();
        for (const parley of [await createParley({ database: 'sqlite:chat.db', url: 'http://localhost' }), await createTestParley()]) {
          await parley.realms.ensure({ name: 's' });
          await parley.users.upsert({ realm: 's', externalId: 'ann', name: 'Ann', role: 'owner' });
          const ann = parley.as({ realm: 's', externalId: 'ann' });
          await ann.channels.ensure({ name: 'orders' });
          await Promise.all(['a', 'b', 'c'].map((content) => ann.messages.send({ channel: 'orders', topic: 't', content })));
          await parley.close();
        }
      }, 30_000);`,
    );
    const jest = join(root, 'node_modules/jest/bin/jest.js');
    const { stderr } = await app.node('--experimental-vm-modules', jest, '--config={"transform":{}}', '--rootDir=jest');
    expect(stderr).toContain('1 passed');
  });

  it('lists the files that it opens by name for tools that copy traced files', async () => {
    app.write(
      'files.mjs',
      `import { existsSync } from 'node:fs';
      import { files } from './node_modules/parley/dist/loaded-by-name.js';
      console.log(files.map((file) => existsSync(file) && file.pathname.split('/').at(-1)).join());`,
    );
    expect((await app.node('files.mjs')).stdout).toBe('web,texts,image-child.js,thread.js,mail-thread.js\n');
  });

  it('rejects a setting with a missing optional library and names the install command', async () => {
    expect(app.manifest).toMatchObject({
      peerDependencies: { '@aws-sdk/client-s3': expect.any(String), 'libheif-js': expect.any(String) },
      peerDependenciesMeta: { '@aws-sdk/client-s3': { optional: true }, 'libheif-js': { optional: true } },
    });
    app.write(
      'bucket.mjs',
      `import { createParley } from 'parley';
      import { existsSync } from 'node:fs';
      const open = createParley({ database: 'sqlite:bucket/chat.db', url: 'http://localhost', files: 's3:bucket/?endpoint=http://localhost:1&region=x' });
      await open.catch((error) => console.log(error.message, existsSync('bucket')));`,
    );
    const refusal =
      'files: s3 needs a library that is not installed. Run: npm install @aws-sdk/client-s3 @aws-sdk/lib-storage';
    expect((await app.node('bucket.mjs')).stdout).toBe(`${refusal} false\n`);
  });

  it('loads the simulation only when it is used', () => {
    const imported = new Set<string>();
    const read = (file: string): void => {
      if (imported.has(file)) return;
      imported.add(file);
      const text = readFileSync(app.installed('dist', file), 'utf8');
      for (const [, next] of text.matchAll(/^(?:import|export)\b[^;'"]*"\.\/([^"]+)"/gm)) read(next!);
    };
    for (const entry of ['main.js', 'index.js', 'testing.js']) read(entry);
    expect(imported.size).toBeGreaterThan(10);
    expect([...imported]).not.toContain('simulation.js');
    expect(statSync(app.installed('dist/simulation.js')).size).toBeLessThan(176_000);
  });

  it('contains the command line', async () => {
    const { stdout } = await app.node(app.installed('dist/main.js'), '--help');
    expect(stdout).toContain('parley serve');
    expect(stdout).toContain('parley simulate');
    const played = await app.node(app.installed('dist/main.js'), 'simulate', '--seed=1', '--people=2', '--until=3');
    expect(played.stdout).toContain('Every invariant held after each of 3 steps.');
    // Runs while the application that created the database is running.
    const realms = await app.node(app.installed('dist/main.js'), 'realm', 'list', '--database=sqlite:data/chat.db');
    expect(realms.stdout).toMatch(/^'s'\t/);
  });
});

/** Runs the programs of docs/examples as a user would. */
describe('example', () => {
  it('is quoted verbatim in the documents', () => {
    const blocks = blocksOf('docs/embedding-reference.md', 'ts');
    expect(blocksOf('docs/embedding.md', 'ts')).toEqual([readFileSync(join(root, 'docs/examples/express.ts'), 'utf8')]);
    const ofMailer = blocks.find((block) => block.includes('class HttpMailer'))!.split('\n\n');
    const mailer = readFileSync(join(root, 'docs/examples/mailer.ts'), 'utf8');
    expect(ofMailer.filter((paragraph) => !mailer.includes(paragraph))).toEqual([]);
    const outbox = readFileSync(join(root, 'docs/examples/outbox.ts'), 'utf8');
    const ofOutbox = blocks.filter((block) => /^\/\/ \d\. /.test(block));
    expect(ofOutbox.length).toBe(2);
    const simulation = readFileSync(join(root, 'docs/examples/simulation.test.ts'), 'utf8');
    expect(blocksOf('docs/simulation.md', 'ts')).toEqual([simulation]);
    expect(ofOutbox.flatMap((block) => block.split('\n\n')).filter((paragraph) => !outbox.includes(paragraph))).toEqual(
      [],
    );
  });

  it('compiles as TypeScript in every document, except for names that the reader has to define', async () => {
    const blocks = CODE_DOCUMENTS.flatMap((path) => blocksOf(path, 'ts', 'tsx', 'js').map((code) => ({ path, code })));
    expect(blocks.length).toBeGreaterThan(30);
    for (const [index, { path, code }] of blocks.entries()) {
      const name = `documents/${path.replaceAll(/\W/g, '_')}_${index}.tsx`;
      // A fragment of a function begins with `return`.
      app.write(name, `${code.replace(/^return (.*);$/m, 'export const fragment = async () => $1;')}\nexport {};\n`);
    }
    app.write('documents/given.d.ts', GIVEN);
    app.write('documents/styles.d.ts', "declare module '*.css';");
    const lib = ['es2022', 'dom', 'dom.iterable'];
    const compilerOptions = {
      ...OPTIONS,
      noImplicitAny: false,
      exactOptionalPropertyTypes: false,
      module: 'esnext',
      moduleResolution: 'bundler',
    };
    const config = { ...compilerOptions, jsx: 'react-jsx', lib, types: ['node'], noEmit: true, skipLibCheck: true };
    app.write('documents/tsconfig.json', JSON.stringify({ compilerOptions: config }));
    const errors = (await app.compile('documents/tsconfig.json')).split('\n').filter((line) => line !== '');
    expect(errors.filter((line) => !OF_THE_READER.test(line))).toEqual([]);
  });

  beforeAll(async () => {
    app.copyFrom(join(root, 'docs/examples'));
    expect(await app.compile('tsconfig.json')).toBe('');
  });

  describe('Express', () => {
    let shop: RunningApplication;
    beforeAll(async () => {
      shop = await app.serve('out/express.js');
      expect(shop.line).toBe(`${shop.url}/chat`);
    });

    /** Signs up and logs in at the shop; returns the shop's cookie and the chat user id. */
    async function customer(name: string) {
      const account = { name, password: 'secret' };
      const { chatUserId } = (await shop.request('POST', '/sign-up', { body: account })).body;
      const { headers } = await shop.request('POST', '/log-in', { body: account });
      const cookie = headers.get('set-cookie')!.split(';')[0]!;
      const chat = (method: string, path: string, params?: Readonly<Record<string, string>>) =>
        shop.chat(method, `/chat/api/v1${path}`, cookie, params);
      return { chatUserId, cookie, chat };
    }

    it("lets users chat with the application's login", async () => {
      const ann = await customer('Ann');
      expect((await ann.chat('GET', '/users/me')).body).toMatchObject({ user_id: ann.chatUserId, full_name: 'Ann' });
      expect((await ann.chat('GET', '/messages', WELCOME)).body.messages[0]).toMatchObject({
        sender_full_name: 'Shopkeeper',
        content: '<p>Welcome, <strong>Ann</strong>!</p>',
      });
      const { queue_id } = (await ann.chat('POST', '/register', { event_types: '["message"]' })).body;
      const waiting = ann.chat('GET', '/events', { queue_id, last_event_id: '-1' });
      const ordered = await shop.request('POST', '/orders/1', { cookie: ann.cookie });
      expect(ordered.status).toBe(200);
      expect((await waiting).body.events).toMatchObject([
        { type: 'message', message: { id: ordered.body.id, content: expect.stringContaining('Thank you') } },
      ]);
    });

    it('shows an order only to its customer, in the shop and by every call of the chat', async () => {
      const [cid, dora] = [await customer('Cid'), await customer('Dora')];
      const order = ({ cookie }: { readonly cookie: string }, number: number) =>
        shop.request('POST', `/orders/${number}`, { cookie });
      const { id } = (await order(cid, 7)).body;
      expect((await order(dora, 7)).status).toBe(409);
      await order(dora, 8);
      const read = ({ cookie }: { readonly cookie: string }, number: number) =>
        shop.request('GET', `/orders/${number}/messages`, { cookie });
      expect((await read(cid, 7)).body).toMatchObject([{ id, isMentioned: true }]);
      expect([(await read(dora, 7)).status, (await read(cid, 8)).status]).toEqual([404, 404]);

      const inOrder = (narrow: unknown) => ({ ...WELCOME, num_before: '100', narrow: JSON.stringify(narrow) });
      for (const [method, path, params] of [
        ['GET', '/users', {}],
        ['GET', `/users/${cid.chatUserId}`, {}],
        ['GET', '/users/external%3ACid', {}],
        ['POST', '/register', { client_capabilities: '{"external_ids":true}' }],
        ['GET', '/streams', {}],
        ['GET', '/users/me/subscriptions', { include_subscribers: 'true' }],
        ['GET', '/get_stream_id', { stream: 'Order 7' }],
        ['POST', '/users/me/subscriptions', { subscriptions: '[{"name":"Order 7"}]' }],
        ['GET', '/messages', { ...WELCOME, num_before: '100' }],
        ['GET', '/messages', inOrder([['channel', 'Order 7']])],
        ['GET', '/messages', inOrder([['search', 'Thank']])],
        ['GET', `/messages/${id}`, {}],
        ['PATCH', `/messages/${id}`, { content: 'x' }],
        ['POST', '/messages', { type: 'channel', to: 'Order 7', topic: 'x', content: 'x' }],
        ['POST', '/messages', { type: 'direct', to: `[${cid.chatUserId}]`, content: 'x' }],
      ] as const) {
        const { status, body } = await dora.chat(method, path, params);
        expect(status).toBeLessThan(500);
        // Errors repeat the names in the request.
        if (status !== 200) continue;
        expect(`${method} ${path}: ${JSON.stringify(body)}`).not.toMatch(/"(Cid|external:Cid)"|Order 7|@Cid/);
      }
      expect((await read(cid, 7)).body).toMatchObject([{ id }]);
    });

    it('rejects callers without credentials and leaves other routes unchanged', async () => {
      expect((await shop.request('GET', '/chat/api/v1/users/me')).status).toBe(401);
      expect((await shop.request('POST', '/log-in', { body: { name: 'Ann', password: 'guess' } })).status).toBe(401);
      expect((await shop.request('GET', '/elsewhere')).status).toBe(404);
      const settings = await shop.request('GET', '/chat/api/v1/server_settings');
      expect(settings.body).toMatchObject({ realm_url: `${shop.url}/chat`, realm_name: 'The Shop' });
    });

    it('shuts down on request', async () => {
      expect(await shop.stop()).toEqual({ code: 0, errors: '' });
    });
  });

  it('node:http serves an organization per path', async () => {
    const server = await app.serve('out/node-http.js');
    const settings = async (path: string) => (await server.request('GET', `${path}/api/v1/server_settings`)).body;
    expect(await settings('/chat/acme')).toMatchObject({ realm_name: 'acme', realm_url: `${server.url}/chat/acme` });
    expect(await settings('/chat/globex')).toMatchObject({ realm_url: `${server.url}/chat/globex` });
    expect((await server.request('GET', '/')).body).toBe('Nothing here but the chat');
    expect(await server.stop()).toEqual({ code: 0, errors: '' });
  });

  describe('mailer', () => {
    const provider = createServer();
    beforeAll(() => once(provider.listen(0), 'listening'));
    afterAll(() => provider.close().closeAllConnections());

    it('passes emails to its provider', async () => {
      const email = once(provider, 'request').then(async ([request, response]) => {
        response.writeHead(202).end();
        return { id: request.headers['idempotency-key'], ...((await json(request)) as object) };
      });
      const { port } = provider.address() as AddressInfo;
      const server = await app.serve('out/mailer.js', { MAIL_API: `http://localhost:${port}/emails` });
      const form = '/chat/accounts/password/reset/';
      const asked = await fetch(server.url + form, {
        method: 'POST',
        body: new URLSearchParams({ email: 'sam@example.com' }),
        redirect: 'manual',
      });
      expect(asked.status).toBe(303);
      expect(await email).toEqual({
        id: expect.stringMatching(/./),
        from: 'The Shop <chat@example.com>',
        to: 'sam@example.com',
        subject: 'Your account at The Shop',
        text: expect.stringContaining(`${server.url}/chat/accounts/password/reset/`),
        html: expect.stringContaining('<a href='),
      });
      expect((await server.stop()).code).toBe(0);
    });
  });

  it('Fastify rejects, counts and copies sent messages', async () => {
    const server = await app.serve('out/fastify.js');
    expect((await server.request('GET', '/chat/api/v1/server_settings')).body).toMatchObject({
      realm_name: 'The Shop',
    });
    // Follows the redirect to the log-in page.
    expect((await server.request('GET', '/chat')).status).toBe(200);
    const form = await server.chat('POST', '/chat/api/v1/fetch_api_key', '', {
      username: 'a@example.com',
      password: 'b',
    });
    expect(form).toMatchObject({ status: 401, body: { code: 'AUTHENTICATION_FAILED' } });
    expect((await server.request('POST', '/orders/7')).status).toBe(200);
    const refused = await server.request('POST', '/orders/7/links');
    expect([refused.status, refused.body]).toEqual([
      403,
      { code: 'MESSAGE_REFUSED', message: 'Links have to be https.' },
    ]);
    let copies: unknown;
    for (let attempt = 0; attempt < 500 && JSON.stringify(copies) !== '["Ann in Order 7"]'; attempt++) {
      copies = (await server.request('GET', '/audit')).body;
    }
    expect(copies).toEqual(['Ann in Order 7']);
    expect((await server.request('GET', '/unseen')).body.unseen).toBeGreaterThan(0);
    const { code, errors } = await server.stop();
    expect(code).toBe(0);
    // Without a logger, warnings are written to standard error.
    expect(JSON.parse(errors)).toMatchObject({ level: 'warn', audit: 'failed log-in', account: 'a@example.com' });
  });

  it('sends a message for each order in its database through the outbox', async () => {
    const shop = await app.serve('out/outbox.js');
    expect((await shop.request('POST', '/orders/7')).status).toBe(201);
    const read = async () => (await shop.request('GET', '/orders/7')).body;
    await until(async () => (await read()).messages > 0);
    expect(await read()).toEqual({ number: 7, messages: 1 });
    expect((await shop.stop()).code).toBe(0);
  });

  it('CommonJS serves at the root', async () => {
    const server = await app.serve('commonjs.cjs');
    expect((await server.request('GET', '/api/v1/server_settings')).body).toMatchObject({ realm_name: 'The Team' });
    expect((await server.stop()).code).toBe(0);
  });

  it('test runs under node --test', async () => {
    const { stdout } = await app.node('--test', '--test-reporter=tap', 'out/chat.test.js');
    expect(stdout).toMatch(/# pass 1\n# fail 0/);
  });

  it('simulation finds the double charge of a consumer, and none in the corrected consumer', async () => {
    const { stdout } = await app.node('--test', '--test-reporter=tap', 'out/simulation.test.js');
    expect(stdout).toMatch(/# pass 2\n# fail 0/);
  });
});
