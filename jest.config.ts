/** @jest-config-loader esbuild-register */
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from 'jest';

type Project = Exclude<NonNullable<Config['projects']>[number], string>;

// Scripts name another option (`--rootDir`) after the projects. Otherwise Jest takes file names that follow for projects.

/** The suite on PostgreSQL runs by itself (npm run test:postgres). */
const isOnPostgres = process.argv.includes('--selectProjects=postgres');
const POSTGRES_TESTS = '/packages/adapters/postgres/';
/** Debian leaves the server's programs out of the path. */
const hasPostgres =
  existsSync('/usr/lib/postgresql') ||
  (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, 'initdb')));
if (!isOnPostgres && !hasPostgres) {
  console.error('PostgreSQL is not installed: its tests (npm run test:postgres) are skipped.');
}

/** Measurements and crashes, which run by themselves (npm run test:hostile); `npm run endurance` runs them in their long form. */
const HOSTILE_TESTS = [
  '/packages/testing/bench/src/bench.test.ts',
  '/packages/testing/e2e/src/hostile/',
  '/packages/testing/e2e/src/(crash|upload-crash|erasure-crash).test.ts',
  '/packages/adapters/images/src/hostile-images.test.ts',
  '/packages/server/src/facade/notification-crash.test.ts',
];

/** Suites of thousands of cases, which only `npm run endurance` runs. */
const LONG_TESTS =
  process.env.HOSTILE_LOAD === 'long'
    ? []
    : [
        '/packages/domain/src/markdown/hostile-cards.test.ts',
        '/packages/adapters/node-adapters/src/hostile-mails.test.ts',
        '/packages/moving/import-readers/src/every-cut.test.ts',
      ];

/** Maps the packages, which npm links by name, to their sources, so that tests need no build. */
function sourcesByName(): Record<string, string> {
  const links = join(__dirname, 'node_modules/@parley');
  return Object.fromEntries(
    readdirSync(links).flatMap((name) => [
      [`^@parley/${name}$`, join(realpathSync(join(links, name)), 'src/index.ts')],
      [`^@parley/${name}/([a-z-]+)$`, join(realpathSync(join(links, name)), 'src/$1/index.ts')],
    ]),
  );
}

/** Suites of `npm test`: no built server, no other service, no tools. */
const QUICK_TESTS =
  '/packages/(domain|moving/[a-z-]+|adapters/(?!postgres/)[a-z-]+|clients/(client|chat)|testing/simulator)/src/';
/** Suites in these folders that need a tool of packages/testing, or more than about five seconds. */
const SLOW_TESTS = [
  '/domain/src/markdown/hostile-cards.test.ts',
  '/adapters/blobs/src/s3-blob-store.test.ts',
  '/adapters/bus-nats/src/nats-bus.test.ts',
  '/adapters/http/src/(delivery/long-poll|express/hosts).test.ts',
  '/adapters/images/src/(image-process|pdf|sharp-image-processor).test.ts',
  '/adapters/markdown/src/(hostile-input|html-messages|work-budget).test.ts',
  '/adapters/node-adapters/src/hostile-mails.test.ts',
  '/adapters/sqlite/src/engine/(migrate|quarantine|storage-files|unit-crash|unit-of-work).test.ts',
  '/adapters/sqlite/src/kernel/job-crash.test.ts',
  '/adapters/sqlite/src/messages/(cost|deferred-terms|narrow-law|random-history|unread-overview).test.ts',
  '/moving/import-readers/src/(every-cut|hostile-exports).test.ts',
  '/testing/simulator/src/simulate.test.ts',
];

/** Acceptance suites that run on PostgreSQL (docs/testing.md). */
const { always, chosen } = JSON.parse(
  readFileSync(join(__dirname, 'packages/testing/acceptance/postgres-suites.json'), 'utf8'),
);
const suitesOnPostgres = process.env.PARLEY_ALL ? '.*' : [...Object.keys(always), ...chosen].join('|');

