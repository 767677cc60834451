import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Loader, transform } from 'esbuild';
import { Application, type RunningApplication, root } from './fixtures/application.js';
import { blocksOf } from './fixtures/documents.js';

const run = promisify(execFile);

let app: Application;
let tarball: string;
beforeAll(async () => {
  app = await Application.make(['@types/express', '@types/node', 'express', 'fastify']);
  await run('npm', ['pack', join(root, 'packages/create-parley'), '--pack-destination', app.directory]);
  tarball = readdirSync(app.directory).find((name) => name.startsWith('create-parley-'))!;
});
afterAll(() => app.remove());

const create = async (...args: readonly string[]) => {
  const exec = ['exec', '--yes', '--offline', `--package=./${tarball}`, '--', 'create-parley', ...args];
  return run('npm', exec, { cwd: app.directory, env: { ...process.env, npm_config_cache: app.at('cache') } }).then(
    ({ stdout }) => ({ code: 0, out: stdout }),
    ({ code, stderr }) => ({ code, out: stderr as string }),
  );
};

/** Logs in to an application made from a template. */
async function logIn({ url }: RunningApplication, name: string, next = '') {
  const body = new URLSearchParams({ name, next });
  const { status, headers } = await fetch(`${url}/log-in`, { method: 'POST', body, redirect: 'manual' });
  expect(status).toBe(303);
  return { cookie: headers.get('set-cookie')!.split(';')[0]!, location: headers.get('location') };
}

/** Package that these tests do not install. */
const FILE = 'file:../parley-9.tgz';
const PARLEY = `--parley=${FILE}`;

