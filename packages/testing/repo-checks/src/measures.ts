import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { AREAS } from './areas.js';
import { commentsOf } from './prose.js';
import { packageFolder, packageNames, packagesDir, shownPath, sourcesOf } from './source-code.js';

/** Packages that are never shipped. */
const SUPPORT_PACKAGES = new Set(['acceptance', 'bench', 'e2e', 'repo-checks', 'site', 'testkit']);
/** Folders used only by tests, at any depth. */
const SUPPORT_FOLDERS = new Set(['fixtures', 'testing']);
const GENERATED_SOURCES = new Set([join(packageFolder('client'), 'src/api.ts')]);

/** Figure about the repository's structure. */
export interface Measure {
  readonly name: string;
  readonly value: number;
  /** Files or folders behind the figure, if they help to find the cause. */
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

/** Hand-written product sources: no tests, test support or generated files. */
export function productSources(): readonly Source[] {
  return packageNames()
    .filter((name) => !SUPPORT_PACKAGES.has(name) && existsSync(join(packageFolder(name), 'src')))
    .flatMap((packageName) =>
      sourcesOf(packageName)
        .filter((file) => !/\.(test|child)\.ts$/.test(file) && !GENERATED_SOURCES.has(file))
        .filter(
          (file) =>
            !shownPath(file)
              .split('/')
              .some((part) => SUPPORT_FOLDERS.has(part)),
        )
        .map((file) => {
          const text = readFileSync(file, 'utf8');
          return { file, packageName, text, ...countLines(text) };
        }),
    );
}

/** Current measures of the repository, in the order of the printed table. */
export function measures(): readonly Measure[] {
  const sources = productSources();
  const lines = sum(sources.map((source) => source.lines));
  const importLines = sum(sources.map((source) => source.importLines));
  const long = sources.filter((source) => source.lines > MAX_FILE_LINES);
  return [
    featureMeasure(sources),
    measure('% of import and export lines', percent(importLines, lines)),
    measure('% of lines that stand elsewhere too', percent(countRepeated(sources.map(({ text }) => text)), lines)),
    stiffMeasure(sources),
    ...domainMeasures(sources),
    ...circleMeasures(sources),
    ...lineMeasures(sources),
    counted(
      `files above ${MAX_FILE_LINES} lines`,
      long.map((source) => `${shownPath(source.file)} ${source.lines}`),
    ),
  ];
}

const MAX_FILE_LINES = 450;

/** Lists of texts and names, which grow with languages. */
const DATA = /\/(?:page-texts|notice-texts|email-quote-words|(?:foreign-)?emoji-names)\.ts$/;

/** Lines per package, lines of tests and tools, and words of documents. Data and generated files have no limit. */
function lineMeasures(sources: readonly Source[]): readonly Measure[] {
  const product = sources.filter(({ file }) => !DATA.test(file));
  const known = new Set(sources.map(({ file }) => file));
  const others = packageNames()
    .filter((name) => existsSync(join(packageFolder(name), 'src')))
    .flatMap(sourcesOf)
    .filter((file) => !known.has(file) && !GENERATED_SOURCES.has(file) && !DATA.test(file));
  const docs = join(packagesDir, '../docs');
  const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.md'));
  return [
    ...[...new Set(product.map(({ packageName }) => packageName))]
      .sort()
      .map((name) => measure(`lines: ${name}`, sum(product.map((it) => (it.packageName === name ? it.lines : 0))))),
    measure('lines of tests and tools', sum(others.map((file) => countLines(readFileSync(file, 'utf8')).lines))),
    measure('words of documents', sum(pages.map((path) => readFileSync(join(docs, path), 'utf8').split(/\s+/).length))),
  ];
}

const measure = (name: string, value: number, details: readonly string[] = []): Measure => ({ name, value, details });
const counted = (name: string, details: readonly string[]): Measure => measure(name, details.length, details);
/** One decimal. */
const percent = (part: number, whole: number): number => Math.round((1000 * part) / whole) / 10;

/** Declaration of a feature in one layer. */
const FEATURE =
  /^export const ([A-Z][A-Z0-9_]*) = (?:new Table\b|\{\n(?:[^}\n].*\n|\n)*\} satisfies (?:FeatureParts|\w*Feature)\b)/gm;

