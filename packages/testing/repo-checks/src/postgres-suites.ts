import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from './source-code.js';

const USAGE = `Usage: npm run postgres:suites -- FOLDER [--check]

Lists the cheapest acceptance suites that, with the adapter's tests, execute every recorded statement (docs/testing.md).

  --check  only reports statements that no listed suite executes; exit code 1 if there are any`;

/** Statements that a test file has sent. */
export interface Recording {
  /** Path of an acceptance suite, such as `channels/channels`; null for a test file of the adapter, which always runs. */
  readonly suite: string | null;
  readonly statements: ReadonlySet<string>;
  readonly cpuMs: number;
}

/** Beginning of queries assembled from any number of conditions: those of narrows and of the audit log. */
const ASSEMBLED = /^SELECT (?:m\.id, m\.sender_id|e\.number, e\.at), /;

/** Returns the statement without numbers and lengths of lists; an assembled query as its separate conditions. */
export function partsOf(statement: string): readonly string[] {
  const text = statement
    .replace(/\s+/g, ' ')
    .replace(/\$?\b\d+\b/g, '0')
    .replace(/\b(0(?:::[\w[\]]+)?)(?:, ?\1)+/g, '$1')
    .replace(/(\([^()]*\))(?:, ?\1)+/g, '$1')
    .trim();
  if (!ASSEMBLED.test(text)) return [text];
  return text.split(/\b(?:WHERE|AND|OR|NOT|coalesce|ORDER BY)\b|[()]/).map((part) => part.trim());
}

/** Returns statements that no listed suite executes, with the suites that do. */
export function missingIn(recordings: readonly Recording[], listed: ReadonlySet<string>): Map<string, string[]> {
  const missing = new Map<string, string[]>();
  const isListed = ({ suite }: Recording) => suite === null || listed.has(suite);
  for (const { suite, statements } of recordings.filter((recording) => !isListed(recording))) {
    for (const statement of statements) missing.set(statement, [...(missing.get(statement) ?? []), suite!]);
  }
  for (const { statements } of recordings.filter(isListed)) {
    for (const statement of statements) missing.delete(statement);
  }
  return missing;
}

/** Adds the suite with the most missing statements per second until none is missing, then drops redundant ones. */
export function chosenOf(recordings: readonly Recording[], always: readonly string[]): string[] {
  const listed = new Set(always);
  for (let missing = missingIn(recordings, listed); missing.size > 0; missing = missingIn(recordings, listed)) {
    const value = ({ suite, statements, cpuMs }: Recording) =>
      suite === null ? 0 : [...statements].filter((statement) => missing.has(statement)).length / cpuMs;
    listed.add(recordings.reduce((best, other) => (value(other) > value(best) ? other : best)).suite!);
  }
  const chosen = [...listed].filter((suite) => !always.includes(suite));
  for (const suite of chosen) {
    listed.delete(suite);
    if (missingIn(recordings, listed).size > 0) listed.add(suite);
  }
  return chosen.filter((suite) => listed.has(suite)).sort();
}

/** Reads a folder that `record-statements.cjs` has filled. */
function readRecordings(folder: string): Recording[] {
  return readdirSync(folder).map((file) => {
    const lines = readFileSync(join(folder, file), 'utf8').trim().split('\n');
    const values: { readonly statement?: string; readonly cpuMs?: number }[] = lines.map((line) => JSON.parse(line));
    return {
      suite: /^testing__acceptance__src__(.+)\.test\.ts/.exec(file)?.[1]?.replaceAll('__', '/') ?? null,
      statements: new Set(values.flatMap(({ statement }) => (statement === undefined ? [] : partsOf(statement)))),
      cpuMs: values.find(({ cpuMs }) => cpuMs !== undefined)?.cpuMs ?? Number.MAX_SAFE_INTEGER,
    };
  });
}

function main(folder: string | undefined, option: string | undefined): number {
  if (folder === undefined) {
    console.error(USAGE);
    return 2;
  }
  const list = join(packageFolder('acceptance'), 'postgres-suites.json');
  const { always, chosen } = JSON.parse(readFileSync(list, 'utf8'));
  const recordings = readRecordings(folder);
  if (option !== '--check') {
    const suites = { always, chosen: chosenOf(recordings, Object.keys(always)) };
    writeFileSync(list, `${JSON.stringify(suites, null, 2)}\n`);
    return 0;
  }
  const missing = missingIn(recordings, new Set([...Object.keys(always), ...chosen]));
  for (const [statement, suites] of missing) console.error(`Executed only by ${suites.join(', ')}: ${statement}`);
  return missing.size > 0 ? 1 : 0;
}

if (process.argv[1] === import.meta.filename) process.exitCode = main(process.argv[2], process.argv[3]);
