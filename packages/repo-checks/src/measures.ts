import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { AREAS } from './areas.js';
import { packageNames, packagesDir } from './source-code.js';

/** Packages that are never shipped. */
const SUPPORT_PACKAGES = new Set(['acceptance', 'bench', 'e2e', 'repo-checks', 'testkit']);
/** Folders that only tests use, at any depth. */
const SUPPORT_FOLDERS = new Set(['fixtures', 'testing']);
const GENERATED_SOURCES = new Set([join(packagesDir, 'client/src/api.ts')]);
const GENERATED_DOCUMENT = /^<!-- Made by /m;

/** One figure about the structure of the repository. */
export interface Measure {
  readonly name: string;
  readonly value: number;
  /** Files or folders behind the figure, where they help to find the cause. */
  readonly details: readonly string[];
}

interface Source {
  readonly file: string;
  readonly packageName: string;
  readonly text: string;
  /** Lines that are neither blank nor comments. */
  readonly lines: number;
  /** Lines of import declarations and re-exports. */
  readonly importLines: number;
}

/** Hand-written product sources: no tests, no support for tests, nothing generated. */
export function productSources(): readonly Source[] {
  return packageNames()
    .filter((name) => !SUPPORT_PACKAGES.has(name) && existsSync(join(packagesDir, name, 'src')))
    .flatMap((packageName) =>
      filesBelow(join(packagesDir, packageName, 'src'), '.ts')
        .filter((file) => !/\.(test|child)\.ts$/.test(file) && !GENERATED_SOURCES.has(file))
        .filter(
          (file) =>
            !relative(packagesDir, file)
              .split(sep)
              .some((part) => SUPPORT_FOLDERS.has(part)),
        )
        .map((file) => {
          const text = readFileSync(file, 'utf8');
          return { file, packageName, text, ...countLines(text) };
        }),
    );
}

/** Every measure of the repository as it is, in the order of the printed table. */
export function measures(): readonly Measure[] {
  const sources = productSources();
  const lines = sum(sources.map((source) => source.lines));
  const importLines = sum(sources.map((source) => source.importLines));
  const longerThan = (limit: number) =>
    sources
      .filter((source) => source.lines > limit)
      .map(({ file, lines }) => `${relative(packagesDir, file)} ${lines}`);
  return [
    measure('product lines', lines),
    measure('product files', sources.length),
    measure('median lines of a file', medianOf(sources.map((source) => source.lines))),
    measure('% of import and export lines', Math.round((1000 * importLines) / lines) / 10),
    ...domainMeasures(sources),
    ...circleMeasures(sources),
    counted('files above 450 lines', longerThan(450)),
    counted('files above 400 lines', longerThan(400)),
    measure('lines of hand-written documents', documentLines()),
  ];
}

const measure = (name: string, value: number, details: readonly string[] = []): Measure => ({ name, value, details });
const counted = (name: string, details: readonly string[]): Measure => measure(name, details.length, details);

function domainMeasures(sources: readonly Source[]): readonly Measure[] {
  const folders = readdirSync(join(packagesDir, 'domain/src'), { withFileTypes: true }).filter((it) =>
    it.isDirectory(),
  );
  const arrows = [...arrowsOf(sources.filter(({ packageName }) => packageName === 'domain'))].flatMap(
    ([from, targets]) => [...targets].map((to) => [from, to] as const),
  );
  const upward = arrows.filter(([from, to]) => AREAS.domain!.indexOf(from) < AREAS.domain!.indexOf(to));
  return [
    measure('domain folders', folders.length),
    measure('arrows between domain folders', arrows.length),
    counted(
      'upward arrows between domain folders',
      upward.map(([from, to]) => `${from} → ${to}`),
    ),
  ];
}

/** Folders in circles per package. A file directly below `src` counts as a folder of its own. */
function circleMeasures(sources: readonly Source[]): readonly Measure[] {
  return [...new Set(sources.map(({ packageName }) => packageName))].sort().map((name) => {
    const circles = circlesOf(arrowsOf(sources.filter(({ packageName }) => packageName === name)));
    const details = circles.map((circle) => [...circle].sort().join(', '));
    return measure(`folders in circles: ${name}`, sum(circles.map((circle) => circle.length)), details);
  });
}

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

const LOCAL_IMPORT = /(?:from|import)\s*\(?'(\.[^']+)'/g;

/** First folders below `src`, each with the ones that its files import from. */
function arrowsOf(sources: readonly Source[]): Graph {
  const arrows = new Map<string, Set<string>>();
  for (const { file, packageName, text } of sources) {
    const folderOf = (path: string) => relative(join(packagesDir, packageName, 'src'), path).split(sep)[0]!;
    const from = folderOf(file);
    const targets = arrows.get(from) ?? new Set();
    arrows.set(from, targets);
    for (const [, specifier] of text.matchAll(LOCAL_IMPORT)) {
      const to = folderOf(resolve(dirname(file), specifier!.replace(/\.js$/, '.ts')));
      if (to !== from) targets.add(to);
    }
  }
  return arrows;
}

/** Strongly connected components of more than one node (Tarjan). */
export function circlesOf(graph: Graph): readonly (readonly string[])[] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (node: string): void => {
    order.set(node, order.size);
    lowest.set(node, order.get(node)!);
    open.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) visit(next);
      if (open.includes(next)) lowest.set(node, Math.min(lowest.get(node)!, lowest.get(next)!));
    }
    if (lowest.get(node) !== order.get(node)) return;
    const circle = open.splice(open.indexOf(node));
    if (circle.length > 1) circles.push(circle);
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return circles;
}

/** Relies on the formatter: a comment of its own begins its line, an import begins in the first column and ends in `;`. */
export function countLines(text: string): { readonly lines: number; readonly importLines: number } {
  let lines = 0;
  let importLines = 0;
  let isInComment = false;
  let isInImport = false;
  for (const line of text.split('\n')) {
    const code = line.trim();
    if (isInComment || code.startsWith('/*')) {
      isInComment = !code.includes('*/');
      continue;
    }
    if (code === '' || code.startsWith('//')) continue;
    lines++;
    if (isInImport || /^(?:import\b|export (?:type )?[{*])/.test(line)) {
      importLines++;
      isInImport = !code.endsWith(';');
    }
  }
  return { lines, importLines };
}

function documentLines(): number {
  const docs = resolve(packagesDir, '../docs');
  const texts = filesBelow(docs, '.md')
    .filter((file) => !file.startsWith(join(docs, 'contract') + sep))
    .map((file) => readFileSync(file, 'utf8'));
  return sum(texts.filter((text) => !GENERATED_DOCUMENT.test(text)).map((text) => text.trimEnd().split('\n').length));
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

export function filesBelow(folder: string, ending: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => join(folder, path))
    .sort();
}
