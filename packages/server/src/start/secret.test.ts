import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { HmacApiKeyMint } from '@parley/node-adapters';
import { buildSync } from 'esbuild';
import { findSecret, makeSecret, requireSameSecret, secretPathFor } from './secret.js';

let directory: string;
let path: string;
const source = (secret: string | null = null) => ({ secret, database: { kind: 'sqlite' as const, path } });
const find = (secret: string | null = null) => findSecret(source(secret));
const make = () => makeSecret(source());
const put = (content: string, at = secretPathFor(path)) => writeFileSync(at, content, { mode: 0o600 });

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'parley-secret-'));
  path = join(directory, 'parley.db');
});
afterEach(() => rmSync(directory, { recursive: true }));

describe('findSecret and makeSecret', () => {
  it('creates a file readable by its owner only and leaves no temporary file', () => {
    expect(find()).toBeNull();
    expect(readdirSync(directory)).toEqual([]);
    const first = make();
    expect(first.length).toBeGreaterThanOrEqual(32);
    expect(statSync(secretPathFor(path)).mode & 0o777).toBe(0o600);
    expect(find()).toBe(first);
    expect(make()).toBe(first);
    expect(readdirSync(directory)).toEqual(['parley.db.secret']);
  });

  it('finds the same secret via every path to the database', () => {
    writeFileSync(path, '');
    const real = make();
    const target = path;
    path = join(directory, 'link.db');
    symlinkSync(target, path);
    expect(find()).toBe(real);
  });

  it('finds a secret next to a symbolic link to the database', () => {
    const link = join(directory, 'link.db');
    writeFileSync(path, '');
    symlinkSync(path, link);
    const known = 'a secret of before, beside the link';
    put(known, `${link}.secret`);
    path = link;
    expect(find()).toBe(known);
  });

  it('generates a different secret each time', () => {
    const first = make();
    rmSync(secretPathFor(path));
    expect(make()).not.toBe(first);
  });

  it('creates no file if a secret is configured', () => {
    expect(find('a secret of the operator')).toBe('a secret of the operator');
    expect(existsSync(secretPathFor(path))).toBe(false);
  });

  it('reads the older format without a checksum', () => {
    put('0123456789012345678901234567890123456789abc\n');
    expect(find()).toBe('0123456789012345678901234567890123456789abc');
  });

  it.each([
    ['empty', '', 'empty'],
    ['blank', '\n', 'empty'],
    ['a file of zeros after a power loss', '\0'.repeat(130), 'damaged'],
    ['too short', 'oops\n', 'damaged'],
    ['several lines', `${'a'.repeat(40)}\n${'b'.repeat(40)}\n`, 'damaged'],
  ])('rejects a secret file that is %s and does not replace it', (_, content, problem) => {
    put(content);
    expect(() => find()).toThrow(new RegExp(`^The secret file .*parley.db.secret is ${problem}. Restore it`));
    expect(() => make()).toThrow(/Restore it/);
    expect(readFileSync(secretPathFor(path), 'utf8')).toBe(content);
    expect(readdirSync(directory)).toEqual(['parley.db.secret']);
  });

  it('rejects a secret truncated or changed at any position', () => {
    make();
    const whole = readFileSync(secretPathFor(path), 'utf8').trim();
    for (let length = 0; length < whole.length; length++) {
      put(whole.slice(0, length));
      expect(() => find()).toThrow(/is (empty|damaged)\. Restore it/);
    }
    for (let at = 0; at < whole.length; at++) {
      put(whole.slice(0, at) + (whole[at] === 'x' ? 'y' : 'x') + whole.slice(at + 1));
      expect(() => find()).toThrow(/is damaged\. Restore it/);
    }
    put(`${whole}\n`);
    expect(find()).not.toBeNull();
  });

  it.each([0o640, 0o604, 0o620, 0o644, 0o666])(
    'rejects a secret file with mode %o, which gives others access',
    (mode) => {
      make();
      chmodSync(secretPathFor(path), mode);
      expect(() => find()).toThrow(
        `Others on this machine can read the secret (mode ${mode.toString(8)}): run chmod 600 ${secretPathFor(path)}`,
      );
      chmodSync(secretPathFor(path), 0o400);
      expect(find()).not.toBeNull();
    },
  );

  it('reports a secret file that cannot be written', () => {
    path = join(directory, 'missing', 'parley.db');
    expect(() => make()).toThrow(/^Cannot read or write the secret .*missing/);
  });

  // The superuser can read every file.
  (process.getuid?.() === 0 ? it.skip : it)('reports a secret file that cannot be read', () => {
    make();
    chmodSync(secretPathFor(path), 0o000);
    expect(() => find()).toThrow(/^Cannot read or write the secret/);
  });

  it('creates one secret when several processes create it concurrently', async () => {
    const child = join(directory, 'child.cjs');
    buildSync({
      alias: { '@parley/node-adapters': join(__dirname, '../../../adapters/node-adapters/src/tokens.ts') },
      stdin: {
        contents: `
          import { makeSecret } from './secret';
          process.stdin.once('data', () => {
            process.stdout.write(makeSecret({ secret: null, database: { kind: 'sqlite', path: process.argv[2] } }));
            process.exit();
          });
          process.stdout.write('.');`,
        resolveDir: __dirname,
      },
      outfile: child,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      define: { 'import.meta.url': JSON.stringify(pathToFileURL(__filename)) },
    });
    const children = Array.from({ length: 4 }, () => {
      const process_ = spawn(process.execPath, [child, path], { stdio: ['pipe', 'pipe', 'inherit'] });
      let output = '';
      process_.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      return {
        process: process_,
        ready: once(process_.stdout, 'data'),
        ended: once(process_, 'close').then(() => output),
      };
    });
    await Promise.all(children.map(({ ready }) => ready));
    for (const each of children) each.process.stdin.write('go');
    const made = await Promise.all(children.map(({ ended }) => ended));
    expect(new Set(made)).toEqual(new Set([`.${find()}`]));
    rmSync(child);
    expect(readdirSync(directory)).toEqual(['parley.db.secret']);
  });
});

describe('requireSameSecret', () => {
  const fingerprint = new HmacApiKeyMint('the secret of before').secretFingerprint;
  const check = (configured: string | null, secret: string | null) =>
    requireSameSecret(source(configured), secret, fingerprint);

  it('accepts the secret of the stored fingerprint', () => {
    expect(() => check(null, 'the secret of before')).not.toThrow();
    expect(() => check('the secret of before', 'the secret of before')).not.toThrow();
  });

  it.each<[string, string | null, string | null, RegExp]>([
    ['is configured', 'another one', 'another one', /^PARLEY_SECRET is not the secret of the database; set/],
    [
      'is in the file',
      null,
      'another one',
      /^The secret in .*parley\.db\.secret is not the secret of the database; restore/,
    ],
    [
      'would have to be created',
      null,
      null,
      /^The secret file .*parley\.db\.secret of the database is missing: restore/,
    ],
  ])('rejects a different secret that %s', (_, configured, secret, reason) => {
    expect(() => check(configured, secret)).toThrow(reason);
    expect(() => check(configured, secret)).toThrow(/or pass --accept-new-secret .*, which changes every API key\.$/);
  });

  it('accepts any secret while no fingerprint is stored', () => {
    expect(() => requireSameSecret(source(), 'any', null)).not.toThrow();
    expect(() => requireSameSecret(source(), null, null)).not.toThrow();
  });
});
