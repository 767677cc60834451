import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { type ParseOptions, parseSync } from '@swc/core';

export const packagesDir = resolve(import.meta.dirname, '../../..');

export type SyntaxNode = Readonly<Record<string, unknown>> & { readonly type: string };

const PARSE: Extract<ParseOptions, { syntax: 'typescript' }> = {
  syntax: 'typescript',
  decorators: true,
  target: 'es2022',
};

/** Folders of the packages by name. Packages of one kind, such as adapters, share a folder. */
const FOLDERS: ReadonlyMap<string, string> = new Map(
  foldersIn(packagesDir)
    .flatMap((folder) => (isPackage(folder) ? [folder] : foldersIn(folder).filter(isPackage)))
    .map((folder) => [basename(folder), folder]),
);

/** Names of all packages. */
export function packageNames(): readonly string[] {
  return [...FOLDERS.keys()];
}

/** @throws Error if there is no such package. */
export function packageFolder(name: string): string {
  const folder = FOLDERS.get(name);
  if (folder === undefined) throw new Error(`There is no package ${name}`);
  return folder;
}

/** Path of `http/src/index.ts`, a file named by its package; null if there is no such package. */
export function pathInPackage(path: string): string | null {
  const [name = '', ...rest] = path.split('/');
  return FOLDERS.has(name) ? join(packageFolder(name), ...rest) : null;
}

/** Path relative to the folder of its package, after the name of the package: `http/src/index.ts`. */
export function shownPath(file: string): string {
  const inPackages = relative(packagesDir, file).split(sep);
  const isGrouped = !FOLDERS.has(inPackages[0]!);
  return inPackages.slice(isGrouped ? 1 : 0).join('/');
}

function foldersIn(parent: string): readonly string[] {
  return readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(parent, entry.name));
}

function isPackage(folder: string): boolean {
  return ['package.json', 'src'].every((name) => existsSync(join(folder, name)));
}

/** Sources of a package including tests. */
export function sourcesOf(name: string): string[] {
  const folder = join(packageFolder(name), 'src');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => join(folder, path))
    .sort();
}

/** Entry points such as `@parley/http` and `@parley/domain/messages` with their source files. */
export function entryPoints(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const name of packageNames()) {
    const manifest = JSON.parse(readFileSync(join(packageFolder(name), 'package.json'), 'utf8'));
    // `parley` is only for applications, and all its exports are public.
    if (manifest.name !== `@parley/${name}`) continue;
    const folder = join(packageFolder(name), 'src');
    for (const key of Object.keys(manifest.exports ?? {})) {
      const subpaths = key.endsWith('*') ? readdirSync(folder) : [key.slice(2)];
      for (const subpath of subpaths) {
        const index = join(folder, subpath, 'index.ts');
        if (existsSync(index)) found.set(['@parley', name, ...(subpath ? [subpath] : [])].join('/'), index);
      }
    }
  }
  return found;
}

/** The parser has a type for every kind of node; generic nodes are easier to search. */
export function parseSource(code: string): readonly SyntaxNode[] {
  const parse = (tsx: boolean) => parseSync(code, { ...PARSE, tsx }).body as unknown as readonly SyntaxNode[];
  try {
    return parse(false);
  } catch {
    // Components contain markup.
    return parse(true);
  }
}

/** Parsed code with the source text of its nodes, by offsets in bytes. */
export interface CodeWithOffsets {
  readonly nodes: readonly SyntaxNode[];
  rangeOf(node: SyntaxNode): { readonly start: number; readonly end: number };
  textOf(node: SyntaxNode): string;
}

export function parseWithOffsets(code: string): CodeWithOffsets {
  const bytes = Buffer.from(code);
  // The parser counts bytes from an arbitrary start, which the last statement reveals.
  const nodes = parseSource(`${code}\n;`);
  const spanOf = ({ span }: SyntaxNode) => span as { readonly start: number; readonly end: number };
  const base = spanOf(nodes.at(-1)!).start - bytes.length - 1;
  const rangeOf = (node: SyntaxNode) => ({ start: spanOf(node).start - base, end: spanOf(node).end - base });
  const textOf = (node: SyntaxNode) => {
    const { start, end } = rangeOf(node);
    return bytes.subarray(start, end).toString();
  };
  return { nodes, rangeOf, textOf };
}

const FROM = /^(?:(?:import|export|\}).* from ['"]|import ['"]).*$/gm;

/** Parses a source up to its last import or re-export, a small part of most files. */
export function parseImports(code: string): readonly SyntaxNode[] {
  const last = [...code.matchAll(FROM)].at(-1);
  if (!last) return [];
  try {
    return parseSource(code.slice(0, last.index + last[0].length));
  } catch {
    // The last one is in a text.
    return parseSource(code);
  }
}

/** Source file named by a relative import; null for style sheets and texts. */
export function importedSource(file: string, specifier: string): string | null {
  const path = resolve(file, '..', specifier);
  if (!path.endsWith('.js')) return null;
  const source = path.replace(/\.js$/, '.ts');
  return existsSync(source) ? source : `${source}x`;
}

/** Yields nodes at any depth. */
export const nodesOf = (code: string): Generator<SyntaxNode> => nodesIn(parseSource(code));

export function* nodesIn(nodes: readonly SyntaxNode[]): Generator<SyntaxNode> {
  const open: unknown[] = [nodes];
  while (open.length > 0) {
    const value = open.pop();
    if (Array.isArray(value)) open.push(...value);
    else if (typeof value === 'object' && value !== null) {
      if ('type' in value) yield value as SyntaxNode;
      // Positions make up half of all objects.
      for (const [name, part] of Object.entries(value)) if (name !== 'span') open.push(part);
    }
  }
}

/** Module specifier of a node: import, re-export, `import()`, `require()` or `import('…')` type. */
export function moduleNamed(node: SyntaxNode): string | undefined {
  return moduleLiteral(node)?.value as string | undefined;
}

function moduleLiteral(node: SyntaxNode): SyntaxNode | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
      return (node.source as SyntaxNode | null) ?? undefined;
    case 'TsImportType':
      return node.argument as SyntaxNode;
    case 'CallExpression': {
      const callee = node.callee as SyntaxNode;
      const argument = (node.arguments as { expression: SyntaxNode }[])[0]?.expression;
      const isImport = callee.type === 'Import' || (callee.type === 'Identifier' && callee.value === 'require');
      return isImport && argument?.type === 'StringLiteral' ? argument : undefined;
    }
    default:
      return undefined;
  }
}