const project: Project = {
  roots: ['<rootDir>/packages'],
  testRegex: '/src/.*\\.test\\.ts$',
  runtime: '<rootDir>/packages/testing/testkit/scripts/jest-runtime.cjs',
  testEnvironment: '<rootDir>/packages/testing/testkit/src/test-environment.ts',
  setupFiles: [
    '<rootDir>/packages/testing/testkit/src/fixed-seed.ts',
    '<rootDir>/packages/testing/testkit/scripts/quick-passwords.cjs',
  ],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['/dist/'],
  transform: {
    '^.+\\.m?[jt]s$': [
      '@swc/jest',
      {
        // Separate files; inline maps would be loaded with each module.
        sourceMaps: true,
        module: { type: 'commonjs' },
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true },
        },
      },
    ],
  },
  // Transforms only the ESM-only dependencies in node_modules.
  transformIgnorePatterns: [
    '/node_modules/(?!(inversify|@inversifyjs|@borewit|@hexagon|@levischuck|@noble|@scure|@seriousme|@simplewebauthn|@tokenizer|@tus|file-type|jose|mime|oauth4webapi|oidc-provider|openid-client|qr|srvx|strtok3|token-types|uint8array-extras)/)',
  ],
  // Tools that only some tests need.
  modulePaths: ['<rootDir>/packages/testing/node_modules'],
  moduleNameMapper: {
    // One file instead of hundreds, which every suite of the HTTP adapter would load.
    '^class-validator$': '<rootDir>/node_modules/class-validator/bundles/class-validator.umd.js',
    ...sourcesByName(),
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
};

/** File system in memory: syncs take no time, and files survive a killed process as on a disk. */
const FILES_IN_MEMORY = '/dev/shm';
const REQUIRED_BYTES = 2 * 1024 ** 3;

/** Sets the temporary folder of this process, its workers and their child processes to one in memory, if there is room. */
function keepTemporaryFilesInMemory(): void {
  if (!existsSync(FILES_IN_MEMORY)) return;
  const { bavail, bsize } = statfsSync(FILES_IN_MEMORY);
  if (bavail * bsize < REQUIRED_BYTES) return;
  const folder = mkdtempSync(join(FILES_IN_MEMORY, 'parley-tests-'));
  process.env.TMPDIR = folder;
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
}

keepTemporaryFilesInMemory();

const config: Config = {
  // Jest's default leaves one core idle.
  maxWorkers: '100%',
  testSequencer: '<rootDir>/packages/testing/testkit/scripts/longest-first.cjs',
  // Generous for slow machines. Jest ignores the option in projects.
  testTimeout: 300_000,
  projects: [
    {
      ...project,
      displayName: 'quick',
      testRegex: `${QUICK_TESTS}.*\\.test\\.ts$`,
      testPathIgnorePatterns: [...project.testPathIgnorePatterns!, ...SLOW_TESTS, ...HOSTILE_TESTS],
    },
    {
      ...project,
      displayName: 'memory',
      testRegex: `^(?!.*${QUICK_TESTS}).*/src/.*\\.test\\.ts$|${SLOW_TESTS.join('|')}`,
      testPathIgnorePatterns: [
        ...project.testPathIgnorePatterns!,
        '/packages/testing/acceptance/',
        POSTGRES_TESTS,
        ...HOSTILE_TESTS,
        ...LONG_TESTS,
      ],
    },
    { ...project, displayName: 'hostile', testRegex: HOSTILE_TESTS.map((path) => `${path}.*(?<=\\.test\\.ts)$`) },
    // Operations over HTTP run once, on the storage that servers use.
    {
      ...project,
      displayName: 'sqlite',
      testRegex: '/packages/testing/acceptance/src/.*\\.test\\.ts$',
      testPathIgnorePatterns: [...project.testPathIgnorePatterns!, '/several-nodes.test.ts$'],
    },
    ...(isOnPostgres
      ? [
          {
            ...project,
            displayName: 'postgres',
            testRegex: [
              '/packages/adapters/postgres/src/.*\\.test\\.ts$',
              `/packages/testing/acceptance/src/(${suitesOnPostgres})\\.test\\.ts$`,
            ],
            // Sequences skip numbers, and two worlds need equal ids.
            testPathIgnorePatterns: [...project.testPathIgnorePatterns!, '/two-worlds.test.ts$'],
            ...(process.env.PARLEY_STATEMENTS && {
              setupFilesAfterEnv: ['<rootDir>/packages/testing/testkit/scripts/record-statements.cjs'],
            }),
            globalSetup: '<rootDir>/packages/adapters/postgres/src/testing/server.ts',
            globalTeardown: '<rootDir>/packages/adapters/postgres/src/testing/stop-server.ts',
          },
        ]
      : []),
  ],
};

export default config;
