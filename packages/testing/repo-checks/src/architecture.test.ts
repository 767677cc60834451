import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { AREAS } from './areas.js';
import {
  entryPoints,
  importedSource,
  moduleNamed,
  nodesOf,
  packageFolder,
  packageNames,
  packagesDir,
  parseImports,
  type SyntaxNode,
  shownPath,
  sourcesOf,
} from './source-code.js';

interface Rules {
  /**
   * Packages and modules that may be imported in addition to the package's own files. `node:` stands for all Node
   * modules.
   */
  readonly mayImport: readonly string[];
  /** Never shipped, so test libraries may be used anywhere. */
  readonly isTestSupport?: boolean;
}

/** Separate entry point: measured servers load it without the rest of the testkit. */
const PROCESS_USAGE = '@parley/testkit/process-usage';
/** State of a client, against which events are checked. */
const SYNCED_STATE = '@parley/testkit/synced-state';

/**
 * Allowed imports per package: server → adapters, moving → domain. Adapters never import each other; they import of
 * transfer what they store and show.
 */
const RULES: Readonly<Record<string, Rules>> = {
  domain: { mayImport: [] },
  transfer: { mayImport: ['@parley/domain'] },
  markdown: {
    mayImport: [
      '@parley/domain',
      'highlight.js',
      'katex',
      're2js',
      'snowball-stemmers',
      '@orama/stemmers',
      'porter2',
      'tlds',
      'url-template',
      'node:',
    ],
  },
  storage: { mayImport: ['@parley/domain', '@parley/transfer', 'lru-cache', 'node:'] },
  sqlite: {
    mayImport: ['@parley/domain', '@parley/transfer', '@parley/storage', 'better-sqlite3', 'lru-cache', 'node:'],
  },
  postgres: { mayImport: ['@parley/domain', '@parley/storage', 'node:', 'pg'] },
  'bus-nats': { mayImport: ['@nats-io/transport-node', '@parley/domain', 'node:'] },
  blobs: { mayImport: ['@aws-sdk/client-s3', '@aws-sdk/lib-storage', '@parley/domain', 'node:'] },
  'export-files': { mayImport: ['@parley/domain', '@parley/transfer', 'ajv', 'tar-stream', 'yauzl', 'yazl', 'node:'] },
  images: { mayImport: ['@parley/domain', 'libheif-js', 'sharp', 'unpdf', 'yauzl', 'node:'] },
  'import-plan': {
    mayImport: ['@parley/domain', '@parley/transfer', '@parley/export-files', 'ajv', 'better-sqlite3', 'node:'],
  },
  'import-readers': {
    mayImport: [
      '@parley/domain',
      '@parley/transfer',
      '@parley/export-files',
      'bson',
      'markdown-it',
      'parse5',
      'yauzl',
      'node:',
    ],
  },
  http: {
    mayImport: [
      '@parley/domain',
      '@parley/transfer',
      '@tus/server',
      'busboy',
      'class-transformer',
      'class-validator',
      'cookie',
      'express',
      'lossless-json',
      'lru-cache',
      'pofile',
      'proxy-addr',
      'reflect-metadata',
      'node:',
    ],
  },
  'node-adapters': {
    mayImport: [
      '@noble/ciphers',
      '@noble/hashes',
      '@parley/domain',
      '@simplewebauthn/server',
      'ajv',
      'disposable-email-domains-js',
      'file-type',
      'http-proxy-agent',
      'https-proxy-agent',
      'jose',
      'lru-cache',
      'mime',
      'nodemailer',
      'otplib',
      'parse5',
      'qr',
      're2js',
      'html-to-text',
      'ical.js',
      'postal-mime',
      'web-push',
      'node:',
      '@node-saml/node-saml',
      'ldapts',
      'openid-client',
      'undici',
      'zxcvbn',
    ],
  },
  // Runs next to the chat server; it shares the transport, the phone makers' protocols and the database engine.
  'push-service': {
    mayImport: [
      '@parley/domain',
      '@parley/http',
      '@parley/node-adapters',
      '@parley/sqlite',
      '@parley/storage',
      'better-sqlite3',
      'node:',
    ],
  },
  server: {
    mayImport: [
      '@parley/blobs',
      '@parley/bus-nats',
      '@parley/domain',
      '@parley/transfer',
      '@parley/export-files',
      '@parley/http',
      '@parley/images',
      '@parley/import-readers',
      '@parley/import-plan',
      '@parley/markdown',
      '@parley/node-adapters',
      '@parley/postgres',
      '@parley/push-service',
      '@parley/sqlite',
      '@parley/storage',
      '@opentelemetry/api',
      'csv-parse',
      'inversify',
      'mime',
      'pino',
      'node:',
      'prom-client',
      'smtp-server',
      'tar-stream',
    ],
  },
  acceptance: {
    mayImport: [
      '@parley/blobs',
      '@parley/chat',
      '@parley/client',
      '@parley/domain',
      '@parley/transfer',
      '@parley/export-files',
      '@noble/ciphers',
      '@noble/hashes',
      'jose',
      'otplib',
      'yauzl',
      '@parley/http',
      '@parley/images',
      '@parley/import-readers',
      '@parley/import-plan',
      '@parley/markdown',
      '@parley/node-adapters',
      '@parley/postgres',
      '@parley/postgres/testing',
      '@parley/repo-checks',
      '@parley/server',
      '@parley/server/testing',
      '@parley/sqlite',
      '@parley/testkit',
      SYNCED_STATE,
      'express',
      'node:',
      'smtp-server',
    ],
    isTestSupport: true,
  },
  // Runs in browsers and must stay small, so it imports only its own files.
  client: { mayImport: [] },
  // Runs in browsers and in Node, so it uses neither the DOM nor Node modules.
  chat: { mayImport: ['@parley/client', '@preact/signals-core'] },
  // Browser code; the build bundles its libraries.
  web: {
    mayImport: [
      '@base-ui/react',
      '@infolektuell/noto-color-emoji',
      '@lingui/core',
      '@lingui/react',
      '@noble/hashes',
      '@parley/chat',
      '@parley/client',
      // Formatted text, loaded with the first paste.
      '@parley/domain',
      '@preact/signals-core',
      '@tanstack/react-virtual',
      'katex',
      'react',
      'react-dom',
      'tus-js-client',
    ],
  },
  testkit: {
    mayImport: ['@parley/chat', '@parley/client', '@parley/domain', '@parley/transfer', 'node:'],
    isTestSupport: true,
  },
  // Package for applications; re-exports its part of the other packages.
  parley: {
    mayImport: [
      '@parley/domain',
      '@parley/markdown',
      '@parley/server',
      '@parley/simulator',
      '@parley/testkit',
      'node:',
    ],
  },
  'create-parley': { mayImport: ['node:'] },
  bench: {
    mayImport: [
      '@parley/domain',
      '@parley/markdown',
      '@parley/postgres',
      '@parley/server',
      '@parley/sqlite',
      '@parley/testkit',
      PROCESS_USAGE,
      'better-sqlite3',
      'express',
      'markdown-it',
      'playwright-core',
      'node:',
    ],
  },
  e2e: {
    mayImport: [
      '@parley/client',
      '@parley/domain',
      '@parley/http',
      '@parley/postgres',
      '@parley/server',
      '@parley/testkit',
      PROCESS_USAGE,
      's3rver',
      'zulip-js',
      'node:',
    ],
    isTestSupport: true,
  },
  // The whole engine in one process, as an application composes it.
  simulator: {
    mayImport: [
      '@parley/domain',
      '@parley/export-files',
      '@parley/http',
      '@parley/markdown',
      '@parley/node-adapters',
      '@parley/server',
      '@parley/server/testing',
      '@parley/sqlite',
      '@parley/testkit',
      SYNCED_STATE,
      '@parley/transfer',
      'ajv/dist/2020.js',
      'node:',
    ],
    isTestSupport: true,
  },
  site: { mayImport: ['@parley/http', 'minisearch', 'vitepress', 'node:'], isTestSupport: true },
  // Checks of the repository itself.
  'repo-checks': {
    mayImport: ['@parley/domain', '@parley/http', '@swc/jest', 'jest-runner', 'node:'],
    isTestSupport: true,
  },
};

