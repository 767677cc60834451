import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { type Section, sectionsOf } from './documents.js';
import { packageFolder, packageNames } from './source-code.js';

const root = resolve(__dirname, '../../../..');
const contractDir = join(root, 'docs/contract');

const AREAS = ['protocol', 'events', 'messages', 'channels', 'users', 'organization', 'markdown', 'clients'] as const;
const OTHERS = ['architecture', 'extensions'] as const;
const DOCUMENTS = [...AREAS, ...OTHERS];

/** Documents that references may name. */
type Documents = ReadonlyMap<string, ReadonlyMap<string, Section>>;

interface Known {
  readonly documents: Documents;
  /** Decision numbers in the contract's README. */
  readonly decisions: ReadonlySet<number>;
}

const known: Known = {
  documents: new Map([
    ...AREAS.map((area) => [area, sectionsOf(readFileSync(join(contractDir, `${area}.md`), 'utf8'))] as const),
    ...OTHERS.map((name) => [name, sectionsOf(readFileSync(join(root, `docs/${name}.md`), 'utf8'))] as const),
  ]),
  decisions: decisionsOf(readFileSync(join(contractDir, 'README.md'), 'utf8')),
};

describe('section reference', () => {
  it('resolves to an existing section in sources', () => {
    expect(sourceFiles().flatMap((file) => problemsOfFile(file))).toEqual([]);
  });

  it('resolves to an existing section in documents', () => {
    expect(documentFiles().flatMap((file) => problemsOfFile(file))).toEqual([]);
  });
});

it('documents have a separator row below each table header', () => {
  const broken = documentFiles().flatMap((file) => {
    const lines = readFileSync(file, 'utf8').split('\n');
    return (
      lines
        .map((line, index) => ({ line, index }))
        // Contract examples contain whole tables in one line.
        .filter(({ line, index }) => /^\|[^⏎]*$/.test(line) && !lines[index - 1]?.startsWith('|'))
        .filter(({ index }) => !/^\|(?: *:?-+:? *\|)+$/.test(lines[index + 1] ?? ''))
        .map(({ line, index }) => `${relative(root, file)}:${index + 1} ${line}`)
    );
  });
  expect(broken).toEqual([]);
});

describe('reference check', () => {
  const section = (rows: readonly number[] = []): Section => ({ title: '', text: '', rows: new Set(rows) });
  const madeUp: Known = {
    documents: new Map([
      ['messages', new Map(Object.entries({ 3: section([1, 2, 3]), 3.2: section([1, 2, 3]), 4: section() }))],
      ['users', new Map(Object.entries({ 12.2: section(), 12.3: section() }))],
      ['markdown', new Map(Object.entries({ 25: section(), A1: section() }))],
      ['architecture', new Map(Object.entries({ 4: section() }))],
    ]),
    decisions: new Set([1, 3]),
  };
  const problems = (text: string, own: string | null = null) => problemsOf(text, own, madeUp).map(({ what }) => what);

  it.each([
    'messages §3.2',
    'Messages §3.2: sentence case',
    'messages §3–4',
    'messages §3.2 rows 1–3',
    'messages §3.2 rows 1, 2 and 3, §4',
    'users §12.2, §12.3 and messages §4',
    'markdown §A1',
    'architecture §4',
    'README decision 3',
    'README decisions 1 and 3',
    "the sign '§' itself",
    '/**\n * A rule of messages\n * §3.2 row\n * 2.\n */',
    '// the rule of users §12.2,\n  // §12.3',
  ])('accepts %j', (text) => {
    expect(problems(text)).toEqual([]);
  });

  it.each([
    ['messages §9', 'messages has no section 9'],
    ['messages §3–9', 'messages has no section 9'],
    ['users §12.2, §12.9', 'users has no section 12.9'],
    ['messages §3.2 row 4', 'messages §3.2 has no row 4'],
    ['messages §3.2 rows 2–4', 'messages §3.2 has no row 4'],
    ['see §3', '§3 is of no document'],
    ['messages §§3–4', 'a § without a number'],
    ['messages § 3', 'a § without a number'],
    ['messages §3.2 and others, §4', '§4 is of no document'],
    ['messages 3.2', 'messages 3.2 is to be messages §3.2'],
    ['messages.md 3.2', 'messages.md 3.2 is to be messages §3.2'],
    ['README decision 2', 'the README has no decision 2'],
  ])('rejects %j: %s', (text, what) => {
    expect(problems(text)).toEqual([what]);
  });

  it('resolves a bare number to a section of the same document', () => {
    expect(problems('as §4 says', 'messages')).toEqual([]);
    expect(problems('as section 4 says', 'messages')).toEqual([]);
    expect(problems('as §5 says', 'messages')).toEqual(['messages has no section 5']);
    expect(problems('as section 5 says', 'messages')).toEqual(['messages has no section 5']);
  });

  it('reports the line number of a broken reference', () => {
    expect(problemsOf('one\ntwo messages §9', null, madeUp)).toEqual([{ line: 2, what: 'messages has no section 9' }]);
  });
});

interface Problem {
  readonly line: number;
  readonly what: string;
}

