import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = resolve(__dirname, '../../..');
const tsc = join(root, 'node_modules/typescript/bin/tsc');

const APP = `
import { createServer } from 'node:http';
import { type Chat, createParley, DomainError, errorHandler, refuse } from 'parley';
import { SendMessage } from 'parley/domain/messages';
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

const OPTIONS = { target: 'es2022', strict: true, skipLibCheck: false, exactOptionalPropertyTypes: true };

/**
 * The package as it is published, in a project that has nothing but what the package says that it needs. Those are linked from
 * here: installing them takes minutes where better-sqlite3 has to be compiled.
 */
describe('the package', () => {
  let project: string;
  const at = (...path: readonly string[]) => join(project, ...path);
  const installed = (...path: readonly string[]) => at('node_modules', 'parley', ...path);

  beforeAll(async () => {
    project = mkdtempSync(join(tmpdir(), 'parley-package-'));
    const assembled = at('assembled');
    await run(process.execPath, [join(root, 'packages/parley/scripts/assemble.mjs'), assembled]);
    await run('npm', ['pack', assembled, '--pack-destination', project], { cwd: project });
    mkdirSync(installed(), { recursive: true });
    const tarball = readdirSync(project).find((name) => name.endsWith('.tgz'))!;
    await run('tar', ['-xzf', at(tarball), '-C', installed(), '--strip-components', '1']);
    rmSync(assembled, { recursive: true });
    const { dependencies } = JSON.parse(readFileSync(installed('package.json'), 'utf8'));
    for (const name of Object.keys(dependencies)) {
      mkdirSync(dirname(at('node_modules', name)), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), at('node_modules', name));
    }
    writeFileSync(at('package.json'), JSON.stringify({ type: 'module' }));
    writeFileSync(at('app.ts'), APP);
    writeFileSync(at('common.cts'), COMMON_JS);
    const config = (compilerOptions: object, include: readonly string[]) =>
      JSON.stringify({ compilerOptions: { ...OPTIONS, ...compilerOptions }, include });
    writeFileSync(at('tsconfig.json'), config({ module: 'nodenext', outDir: 'out' }, ['*.ts', '*.cts']));
    writeFileSync(
      at('tsconfig.bundler.json'),
      config({ module: 'esnext', moduleResolution: 'bundler', noEmit: true }, ['*.ts']),
    );
  });
  afterAll(() => rmSync(project, { recursive: true }));

  it('holds its code, its types, README and licence, and nothing else', () => {
    expect(readdirSync(installed()).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
    const files = readdirSync(installed('dist'), { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name);
    expect(files.filter((name) => !/\.(js|d\.ts)$/.test(name) || /\.(test|contract)\./.test(name))).toEqual([]);
    const manifest = JSON.parse(readFileSync(installed('package.json'), 'utf8'));
    expect(manifest).toMatchObject({ name: 'parley', license: 'Apache-2.0', engines: { node: '>=20.19' } });
    expect(Object.keys(manifest.dependencies).filter((name) => /^@parley|jest|fast-check/.test(name))).toEqual([]);
  });

  it('compiles under nodenext and bundler, declarations included, and runs from ESM and CommonJS', async () => {
    for (const config of ['tsconfig.json', 'tsconfig.bundler.json']) {
      const problems = await run(process.execPath, [tsc, '-p', at(config)], { cwd: project }).then(
        () => '',
        ({ stdout }: { readonly stdout: string }) => stdout,
      );
      expect(problems).toBe('');
    }
    const { stdout, stderr } = await run(process.execPath, ['out/app.js'], { cwd: project });
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
    const common = await run(process.execPath, ['out/common.cjs'], { cwd: project });
    expect(common).toEqual({ stdout: 'CommonJS s\n', stderr: expect.not.stringContaining('Error') });
  });

  it('has the command line', async () => {
    const { stdout } = await run(process.execPath, [installed('dist/main.js'), '--help'], { cwd: project });
    expect(stdout).toContain('parley serve');
  });
});