/** Source folders used only by the package's tests. */
const TEST_FOLDERS = new Set(['fixtures', 'testing']);

const TEST_LIBRARIES = [
  // Contracts derive sample rows from the declared tables.
  '@parley/storage',
  // The PostgreSQL adapter compares its schema with the SQLite schema.
  '@parley/sqlite',
  'better-sqlite3',
  // Tests of readers import what they read.
  '@parley/import-plan',
  '@parley/repo-checks',
  '@parley/testkit',
  // Contracts require Jest, so the index does not export them.
  '@parley/testkit/contracts',
  '@jest/globals',
  '@swc/core',
  'esbuild',
  'express',
  '@seriousme/openapi-schema-validator',
  'ajv',
  'dockerfile-utils',
  'yaml',
  'fast-check',
  // Middlewares of host applications, and Express 4.
  'compression',
  'cookie-parser',
  'cors',
  'express-rate-limit',
  'express-session',
  'express4',
  'helmet',
  'morgan',
  'passport',
  'ldapts',
  'oidc-provider',
  'xml-crypto',
  'yazl',
  'jest-environment-node',
  'markdown-it',
  'parse5',
  's3rver',
  'sharp',
  'node:',
];

const OFFERED = entryPoints();
/** Imports per source file. */
const IMPORTS = new Map<string, readonly string[]>();