/** Runs the packed program as a user would. */
describe('create-parley', () => {
  it.each(['express', 'fastify'])('writes a chat on %s for the own log-in', async (template) => {
    const folder = `${template}-chat`;
    expect(await create(folder, `--template=${template}`, PARLEY)).toMatchObject({
      code: 0,
      out: expect.stringContaining(`cd ${folder}\n  npm install\n  npm start`),
    });
    expect(JSON.parse(readFileSync(app.at(folder, 'package.json'), 'utf8'))).toMatchObject({
      name: folder,
      dependencies: { parley: FILE },
      // The repository runs on versions of Node whose SQLite driver contains its binaries.
      allowScripts: { 'better-sqlite3': false },
    });
    expect(readFileSync(app.at(folder, 'pnpm-workspace.yaml'), 'utf8')).toBe('allowBuilds:\n  better-sqlite3: false\n');
    expect(existsSync(app.at(folder, '.gitignore'))).toBe(true);

    const server = await app.serve(`${folder}/server.js`);
    expect(server.line).toBe(server.url);
    expect((await server.request('GET', '/')).body).toContain('<form method="post" action="/log-in">');
    const { cookie: ann } = await logIn(server, 'Ann');
    const { cookie: bob } = await logIn(server, 'Bob');
    expect((await server.request('GET', '/', { cookie: ann })).body).toContain('<parley-chat tools="simple">');
    const me = async (cookie: string) => (await server.chat('GET', '/chat/api/v1/users/me', cookie)).body;
    expect(await me(ann)).toMatchObject({ full_name: 'Ann', is_owner: true });
    expect(await me(bob)).toMatchObject({ full_name: 'Bob', is_owner: false });
    expect((await server.chat('GET', '/chat/api/v1/users/me', '')).status).toBe(401);
    const content = 'Hello, Bob';
    const sent = await server.chat('POST', '/chat/api/v1/messages', ann, {
      ...{ type: 'channel', to: '"general"', topic: 'first steps', content },
    });
    expect(sent.status).toBe(200);
    const newest = { anchor: 'newest', num_before: '1', num_after: '0', apply_markdown: 'false' };
    expect((await server.chat('GET', '/chat/api/v1/messages', bob, newest)).body).toMatchObject({
      messages: [{ content }],
    });
    expect((await logIn(server, 'Cid', `${server.url}/chat/#inbox`)).location).toBe(`${server.url}/chat/#inbox`);
    expect((await logIn(server, 'Cid', 'https://example.org/chat/')).location).toBe('/');
    expect((await fetch(`${server.url}/log-in`, { method: 'POST' })).status).toBe(400);
    expect((await server.stop()).code).toBe(0);
  });

  it('writes Next.js with its own server', async () => {
    expect(await create('next-chat', '--template=next', PARLEY)).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(app.at('next-chat', 'package.json'), 'utf8')).dependencies).toMatchObject({
      parley: FILE,
    });
    expect(readdirSync(app.at('next-chat')).sort()).toEqual([
      '.gitignore',
      'README.md',
      'app',
      'chat.js',
      'log-in.js',
      'next.config.js',
      'package.json',
      'pnpm-workspace.yaml',
      'server.js',
    ]);
  });

  it('writes Express and Fastify in TypeScript, which compiles strictly and runs', async () => {
    for (const template of ['express', 'fastify']) {
      const folder = `typed-${template}`;
      expect(await create(folder, `--template=${template}`, '--typescript', PARLEY)).toMatchObject({ code: 0 });
      expect(readdirSync(app.at(folder)).filter((name) => name.endsWith('.js'))).toEqual([]);
      expect(JSON.parse(readFileSync(app.at(folder, 'package.json'), 'utf8'))).toMatchObject({
        scripts: { start: 'tsx server.ts', typecheck: 'tsc' },
        devDependencies: { tsx: expect.any(String), typescript: expect.any(String) },
      });
      expect(readFileSync(app.at(folder, 'README.md'), 'utf8')).toContain('| `server.ts` |');
      expect(await app.compile(`${folder}/tsconfig.json`)).toBe('');
    }
    const compilerOptions = { noEmit: false, outDir: 'out' };
    app.write('typed-express/tsconfig.run.json', JSON.stringify({ extends: './tsconfig.json', compilerOptions }));
    expect(await app.compile('typed-express/tsconfig.run.json')).toBe('');
    const server = await app.serve('typed-express/out/server.js');
    const { cookie } = await logIn(server, 'Ann');
    expect((await server.request('GET', '/', { cookie })).body).toContain('<parley-chat tools="simple">');
    expect((await server.stop()).code).toBe(0);
  });

  it('writes NestJS always in TypeScript', async () => {
    expect(await create('nest-chat', '--template=nest', PARLEY)).toMatchObject({ code: 0 });
    expect(readdirSync(app.at('nest-chat')).filter((name) => /\.[jt]s$/.test(name))).toEqual([
      'chat.ts',
      'log-in.ts',
      'main.ts',
      'page.ts',
    ]);
    expect(JSON.parse(readFileSync(app.at('nest-chat', 'package.json'), 'utf8')).devDependencies.typescript).toBe(
      '~5.8.0',
    );
  });

  it('writes Next.js in TypeScript with pages and a server', async () => {
    expect(await create('typed-next', '--template=next', '--typescript', PARLEY)).toMatchObject({ code: 0 });
    expect(readdirSync(app.at('typed-next/app')).sort()).toEqual(['layout.tsx', 'page.tsx']);
    expect(JSON.parse(readFileSync(app.at('typed-next/package.json'), 'utf8')).scripts.start).toBe(
      'next build && NODE_ENV=production tsx server.ts',
    );
  });

  it('has templates in TypeScript that differ from JavaScript only by types', async () => {
    const templates = join(root, 'packages/create-parley/templates');
    const plain = async (path: string) => {
      const loader = path.split('.').at(-1) as Loader;
      return (await transform(readFileSync(path, 'utf8'), { loader, jsx: 'preserve' })).code;
    };
    const typed = readdirSync(join(templates, 'typescript'), { recursive: true, encoding: 'utf8' });
    const programs = typed.filter((name) => /\.tsx?$/.test(name));
    expect(programs.length).toBe(12);
    for (const name of programs.filter((name) => !name.startsWith('nest/'))) {
      const own = join(templates, name.replace(/\.ts(x?)$/, '.js$1'));
      expect(await plain(join(templates, 'typescript', name))).toBe(await plain(own));
    }
  });

  it('rejects a folder with files, unknown templates and options, and missing answers and packages', async () => {
    const mistakes = [
      [['.', '--yes', PARLEY], 'is not empty.'],
      [['x', '--template=vue'], 'react-router, not "vue".'],
      [['x', '--template=koa', '--typescript', PARLEY], 'The template koa is in JavaScript only.'],
      [['x', '--yes', '--parley=./parley-9.tgz'], 'There is no file ./parley-9.tgz.'],
      [['x', '--tempalte=next'], "Unknown option '--tempalte'"],
      [['x', 'y', '--yes'], 'One folder is expected, not 2.'],
      [['x', '--yes'], `--parley PATH/parley-${app.manifest.version}.tgz`],
      [['x'], 'Without a terminal, name a folder and --template, or add --yes.'],
    ] as const;
    for (const [args, message] of mistakes) {
      expect(await create(...args)).toEqual({ code: 2, out: expect.stringContaining(message) });
    }
    expect(existsSync(app.at('x'))).toBe(false);
  });
});

