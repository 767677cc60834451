import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSecret, secretPathFor } from './secret.js';

describe('loadSecret', () => {
  let directory: string;
  let path: string;
  const load = (secret: string | null = null) => loadSecret({ secret, database: { kind: 'sqlite', path } });

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'parley-secret-'));
    path = join(directory, 'parley.db');
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('makes one at first, for the owner of the process alone, and keeps it', () => {
    const first = load();
    expect(first.length).toBeGreaterThanOrEqual(32);
    expect(statSync(secretPathFor(path)).mode & 0o777).toBe(0o600);
    expect(load()).toBe(first);
  });

  it('is one and the same, whatever name the database is reached by', () => {
    writeFileSync(path, '');
    const real = load();
    const target = path;
    path = join(directory, 'link.db');
    symlinkSync(target, path);
    expect(load()).toBe(real);
  });

  it('goes on with the one beside a link', () => {
    const link = join(directory, 'link.db');
    writeFileSync(path, '');
    symlinkSync(path, link);
    const known = 'a secret of before, beside the link';
    writeFileSync(`${link}.secret`, known);
    path = link;
    expect(load()).toBe(known);
  });

  it('makes different ones', () => {
    const first = load();
    rmSync(secretPathFor(path));
    expect(load()).not.toBe(first);
  });

  it('prefers the configured one and writes nothing then', () => {
    expect(load('a secret of the operator')).toBe('a secret of the operator');
    expect(existsSync(secretPathFor(path))).toBe(false);
  });

  it('refuses a damaged file rather than replace it', () => {
    writeFileSync(secretPathFor(path), 'oops\n');
    expect(() => load()).toThrow(/holds no secret; remove the file/);
    expect(readFileSync(secretPathFor(path), 'utf8')).toBe('oops\n');
  });

  it('says what it could not write', () => {
    path = join(directory, 'missing', 'parley.db');
    expect(() => load()).toThrow(/^Cannot read or write the secret .*missing/);
  });

  // To the super-user every file is readable.
  (process.getuid?.() === 0 ? it.skip : it)('says what it could not read', () => {
    load();
    chmodSync(secretPathFor(path), 0o000);
    expect(() => load()).toThrow(/^Cannot read or write the secret/);
  });
});