describe('architecture', () => {
  it('has a rule for every package', () => {
    expect([...packageNames()].sort()).toEqual(Object.keys(RULES).sort());
  });

  it.each(Object.keys(RULES))('%s imports only allowed packages', (name) => {
    expect(sourcesOf(name).flatMap((file) => strayImports(name, file, importsIn(file)))).toEqual([]);
  });

  it.each(Object.keys(RULES))('%s has no import cycles, including type imports', (name) => {
    expect(findCircle(sourcesOf(name), localImportsIn).map(shownPath)).toEqual([]);
  });

  it.each(Object.keys(RULES))('%s declares its imports in package.json', (name) => {
    const manifestIn = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const manifest = manifestIn(packageFolder(name));
    // Programs that `npm start` and `npm test` do not run also use the tools.
    const tools = name === 'bench' ? manifestIn(dirname(packageFolder(name))).devDependencies : {};
    const declared = new Set(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies, ...tools }));
    const shipped = sourcesOf(name).filter((file) => !isTest(name, file));
    const imported = shipped.flatMap(importsIn).map(packageOf);
    expect([...new Set(imported)].filter((it) => !isLocal(it) && it !== 'node:' && !declared.has(it))).toEqual([]);
  });

  // Acceptance consists of tests, which are not part of any project.
  it.each(Object.keys(RULES).filter((name) => name !== 'acceptance'))(
    '%s references only projects that it may import',
    (name) => {
      const config = JSON.parse(readFileSync(join(packageFolder(name), 'tsconfig.json'), 'utf8'));
      const references = (config.references as { path: string }[]).map(({ path }) => `@parley/${basename(path)}`);
      expect(references.filter((it) => !RULES[name]!.mayImport.includes(it))).toEqual([]);
    },
  );

  it('reads neither system time nor randomness in the domain', () => {
    const files = sourcesOf('domain').filter((file) => !isTest('domain', file));
    expect(files.flatMap((file) => hiddenInputsOf(readFileSync(file, 'utf8')).map((it) => `${file}: ${it}`))).toEqual(
      [],
    );
  });

  it('uses the timer port in the server, except for shutdown deadlines', () => {
    const deadlines = ['start/logger.ts', 'start/serve.ts'];
    const files = sourcesOf('server').filter((file) => !isTest('server', file));
    const withTimers = files.filter((file) => /\bset(Timeout|Interval)\(/.test(readFileSync(file, 'utf8')));
    expect(withTimers.map((file) => relative(join(packageFolder('server'), 'src'), file))).toEqual(deadlines);
  });

  it('calls other services by modules that use the outgoing proxy', () => {
    const callers = [
      'blobs',
      'export-files',
      'http',
      'images',
      'import-plan',
      'node-adapters',
      'push-service',
      'server',
    ].flatMap((name) => sourcesOf(name).filter((file) => !isTest(name, file)));
    const isCall = /\b(?:await|return) fetch\(|\brequestByHttp\b|\bhttps?\.(?:request|get)\(/;
    expect(callers.filter((file) => isCall.test(readFileSync(file, 'utf8'))).map((file) => basename(file))).toEqual([
      'log-in-services.ts',
      'outgoing-proxy.ts',
      'web-client.ts',
    ]);
  });

  it('compiles the domain without Node or browser types', () => {
    const config = JSON.parse(readFileSync(join(packageFolder('domain'), 'tsconfig.json'), 'utf8'));
    const shared = JSON.parse(readFileSync(join(packagesDir, '../tsconfig.json'), 'utf8'));
    expect(config.compilerOptions.types).toEqual([]);
    expect(config.compilerOptions.lib ?? shared.compilerOptions.lib).toEqual(['es2023']);
  });
});

describe.each(Object.entries(AREAS))('areas of %s', (name, areas) => {
  const root = join(packageFolder(name), 'src');
  // Files outside the areas combine them and may import all of them.
  const areaImports = sourcesOf(name)
    .filter((file) => !isTest(name, file) && relative(root, file).includes(sep))
    .flatMap((file) => localImportsIn(file).map((target) => [folderOf(root, file), folderOf(root, target)] as const))
    .filter(([from, to]) => from !== to);

  it('lists every area', () => {
    const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const found = folders.map((folder) => folder.name).filter((folder) => !TEST_FOLDERS.has(folder));
    expect(found.sort()).toEqual([...areas].sort());
  });

  it('imports only earlier areas', () => {
    const upward = areaImports.filter(([from, to]) => areas.indexOf(from) < areas.indexOf(to) || !areas.includes(to));
    expect(new Set(upward.map(([from, to]) => `${from} → ${to}`))).toEqual(new Set());
  });
});

describe('architecture check', () => {
  it.each`
    code                                                    | stray
    ${"import { open } from 'node:fs'"}                     | ${'node:fs'}
    ${"import type { Request } from 'express'"}             | ${'express'}
    ${"export * from '@parley/sqlite'"}                     | ${'@parley/sqlite'}
    ${"export { x } from '@parley/sqlite'"}                 | ${'@parley/sqlite'}
    ${"export const load = () => import('@parley/http')"}   | ${'@parley/http'}
    ${"export type Db = import('better-sqlite3').Database"} | ${'better-sqlite3'}
    ${"export const fs = require('node:fs')"}               | ${'node:fs'}
    ${"import { x } from '../../../sqlite/src/x.js'"}       | ${'../../../sqlite/src/x.js'}
    ${"import { x } from '@parley/domain/dist/x.js'"}       | ${'@parley/domain/dist/x.js'}
    ${"import { x } from '@parley/domain/x'"}               | ${'@parley/domain/x'}
    ${"import { x } from '@parley/domain'"}                 | ${'@parley/domain'}
  `('detects $stray', ({ code, stray }: { code: string; stray: string }) => {
    const file = join(packageFolder('domain'), 'src/kernel/made-up.ts');
    expect(strayImports('domain', file, importsOf(code))).toEqual([`domain/src/kernel/made-up.ts imports ${stray}`]);
  });

  it('accepts allowed imports', () => {
    const file = join(packageFolder('sqlite'), 'src/made-up.ts');
    const code =
      "import Database from 'better-sqlite3'; import { readFileSync } from 'node:fs'; import './other.js'; " +
      "import { User } from '@parley/domain/users'";
    expect(strayImports('sqlite', file, importsOf(code))).toEqual([]);
  });

  it.each`
    imports                               | circle
    ${{ a: ['b'], b: ['c'], c: ['b'] }}   | ${['b', 'c']}
    ${{ a: ['a'] }}                       | ${['a']}
    ${{ a: ['b', 'c'], b: ['c'], c: [] }} | ${[]}
  `(
    'detects the import cycle $circle',
    ({ imports, circle }: { imports: Record<string, string[]>; circle: string[] }) => {
      expect(findCircle(Object.keys(imports), (file) => imports[file]!)).toEqual(circle);
    },
  );

  it.each(['Date.now()', 'new Date()', 'Date()', 'Math.random()', 'globalThis.Date.now()'])('detects %s', (code) => {
    expect(hiddenInputsOf(`export const x = () => ${code};`)).toHaveLength(1);
  });

  it('allows the domain to construct a date from a given time', () => {
    expect(hiddenInputsOf('export const day = (ms: number) => new Date(ms).getUTCDay() + Math.floor(ms);')).toEqual([]);
  });
});

function folderOf(sources: string, file: string): string {
  return relative(sources, file).split(sep)[0]!;
}

function isTest(name: string, file: string): boolean {
  return (
    RULES[name]!.isTestSupport === true ||
    /\.(test|child)\.ts$/.test(file) ||
    TEST_FOLDERS.has(relative(join(packageFolder(name), 'src'), file).split(sep)[0]!)
  );
}

function strayImports(name: string, file: string, imports: readonly string[]): string[] {
  const allowed = [...RULES[name]!.mayImport, ...(isTest(name, file) ? TEST_LIBRARIES : [])];
  const homes = [join(packageFolder(name), 'src')];
  // Stand-ins for other servers, shared by acceptance tests and tests of the built server.
  if (isTest(name, file)) homes.push(join(packageFolder('acceptance'), 'src/testing'));
  const isAllowed = (specifier: string) =>
    isLocal(specifier)
      ? homes.some((home) => resolve(file, '..', specifier).startsWith(home + sep))
      : // Own packages only through their indexes; single files of others too, which load faster.
        allowed.includes(packageOf(specifier)) && (!specifier.startsWith('@parley/') || OFFERED.has(specifier));
  return imports
    .filter((specifier) => !isAllowed(specifier))
    .map((specifier) => `${shownPath(file)} imports ${specifier}`);
}

function isLocal(specifier: string): boolean {
  return specifier.startsWith('.');
}

/** Returns the package of a specifier: `node:fs` → `node:`, `@scope/name/file` → `@scope/name`. */
function packageOf(specifier: string): string {
  if (isLocal(specifier)) return specifier;
  if (specifier.startsWith('node:')) return 'node:';
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Imports of a source file on disk, parsed once. */
function importsIn(file: string): readonly string[] {
  const found = IMPORTS.get(file) ?? importsOf(readFileSync(file, 'utf8'));
  IMPORTS.set(file, found);
  return found;
}

function localImportsIn(file: string): readonly string[] {
  return importsIn(file)
    .filter(isLocal)
    .map((specifier) => importedSource(file, specifier))
    .filter((source) => source !== null);
}

/** Returns the files of an import cycle, each importing the next; empty if there is none. */
function findCircle(files: readonly string[], importsOfFile: (file: string) => readonly string[]): readonly string[] {
  const isOver = new Set<string>();
  const path: string[] = [];
  function walk(file: string): readonly string[] | null {
    if (path.includes(file)) return path.slice(path.indexOf(file));
    if (isOver.has(file)) return null;
    path.push(file);
    const circle = importsOfFile(file).reduce<readonly string[] | null>((found, next) => found ?? walk(next), null);
    if (circle) return circle;
    isOver.add(file);
    path.pop();
    return null;
  }
  for (const file of files) {
    const circle = walk(file);
    if (circle) return circle;
  }
  return [];
}

/** Returns every module specifier in a source. */
function importsOf(code: string): string[] {
  const found: string[] = [];
  // Declarations are at the top level.
  for (const node of /\b(import|require)\(/.test(code) ? nodesOf(code) : parseImports(code)) {
    const specifier = moduleNamed(node);
    if (specifier !== undefined) found.push(specifier);
  }
  return found;
}

/** Returns uses of `Date.now`, `Math.random` and `Date` without arguments. */
function hiddenInputsOf(code: string): string[] {
  if (!/Date|random/.test(code)) return [];
  const found: string[] = [];
  for (const node of nodesOf(code)) {
    if (node.type === 'MemberExpression') {
      const name = `${nameOf(node.object as SyntaxNode)}.${nameOf(node.property as SyntaxNode)}`;
      if (name === 'Date.now' || name === 'Math.random') found.push(name);
    }
    const isDate =
      (node.type === 'NewExpression' || node.type === 'CallExpression') && nameOf(node.callee as SyntaxNode);
    const isBare = ((node.arguments as unknown[] | null | undefined) ?? []).length === 0;
    if (isDate === 'Date' && isBare) found.push('Date of now');
  }
  return found;
}

/** Name of an identifier, or of the last property in a chain: `globalThis.Date` → `Date`. */
function nameOf(node: SyntaxNode): string | undefined {
  if (node.type === 'Identifier') return node.value as string;
  return node.type === 'MemberExpression' ? nameOf(node.property as SyntaxNode) : undefined;
}