describe('guide', () => {
  let shop: RunningApplication;
  let ann: string;
  let bob: string;
  let sam: string;
  beforeAll(async () => {
    const [people, page, consumer] = blocksOf('docs/guides/support-chat.md', 'js');
    await create('shop', '--template=express', PARLEY);
    const edit = (name: string, change: (text: string) => string) =>
      app.write(`shop/${name}`, change(readFileSync(app.at('shop', name), 'utf8')));
    edit('chat.js', (text) => text.replace(/^await parley\.realms\.ensure.*?^}\n/ms, () => people!) + consumer);
    edit('server.js', (text) =>
      text.replace('enterChat, ', 'enterChat, openOrder, ').replace('app.post(', () => `${page}\napp.post(`),
    );
    shop = await app.serve('shop/server.js');
    const cookieOf = async (name: string) => (await logIn(shop, name)).cookie;
    ann = await cookieOf('Ann');
    bob = await cookieOf('Bob');
    sam = await cookieOf('Sam');
  });
  afterAll(() => shop.stop());

  const untilPrinted = async (text: string) => {
    for (let attempt = 0; attempt < 500 && !shop.texts.output.includes(text); attempt++) await sleep(20);
    expect(shop.texts.output).toContain(text);
  };

  it('leads to a support chat that hides customers from each other and notifies the staff', async () => {
    const page = async (number: number, cookie: string) => shop.request('GET', `/orders/${number}`, { cookie });
    expect((await page(7, ann)).body).toContain('<parley-chat channel="Order 7" topic="Support" tools="simple">');
    expect([(await page(7, bob)).status, (await page(8, bob)).status]).toEqual([404, 200]);

    const { members } = (await shop.chat('GET', '/chat/api/v1/users', bob)).body;
    expect(members.map(({ full_name }: { full_name: string }) => full_name).sort()).toEqual(['Bob', 'Sam']);
    const { subscriptions } = (await shop.chat('GET', '/chat/api/v1/users/me/subscriptions', bob)).body;
    expect(subscriptions.map(({ name }: { name: string }) => name)).toEqual(['Order 8']);
    const message = { type: 'channel', to: '"Order 7"', topic: 'Support', content: 'Where is my parcel?' };
    expect(await shop.chat('POST', '/chat/api/v1/messages', bob, message)).toMatchObject({
      status: 400,
      body: { msg: "Not authorized to send to channel 'Order 7'" },
    });
    expect((await shop.chat('POST', '/chat/api/v1/messages', ann, message)).status).toBe(200);
    await untilPrinted('sam #Order 7 > Support Where is my parcel?');
  });

  it('leads to a bot that replies to direct messages and mentions', async () => {
    const form = { full_name: 'Echo', short_name: 'echo' };
    const { body: bot } = await shop.chat('POST', '/chat/api/v1/bots', sam, form);
    app.write('bot.mjs', blocksOf('docs/guides/bot.md', 'js')[0]!);
    const program = await app.serve('bot.mjs', { SITE: `${shop.url}/chat`, EMAIL: bot.email, KEY: bot.api_key });
    expect(program.line).toBe('ready');
    const lastTo = async (content: string, message: Readonly<Record<string, string>>) => {
      expect((await shop.chat('POST', '/chat/api/v1/messages', sam, { ...message, content })).status).toBe(200);
      const newest = { anchor: 'newest', num_before: '1', num_after: '0', apply_markdown: 'false' };
      let last = content;
      for (let attempt = 0; attempt < 500 && last === content; attempt++) {
        last = (await shop.chat('GET', '/chat/api/v1/messages', sam, newest)).body.messages[0].content;
      }
      return last;
    };
    expect(await lastTo('Are you there?', { type: 'direct', to: `[${bot.user_id}]` })).toBe('You said: Are you there?');
    const subscriptions = '[{"name":"lobby"}]';
    await shop.chat('POST', '/chat/api/v1/users/me/subscriptions', sam, { subscriptions });
    expect(await lastTo('@**Echo** hello', { type: 'channel', to: '"lobby"', topic: 'x' })).toBe(
      '@**Sam** You said: @**Echo** hello',
    );
    await program.stop();
  });
});

