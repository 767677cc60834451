import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isUnsafeBinary } from './binary.js';

describe('isUnsafeBinary', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-binary-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    [false, 'AddEnvironmentCleanupHook'],
    [true, 'AddEnvironmentCleanupHook\0RemoveEnvironmentCleanupHook'],
  ])('is %s for a binary with the symbols %j', (isUnsafe, symbols) => {
    const path = join(folder, 'better_sqlite3.node');
    writeFileSync(path, symbols);
    expect(isUnsafeBinary(path)).toBe(isUnsafe);
  });

  it('is false without a binary, and for the installed one', () => {
    expect(isUnsafeBinary(join(folder, 'missing.node'))).toBe(false);
    expect(isUnsafeBinary()).toBe(false);
  });
});
