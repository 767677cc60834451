import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Application, root } from './fixtures/application.js';

const run = promisify(execFile);

/** Runs `npm create parley` as a user would. */
describe('npm create parley', () => {
  let app: Application;
  let tarball: string;
  beforeAll(async () => {
    app = await Application.make(['express', 'fastify']);
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

  it.each(['express', 'fastify'])('writes a chat on %s for the own log-in', async (template) => {
    const folder = `${template}-chat`;
    expect(await create(folder, `--template=${template}`)).toMatchObject({
      code: 0,
      out: expect.stringContaining(`cd ${folder}\n  npm install\n  npm start`),
    });
    expect(JSON.parse(readFileSync(app.at(folder, 'package.json'), 'utf8'))).toMatchObject({
      name: folder,
      dependencies: { parley: app.manifest.version },
    });
    expect(existsSync(app.at(folder, '.gitignore'))).toBe(true);

    const server = await app.serve(`${folder}/server.js`);
    expect(server.line).toBe(server.url);
    expect((await server.request('GET', '/')).body).toContain('<form method="post" action="/log-in">');
    const logIn = async (name: string, next = '') => {
      const body = new URLSearchParams({ name, next });
      const { status, headers } = await fetch(`${server.url}/log-in`, { method: 'POST', body, redirect: 'manual' });
      expect(status).toBe(303);
      return { cookie: headers.get('set-cookie')!.split(';')[0]!, location: headers.get('location') };
    };
    const { cookie: ann } = await logIn('Ann');
    const { cookie: bob } = await logIn('Bob');
    expect((await server.request('GET', '/', { cookie: ann })).body).toContain('<parley-chat>');
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
    expect((await logIn('Cid', `${server.url}/chat/#inbox`)).location).toBe(`${server.url}/chat/#inbox`);
    expect((await logIn('Cid', 'https://example.org/chat/')).location).toBe('/');
    expect((await fetch(`${server.url}/log-in`, { method: 'POST' })).status).toBe(400);
    expect((await server.stop()).code).toBe(0);
  });

  it('writes Next.js with its own server', async () => {
    const parley = 'file:../parley-9.tgz';
    expect(await create('next-chat', '--template=next', `--parley=${parley}`)).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(app.at('next-chat', 'package.json'), 'utf8')).dependencies).toMatchObject({
      parley,
    });
    expect(readdirSync(app.at('next-chat')).sort()).toEqual(
      ['.gitignore', 'README.md', 'app', 'chat.js', 'log-in.js', 'package.json', 'server.js'].sort(),
    );
  });

  it('rejects a folder with files, unknown templates and options, and a missing answer', async () => {
    const mistakes = [
      [['.', '--yes'], 'is not empty.'],
      [['x', '--template=koa'], '--template must be one of express, fastify, next, not "koa".'],
      [['x', '--yes', '--parley=./parley-9.tgz'], 'There is no file ./parley-9.tgz.'],
      [['x', '--tempalte=next'], "Unknown option '--tempalte'"],
      [['x', 'y', '--yes'], 'One folder is expected, not 2.'],
      [['x'], 'Without a terminal, name a folder and --template, or add --yes.'],
    ] as const;
    for (const [args, message] of mistakes) {
      expect(await create(...args)).toEqual({ code: 2, out: expect.stringContaining(message) });
    }
    expect(existsSync(app.at('x'))).toBe(false);
  });
});
