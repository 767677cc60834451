import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
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

it('creates no database file without a binary', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-no-binary-'));
  jest.resetModules();
  jest.doMock('better-sqlite3', () => {
    return class {
      constructor() {
        throw new Error('Could not locate the bindings file. Tried:\n');
      }
    };
  });
  const { openWriter } = await import('./database.js');
  expect(() => openWriter(join(folder, 'parley.db'))).toThrow('better-sqlite3 has no binary');
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
  jest.dontMock('better-sqlite3');
});
