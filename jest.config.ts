/** @jest-config-loader esbuild-register */
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from 'jest';

type Project = Exclude<NonNullable<Config['projects']>[number], string>;

const project: Project = {
  roots: ['<rootDir>/packages'],
  testMatch: ['**/src/**/*.test.ts'],
  testEnvironment: '<rootDir>/packages/testkit/src/test-environment.ts',
  setupFiles: ['<rootDir>/packages/testkit/src/fixed-seed.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['/dist/'],
  transform: {
    '^.+\\.m?[jt]s$': [
      '@swc/jest',
      {
        // In files of their own: inline, each module that is loaded brings its map along.
        sourceMaps: true,
        module: { type: 'commonjs' },
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
        },
      },
    ],
  },
  // ESM-only dependencies; everything else under node_modules is left as it is.
  transformIgnorePatterns: [
    '/node_modules/(?!(inversify|@inversifyjs|@borewit|@noble|@seriousme|@tokenizer|@tus|file-type|jose|mime|srvx|strtok3|token-types|uint8array-extras)/)',
  ],
  moduleNameMapper: {
    '^@parley/([a-z-]+)$': '<rootDir>/packages/$1/src/index.ts',
    '^@parley/([a-z-]+)/([a-z-]+)$': '<rootDir>/packages/$1/src/$2/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
};

/** A file system in memory, on which nothing waits for a disk to sync. It outlives a killed process as a disk does. */
const FILES_IN_MEMORY = '/dev/shm';
const ENOUGH_BYTES = 2 * 1024 ** 3;

/** For `os.tmpdir()` of this process, its workers and what they start; in memory where the system has room for it. */
function keepTemporaryFilesInMemory(): void {
  if (!existsSync(FILES_IN_MEMORY)) return;
  const { bavail, bsize } = statfsSync(FILES_IN_MEMORY);
  if (bavail * bsize < ENOUGH_BYTES) return;
  const folder = mkdtempSync(join(FILES_IN_MEMORY, 'parley-tests-'));
  process.env.TMPDIR = folder;
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
}

keepTemporaryFilesInMemory();

const config: Config = {
  // Jest would leave one core idle, which is half of a small machine.
  maxWorkers: '100%',
  // A machine may be slow, or busy; what hangs is found all the same. Jest ignores it in projects.
  testTimeout: 300_000,
  filter: join(__dirname, 'packages/testkit/scripts/choose-tests.cjs'),
  projects: [
    {
      ...project,
      displayName: 'memory',
      testPathIgnorePatterns: [...project.testPathIgnorePatterns!, '/packages/acceptance/'],
    },
    // Operations over HTTP run once, on the storage that servers use.
    {
      ...project,
      displayName: 'sqlite',
      roots: ['<rootDir>/packages/acceptance/src'],
    },
  ],
};

export default config;
