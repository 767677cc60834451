import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  entryPoints,
  importedSource,
  packageNames,
  packagesDir,
  parseImports,
  parseSource,
  type SyntaxNode,
  shownPath,
  sourcesOf,
} from './source-code.js';

const ENTRIES = entryPoints();
const root = resolve(packagesDir, '..');

/** Entry point for embedding applications, described in docs/embedding.md. */
const PUBLIC_ENTRY = '@parley/server';

interface Export {
  readonly name: string;
  readonly entry: string;
  /** Source file that declares the export. */
  readonly origin: string;
}

/** Entry points for API clients, which use wire names and are not loaded together with server packages. */
const CLIENT_ENTRIES = new Set(['@parley/client', '@parley/chat']);

/** Results of `exportsOf`; several entries export the names of one file. */
const exportsByFile = new Map<string, ReadonlyMap<string, string>>();

const EXPORTS: readonly Export[] = [...ENTRIES]
  .filter(([entry]) => !CLIENT_ENTRIES.has(entry))
  .flatMap(([entry, file]) => [...exportsOf(file)].map(([name, origin]) => ({ name, entry, origin })));

describe('public API', () => {
  it('gives each exported name one meaning', () => {
    const meanings = new Map<string, Set<string>>();
    for (const { name, origin } of EXPORTS) meanings.set(name, (meanings.get(name) ?? new Set()).add(origin));
    const ambiguous = [...meanings].filter(([, origins]) => origins.size > 1);
    expect(ambiguous.map(([name, origins]) => `${name}: ${[...origins].map(shown).join(', ')}`)).toEqual([]);
  });

  it('exports each declaration once', () => {
    const entriesOf = new Map<string, string[]>();
    for (const { name, entry } of EXPORTS) {
      if (entry !== PUBLIC_ENTRY) entriesOf.set(name, [...(entriesOf.get(name) ?? []), entry]);
    }
    expect([...entriesOf].filter(([, entries]) => entries.length > 1)).toEqual([]);
  });

  it('leaves out sources that no other package uses', () => {
    const used = new Set(packageNames().flatMap((name) => sourcesOf(name).flatMap((file) => importsIn(name, file))));
    for (const file of documents()) for (const one of importsInDocument(readFileSync(file, 'utf8'))) used.add(one);
    const usedSources = new Set(EXPORTS.filter(({ name, entry }) => used.has(`${name} of ${entry}`)).map(sourceIn));
    // Use cases and their input and output are API too. Sources that extend types of others must be reachable.
    const isApi = ({ entry, origin }: Export) =>
      entry === PUBLIC_ENTRY ||
      origin.endsWith('.use-cases.ts') ||
      /^declare module/m.test(readFileSync(origin, 'utf8'));
    const internal = EXPORTS.filter((it) => !isApi(it) && !usedSources.has(sourceIn(it)));
    expect(internal.map(({ name, entry }) => `${name} of ${entry}`)).toEqual([]);
  });
});

const sourceIn = ({ entry, origin }: Export): string => `${shown(origin)} in ${entry}`;

/** Exported names and the source files that declare them. */
function exportsOf(file: string): ReadonlyMap<string, string> {
  const found = exportsByFile.get(file) ?? readExports(file);
  exportsByFile.set(file, found);
  return found;
}

function readExports(file: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const node of parseSource(readFileSync(file, 'utf8'))) {
    const source = (node.source as SyntaxNode | null | undefined)?.value as string | undefined;
    if (node.type === 'ExportAllDeclaration') {
      for (const [name, origin] of exportsOf(sourceNamed(file, source!))) found.set(name, origin);
    } else if (node.type === 'ExportNamedDeclaration') {
      const origins = source === undefined ? null : exportsOf(sourceNamed(file, source));
      for (const { name, orig, exported } of node.specifiers as unknown as ExportSpecifier[]) {
        if (name) found.set(nameOf(name), file);
        else found.set(nameOf(exported ?? orig), origins?.get(nameOf(orig)) ?? file);
      }
    } else if (node.type === 'ExportDeclaration') {
      for (const name of namesDeclared(node.declaration as SyntaxNode)) found.set(name, file);
    }
  }
  return found;
}

interface ExportSpecifier {
  /** Present for `export * as name`. */
  readonly name?: SyntaxNode;
  readonly orig: SyntaxNode;
  readonly exported: SyntaxNode | null;
}

function nameOf(identifier: SyntaxNode): string {
  return identifier.value as string;
}

function namesDeclared(declaration: SyntaxNode): readonly string[] {
  if (declaration.type !== 'VariableDeclaration') {
    return [nameOf((declaration.identifier ?? declaration.id) as SyntaxNode)];
  }
  return (declaration.declarations as { id: SyntaxNode }[]).flatMap(({ id }) =>
    id.type === 'ObjectPattern'
      ? (id.properties as { key: SyntaxNode; value?: SyntaxNode }[]).map(({ key, value }) => nameOf(value ?? key))
      : [nameOf(id)],
  );
}

function sourceNamed(file: string, specifier: string): string {
  return ENTRIES.get(specifier) ?? importedSource(file, specifier) ?? resolve(file, '..', specifier);
}

/** Imported names as `name of entry`, limited to entries of other packages. */
function importsIn(packageName: string, file: string): readonly string[] {
  const own = `@parley/${packageName}`;
  const code = readFileSync(file, 'utf8');
  const lazy = [...code.matchAll(/const \{ ([\w, ]+) \} = await import\('(@parley\/[^']+)'\)/g)].flatMap(
    ([, names, entry]) => names!.split(', ').map((name) => `${name} of ${entry}`),
  );
  if (!code.includes("from '@parley/")) return lazy;
  const declared = parseImports(code).flatMap((node) => {
    if (node.type !== 'ImportDeclaration' && node.type !== 'ExportNamedDeclaration') return [];
    const entry = (node.source as SyntaxNode | null)?.value as string | undefined;
    if (entry === undefined || !ENTRIES.has(entry) || entry === own || entry.startsWith(`${own}/`)) return [];
    const specifiers = node.specifiers as Readonly<Record<string, SyntaxNode | null>>[];
    return specifiers.map((it) => `${nameOf((it.imported ?? it.local ?? it.orig)!)} of ${entry}`);
  });
  return [...lazy, ...declared];
}

const documents = (): readonly string[] => [
  join(root, 'README.md'),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join(root, 'docs', path)),
];

function importsInDocument(text: string): readonly string[] {
  return [...text.matchAll(/import (?:type )?\{([^}]*)\} from '(@parley\/[^']+)'/g)].flatMap(([, names, entry]) =>
    names!.split(',').map((name) => `${name.trim().replace(/^type /, '')} of ${entry}`),
  );
}

const shown = shownPath;
