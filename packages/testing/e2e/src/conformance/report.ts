import type { Comparison } from './answer-comparer.js';
import type { Answer } from './cases.js';
import { ABSENT } from './differences.js';
import type { Json } from './json.js';

/** Case with recorded response and result. */
export interface ComparedCase {
  readonly recorded: Answer;
  readonly result: Comparison;
}

const SHORT = 140;
const LONG = 2000;

/** Formats `FAILED send/topic: message.subject: "a" ≠ "b" (+2)`; empty for a passing case. */
export function headline({ recorded: { name }, result }: ComparedCase): string {
  if (result.kind === 'passed') return '';
  if (result.kind === 'skipped') return `skipped ${name}: ${result.reason}`;
  const [first, ...rest] = result.differences;
  const more = rest.length > 0 ? ` (+${rest.length})` : '';
  return `FAILED ${name}: ${first!.where}: ${shown(first!.recorded, SHORT)} ≠ ${shown(first!.here, SHORT)}${more}`;
}

/** Formats the request and every difference in three lines. */
export function details({ recorded: { user, method, path, params }, result }: ComparedCase): string {
  if (result.kind !== 'failed') return '';
  const request = `    ${user ?? 'anonymous'} ${method} ${path} ${JSON.stringify(params)}`;
  const differences = result.differences.map(
    ({ where, recorded, here }) =>
      `    ${where}\n      recorded: ${shown(recorded, LONG)}\n      here:     ${shown(here, LONG)}`,
  );
  return [request, ...differences].join('\n');
}

/** Formats a line per area, which is the prefix of a name before the first slash. */
export function areaTable(cases: readonly ComparedCase[]): string {
  const areas = new Map<string, Record<Comparison['kind'], number>>();
  for (const { recorded, result } of cases) {
    const area = recorded.name.split('/')[0]!;
    const counts = areas.get(area) ?? { passed: 0, failed: 0, skipped: 0 };
    counts[result.kind] += 1;
    areas.set(area, counts);
  }
  const width = Math.max(4, ...[...areas.keys()].map((area) => area.length));
  const row = (cells: readonly [string, ...(string | number)[]]) =>
    [cells[0].padEnd(width), ...cells.slice(1).map((cell) => String(cell).padStart(8))].join('');
  return [
    row(['area', 'passed', 'failed', 'skipped']),
    ...[...areas].sort().map(([area, { passed, failed, skipped }]) => row([area, passed, failed, skipped])),
  ].join('\n');
}

export function totals(cases: readonly ComparedCase[]): string {
  const count = (kind: Comparison['kind']) => cases.filter(({ result }) => result.kind === kind).length;
  return `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`;
}

function shown(value: Json, limit: number): string {
  const text = value === ABSENT ? ABSENT : JSON.stringify(value);
  return text.length <= limit ? text : `${text.slice(0, limit)}…`;
}