it('decision index lists every decision with its number and title', () => {
  const folder = join(root, 'docs', 'adr');
  const index = readFileSync(join(folder, 'README.md'), 'utf8');
  const listed = [...index.matchAll(/^\| (\d+) +\| \[(.+)\]\((.+)\) +\|$/gm)].map(([, ...row]) => row);
  const decisions = readdirSync(folder)
    .filter((name) => name !== 'README.md')
    .sort()
    .map((name) => {
      const [, number, title] = /^# (\d+)\. (.+)$/m.exec(readFileSync(join(folder, name), 'utf8'))!;
      return [number, title, name];
    });
  expect(listed).toEqual(decisions);
});

function problemsOfFile(file: string): readonly string[] {
  const name = basename(file, '.md');
  const isOwn = file.startsWith(contractDir) || OTHERS.some((other) => file === join(root, `docs/${other}.md`));
  const own = isOwn && known.documents.has(name) ? name : null;
  return problemsOf(readFileSync(file, 'utf8'), own, known).map(
    ({ line, what }) => `${relative(root, file)}:${line} ${what}`,
  );
}

const NUMBER = String.raw`(?:\d+(?:\.\d+)*|[A-Z]\d?)`;
/** Whitespace between words, which may span two comment lines. */
const GAP = String.raw`(?:[ \t]|\r?\n[ \t]*(?:\*|\/\/)?[ \t]*)+`;
const AND = '(?:,|,? and|,? or|;)';
const ROWS = `${GAP}rows?${GAP}(\\d+(?:–\\d+)?(?:${AND}${GAP}\\d+(?:–\\d+)?)*)`;
const REFERENCE = new RegExp(`§§+|§(?:(${NUMBER})(?:–(${NUMBER}))?(?:${ROWS})?|(?=[\\s\\w]))`, 'g');
const DOCUMENT_BEFORE = new RegExp(`\\b(${DOCUMENTS.join('|')})${GAP}$`, 'i');
const GOES_ON = new RegExp(`^${AND}${GAP}$`);
const WITHOUT_SIGN = new RegExp(`\\b((${DOCUMENTS.join('|')})(?:\\.md)?) (\\d+\\.\\d+)\\b`, 'gi');
const OWN_SECTION = /\bsection (\d+(?:\.\d+)*)\b/g;
const DECISIONS = new RegExp(`README decisions?${GAP}(\\d+(?:${AND}${GAP}\\d+)*)`, 'g');

/**
 * Returns broken references. `own` is the document that contains the text; its sections may be referenced by number
 * alone.
 */
function problemsOf(text: string, own: string | null, { documents, decisions }: Known): readonly Problem[] {
  const problems: { readonly at: number; readonly what: string }[] = [];
  let previous: { readonly document: string; readonly end: number } | null = null;
  for (const match of text.matchAll(REFERENCE)) {
    const [whole, first, last, rows] = match;
    const at = match.index;
    const named = DOCUMENT_BEFORE.exec(text.slice(Math.max(0, at - 80), at))?.[1]?.toLowerCase();
    const goesOn: string | null = previous && GOES_ON.test(text.slice(previous.end, at)) ? previous.document : null;
    const document: string | null = named ?? goesOn ?? own;
    previous = document === null ? null : { document, end: at + whole.length };
    if (first === undefined) problems.push({ at, what: 'a § without a number' });
    else if (document === null) problems.push({ at, what: `§${first} is of no document` });
    else problems.push(...missing(documents, document, [first, last], rows).map((what) => ({ at, what })));
  }
  for (const match of own === null ? [] : text.matchAll(OWN_SECTION)) {
    problems.push(
      ...missing(documents, own!, [match[1]!, undefined], undefined).map((what) => ({ at: match.index, what })),
    );
  }
  for (const match of text.matchAll(WITHOUT_SIGN)) {
    problems.push({ at: match.index, what: `${match[0]} is to be ${match[2]} §${match[3]}` });
  }
  for (const match of text.matchAll(DECISIONS)) {
    const unknown = numbersIn(match[1]!).filter((number) => !decisions.has(number));
    problems.push(...unknown.map((number) => ({ at: match.index, what: `the README has no decision ${number}` })));
  }
  return problems.map(({ at, what }) => ({ line: text.slice(0, at).split('\n').length, what }));
}

function missing(
  documents: Documents,
  document: string,
  [first, last]: readonly [string, string | undefined],
  rows: string | undefined,
): readonly string[] {
  const sections = documents.get(document)!;
  const unknown = [first, last].filter((number) => number !== undefined && !sections.has(number));
  if (unknown.length > 0) return unknown.map((number) => `${document} has no section ${number}`);
  return numbersIn(rows ?? '')
    .filter((row) => !sections.get(first)!.rows.has(row))
    .map((row) => `${document} §${first} has no row ${row}`);
}

/** Numbers in a text such as `1, 2–4 and 7`; a range contributes both ends. */
const numbersIn = (text: string): readonly number[] => (text.match(/\d+/g) ?? []).map(Number);

/** Numbers of the list items below the decisions heading. */
function decisionsOf(readme: string): ReadonlySet<number> {
  const list = readme.slice(readme.indexOf('## Decisions'));
  return new Set([...list.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number)));
}

function sourceFiles(): readonly string[] {
  const packages = packageNames().map((name) => join(packageFolder(name), 'src'));
  return packages
    .filter(existsSync)
    .flatMap((dir) => filesIn(dir, '.ts'))
    .filter((file) => file !== __filename);
}

function documentFiles(): readonly string[] {
  return [...filesIn(join(root, 'docs'), '.md'), join(root, 'README.md')];
}

function filesIn(dir: string, ending: string): readonly string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => join(dir, path))
    .sort();
}
