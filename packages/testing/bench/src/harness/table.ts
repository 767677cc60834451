import { type Figure, type Goal, isMet } from '../workload.js';
import { median, medianRatio } from './interleave.js';

const HEADINGS = ['workload', 'ours', 'limit', 'ratio', 'goal', ''];
/** Text columns are left-aligned, number columns right-aligned. */
const WORD_COLUMNS = new Set([0, 5]);

/** Formats figures as a Markdown table. */
export function formatTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.label,
    figure.ours,
    figure.limit,
    formatValue(figure.value, figure.goal?.unit),
    figure.goal ? formatGoal(figure.goal) : '',
    figure.goal ? (isMet(figure.value, figure.goal) ? 'met' : 'missed') : '',
  ]);
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, 3, ...rows.map((row) => row[column]!.length)),
  );
  const format = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => (WORD_COLUMNS.has(column) ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => (WORD_COLUMNS.has(column) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [format(HEADINGS), rule, ...rows.map(format)].join('\n');
}

/** Compares results of alternating rounds. `unit`: `/s`, or begins with a space. */
export const ratioOf = (
  ours: readonly number[],
  limit: readonly number[],
  unit: string,
): Pick<Figure, 'ours' | 'limit' | 'value'> => ({
  ours: `${formatNumber(median(ours))}${unit}`,
  limit: `${formatNumber(median(limit))}${unit}`,
  value: medianRatio(ours, limit),
});

/** Formats three significant digits with spaces between thousands: `12 300`, `0.412`, `96.4`. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const rounded = Number(value.toPrecision(3));
  const [whole, fraction] = String(rounded).split('.');
  const grouped = whole!.replace(/\B(?=(\d{3})+$)/g, ' ');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

const formatValue = (value: number, unit?: string): string => formatNumber(value) + (unit ? ` ${unit}` : '');

const formatGoal = (goal: Goal): string =>
  'atLeast' in goal ? `≥ ${formatValue(goal.atLeast, goal.unit)}` : `≤ ${formatValue(goal.atMost, goal.unit)}`;
