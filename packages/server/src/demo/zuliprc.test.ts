import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeZuliprcFiles } from './create-demo.js';

describe('writeZuliprcFiles', () => {
  let directory: string;
  beforeEach(() => {
    directory = join(mkdtempSync(join(tmpdir(), 'parley-zuliprc-')), 'zuliprc');
  });
  afterEach(() => rmSync(join(directory, '..'), { recursive: true }));

  const hamlet = { email: 'hamlet@zulip.com', apiKey: 'k'.repeat(32), name: 'hamlet' };
  const path = () => join(directory, 'hamlet');

  it('writes client configurations readable by the owner only', () => {
    writeZuliprcFiles(directory, 'http://localhost:9991', [hamlet]);
    expect(readFileSync(path(), 'utf8')).toBe(
      `[api]\nemail=hamlet@zulip.com\nkey=${'k'.repeat(32)}\nsite=http://localhost:9991\n`,
    );
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  });

  it('replaces older files and restricts their permissions', () => {
    writeZuliprcFiles(directory, 'http://localhost:1', [hamlet]);
    chmodSync(path(), 0o644);
    writeZuliprcFiles(directory, 'http://localhost:2', [hamlet]);
    expect(readFileSync(path(), 'utf8')).toContain('site=http://localhost:2\n');
    expect(statSync(path()).mode & 0o777).toBe(0o600);
  });

  it('reports files that it could not write', () => {
    writeFileSync(directory, 'a file where the folder should be');
    expect(() => writeZuliprcFiles(directory, 'http://localhost:1', [hamlet])).toThrow(/^Cannot write the demo users'/);
  });
});