/** Most places that name one feature outside of its files. Files of the same name in all packages are one feature. */
function featureMeasure(sources: readonly Source[]): Measure {
  const placesByFeature = new Map<string, Set<string>>();
  for (const { file, packageName, text } of sources) {
    const feature = basename(file, '.ts');
    const places = placesByFeature.get(feature) ?? new Set();
    for (const [, name] of text.matchAll(FEATURE)) {
      placesByFeature.set(feature, places);
      const imported = new RegExp(`\\{[^}]*\\b${name}\\b[^}]*\\} from '[./\\w-]*/${feature}\\.js'`);
      for (const other of sources) {
        const isPlace = other.file !== file && other.packageName === packageName && imported.test(other.text);
        if (isPlace && basename(other.file) !== 'index.ts') places.add(shownPath(other.file));
      }
    }
  }
  const most = Math.max(...[...placesByFeature.values()].map(({ size }) => size));
  const details = [...placesByFeature].filter(([, { size }]) => size === most);
  return measure(
    'places that name one feature',
    most,
    details.map(([feature, places]) => `${feature}: ${[...places].join(', ')}`),
  );
}

/** Lines of a passage that counts as repeated. */
const REPEATED_LINES = 6;

/**
 * Number of lines in passages of at least six lines that also occur elsewhere, without blanks, comments and imports.
 */
export function countRepeated(texts: readonly string[]): number {
  const codes = texts.map(codeLinesOf);
  const passages = (code: readonly string[]) =>
    code.slice(REPEATED_LINES - 1).map((_, start) => code.slice(start, start + REPEATED_LINES).join('\n'));
  const counts = new Map<string, number>();
  for (const passage of codes.flatMap(passages)) counts.set(passage, (counts.get(passage) ?? 0) + 1);
  return sum(
    codes.map((code) => {
      const repeated = new Set<number>();
      for (const [start, passage] of passages(code).entries()) {
        if (counts.get(passage)! > 1) for (let n = 0; n < REPEATED_LINES; n++) repeated.add(start + n);
      }
      return repeated.size;
    }),
  );
}

/** Words of stiff English, which plain sentences do without. */
const STIFF =
  /\b(?:whose|beside|meanwhile|any more|of its own|of their own|(?:is|are|was|were) (?:asked|told|heard)|that (?:is|are|was|were) no(?! longer))\b/i;

/** Only the first line of each comment is read. */
function stiffMeasure(sources: readonly Source[]): Measure {
  const comments = sources.flatMap(({ file, text }) => commentsOf(text).map((comment) => ({ ...comment, file })));
  const stiff = comments.filter(({ text }) => STIFF.test(text));
  return measure(
    '% of comments in stiff English',
    percent(stiff.length, comments.length),
    stiff.map(({ file, line, text }) => `${shownPath(file)}:${line} ${text}`),
  );
}

function domainMeasures(sources: readonly Source[]): readonly Measure[] {
  const folders = readdirSync(join(packageFolder('domain'), 'src'), { withFileTypes: true }).filter((it) =>
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

/** Folders in circles per package. A file directly below `src` counts as a separate folder. */
function circleMeasures(sources: readonly Source[]): readonly Measure[] {
  return [...new Set(sources.map(({ packageName }) => packageName))].sort().map((name) => {
    const circles = circlesOf(arrowsOf(sources.filter(({ packageName }) => packageName === name)));
    const details = circles.map((circle) => [...circle].sort().join(', '));
    return measure(`folders in circles: ${name}`, sum(circles.map((circle) => circle.length)), details);
  });
}

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

const LOCAL_IMPORT = /(?:from|import)\s*\(?'(\.[^']+)'/g;

/** Top-level folders below `src`, each with the folders that its files import. */
function arrowsOf(sources: readonly Source[]): Graph {
  const arrows = new Map<string, Set<string>>();
  for (const { file, packageName, text } of sources) {
    const folderOf = (path: string) => relative(join(packageFolder(packageName), 'src'), path).split(sep)[0]!;
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

/** Strongly connected components with more than one node (Tarjan). */
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

/**
 * Relies on the formatter: a standalone comment begins its line; an import begins in the first column and ends in `;`.
 */
function readLines(text: string, take: (code: string, isImport: boolean) => void): void {
  let isInComment = false;
  let isInImport = false;
  for (const line of text.split('\n')) {
    const code = line.trim();
    if (isInComment || code.startsWith('/*')) {
      isInComment = !code.includes('*/');
      continue;
    }
    if (code === '' || code.startsWith('//')) continue;
    const isImport: boolean = isInImport || /^(?:import\b|export (?:type )?[{*])/.test(line);
    isInImport = isImport && !code.endsWith(';');
    take(code, isImport);
  }
}

export function countLines(text: string): { readonly lines: number; readonly importLines: number } {
  let lines = 0;
  let importLines = 0;
  readLines(text, (_, isImport) => {
    lines++;
    if (isImport) importLines++;
  });
  return { lines, importLines };
}

/** Trimmed lines without blanks, comments and imports. */
function codeLinesOf(text: string): readonly string[] {
  const lines: string[] = [];
  readLines(text, (code, isImport) => {
    if (!isImport) lines.push(code);
  });
  return lines;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export function filesBelow(folder: string, ending: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => join(folder, path))
    .sort();
}