/** Names that code in documents uses without a declaration. */
const GLOBALS = `
import type * as Package from 'parley';
declare global {
  const parley: Package.Parley;
  const createParley: typeof Package.createParley;
  const DomainError: typeof Package.DomainError;
  const refuse: typeof Package.refuse;
  const RegisterUser: typeof import('parley/domain/membership').RegisterUser;
  const app: import('express').Express;
  const port: number;
  const person: Parameters<InstanceType<typeof RegisterUser>['execute']>[0];
  function yourOwnLogIn(request: import('node:http').IncomingMessage): { realm: string; externalId: string } | null;
  function sessionOf(request: import('node:http').IncomingMessage): { realm: string; externalId: string } | null;
  function index(messages: readonly Package.ChatMessage[]): Promise<void>;
  function isSpam(content: string): Promise<boolean>;
  function push(externalId: string, notification: object): Promise<void>;
  function draw(messages: readonly unknown[]): void;
  function askForAnotherAddress(): void;
}
`;

/** Gives these names a meaning, and runs the parts one after the other. */
const PROGRAM = `
import express from 'express';
import * as parley from 'parley';
import { createTestParley } from 'parley/testing';

const engine = await createTestParley();
Object.assign(globalThis, parley, {
  ...{ parley: engine, app: express(), port: 3000, yourOwnLogIn: () => null },
  ...{ index: async () => {}, isSpam: async () => false, push: async () => {} },
});
await engine.realms.ensure({ name: 'shop' });
for (const id of ['u1', 'u2', 'u3']) await engine.users.upsert({ realm: 'shop', externalId: id, name: id });
await engine.users.upsert({ realm: 'shop', externalId: 'x', name: 'x', email: 'taken@example.org', role: 'owner' });
await engine.as({ realm: 'shop', externalId: 'u1' }).channels.ensure({ name: 'log' });
for (const part of process.argv.slice(2)) {
  await (await import('./out/' + part)).part();
  console.log(part);
}
process.exit();
`;

const OPTIONS = { target: 'es2022', module: 'nodenext', strict: true, exactOptionalPropertyTypes: true };

describe('code in the documents', () => {
  /** Compiled, but not run: needs a running server, a browser or names that only an application has. */
  const COMPILED = ['docs/client.md', 'docs/embedding-ui.md', 'docs/errors.md', 'docs/log-in.md'];
  const RUN = [
    'README.md',
    'packages/parley/README.md',
    'docs/embedding.md',
    'docs/embedding-reference.md',
    'docs/notifications.md',
    'docs/import.md',
  ];
  /** The first block is a whole program, and others quote one, see docs/examples. */
  const isProgram = (path: string, index: number) => path === 'docs/embedding.md' && index === 0;
  const outbox = readFileSync(join(root, 'docs/examples/outbox.ts'), 'utf8');

  it('compiles, and runs in an application', async () => {
    const write = (path: string, languages: readonly string[]) =>
      blocksOf(path, ...languages).flatMap((block, index) => {
        if (outbox.includes(block.split('\n\n')[0]!)) return [];
        const lines = block.split('\n');
        const isImport = (line: string) => line.startsWith('import ');
        const imports = lines.filter(isImport).join('\n');
        const rest = lines.filter((line) => !isImport(line)).join('\n');
        const name = `${path.replace(/\W/g, '-')}${index}`;
        app.write(`documents/${name}.ts`, `${imports}\nexport async function part() {\n${rest}\n}\n`);
        return isProgram(path, index) ? [] : [`${name}.js`];
      });
    app.write('documents/globals.d.ts', GLOBALS);
    app.write('documents/run.mjs', PROGRAM);
    for (const path of COMPILED) write(path, ['ts', 'js']);
    const parts = RUN.flatMap((path) => write(path, ['ts']));
    expect(parts.length).toBeGreaterThan(10);
    const compilerOptions = { ...OPTIONS, types: ['node'], skipLibCheck: true, outDir: 'out' };
    app.write('documents/tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    expect(await app.compile('documents/tsconfig.json')).toBe('');
    const { stdout } = await app.node('documents/run.mjs', ...parts);
    for (const part of parts) expect(stdout).toMatch(new RegExp(`^${part}$`, 'm'));
  });
});
