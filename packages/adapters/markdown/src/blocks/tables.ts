import type { WorkBudget } from '../budgets.js';
import { trimCharacter } from '../characters.js';
import type { Element } from '../html/html.js';

type Alignment = 'left' | 'center' | 'right' | null;

/** Table found in a block of text, not built yet. */
export interface TableOutline {
  readonly alignments: readonly Alignment[];
  readonly hasBorder: boolean;
}

const STEPS_PER_CELL = 100;

const SEPARATOR = /^[|:\- ]*$/;
/** Characters of the second line; backslashes may only be part of the border. */
const SEPARATORS = /^[|:\-\\ ]*$/;
const END_BORDER = /(?<!\\)(?:\\\\)*\|$/;
const TICKS_AND_PIPES = /(\\\\)|(\\`+)|(`+)|(\\\|)|(\|)/g;

/** Finds a table: a header line, then a line with as many cells of dashes and colons only. */
export function findTable(block: string, work: WorkBudget): TableOutline | null {
  const headerEnd = block.indexOf('\n');
  if (headerEnd === -1) return null;
  const separatorEnd = endOfLine(block, headerEnd + 1);
  const separatorRow = trimSpaces(block.slice(headerEnd + 1, separatorEnd));
  work.spend(separatorRow.length);
  if (!SEPARATORS.test(separatorRow)) return null;
  work.spend(headerEnd);
  const header = trimSpaces(block.slice(0, headerEnd));
  const hasBorder = isBordered(header);
  const width = splitRow(header, hasBorder).length;
  if (width === 1 && !(hasBorder && isEveryRowBordered(block, headerEnd + 1, work))) return null;
  const separators = splitRow(separatorRow, hasBorder);
  if (separators.length !== width || !separators.every((cell) => SEPARATOR.test(cell))) return null;
  return { alignments: separators.map(alignment), hasBorder };
}

const isBordered = (row: string) => row.startsWith('|') || END_BORDER.test(row);

function isEveryRowBordered(block: string, start: number, work: WorkBudget): boolean {
  for (let from = start; from <= block.length; ) {
    const end = endOfLine(block, from);
    work.spend(end - from);
    if (!isBordered(trimSpaces(block.slice(from, end)))) return false;
    from = end + 1;
  }
  return true;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

export function buildTable(
  parent: Element,
  block: string,
  { alignments, hasBorder }: TableOutline,
  work: WorkBudget,
): void {
  const [header, , ...rows] = block.split('\n');
  // Short rows are padded to the number of header cells.
  work.spend(alignments.length * (rows.length + 1) * STEPS_PER_CELL);
  const table = parent.append('table');
  addRow(table.append('thead'), 'th', splitRow(trimSpaces(header!), hasBorder), alignments);
  const body = table.append('tbody');
  if (rows.length === 0)
    addRow(
      body,
      'td',
      [],
      alignments.map(() => null),
    );
  for (const row of rows) addRow(body, 'td', splitRow(trimSpaces(row), hasBorder), alignments);
}

function addRow(parent: Element, tag: string, cells: readonly string[], alignments: readonly Alignment[]): void {
  const row = parent.append('tr');
  alignments.forEach((align, i) => {
    const cell = row.append(tag, align ? { style: `text-align: ${align};` } : {});
    cell.text = trimSpaces(cells[i] ?? '');
  });
}

function alignment(separator: string): Alignment {
  const text = trimSpaces(separator);
  if (text.startsWith(':')) return text.endsWith(':') ? 'center' : 'left';
  return text.endsWith(':') ? 'right' : null;
}

function splitRow(row: string, hasBorder: boolean): string[] {
  if (!hasBorder) return splitAtPipes(row);
  return splitAtPipes((row.startsWith('|') ? row.slice(1) : row).replace(END_BORDER, ''));
}

/** Splits at pipes, except inside code spans and after a backslash. */
function splitAtPipes(row: string): string[] {
  const pipes: number[] = [];
  const ticks: { start: number; end: number; length: number; escapes: number }[] = [];
  for (const match of row.matchAll(TICKS_AND_PIPES)) {
    const start = match.index;
    const run = match[2] ?? match[3];
    if (run) {
      const escapes = match[2] ? 1 : 0;
      ticks.push({ start, end: start + run.length - 1, length: run.length - escapes, escapes });
    } else if (match[5]) pipes.push(start);
  }
  const codeSpans = pairTicks(ticks);
  const cells: string[] = [];
  let start = 0;
  let span = 0;
  for (const pipe of pipes) {
    while (span < codeSpans.length && codeSpans[span]!.end < pipe) span++;
    if (codeSpans[span] && codeSpans[span]!.start <= pipe) continue;
    cells.push(row.slice(start, pipe));
    start = pipe + 1;
  }
  cells.push(row.slice(start));
  return cells;
}

function pairTicks(ticks: readonly { start: number; end: number; length: number; escapes: number }[]) {
  const spans: { start: number; end: number }[] = [];
  /** Positions of backticks that may close a span, by length; the nearest is last. */
  const closings = new Map<number, number[]>();
  for (let i = ticks.length - 1; i >= 0; i--) {
    const sameLength = closings.get(ticks[i]!.length);
    if (sameLength) sameLength.push(i);
    else closings.set(ticks[i]!.length, [i]);
  }
  for (let i = 0; i < ticks.length; i++) {
    const candidates = closings.get(ticks[i]!.length - ticks[i]!.escapes);
    while (candidates && candidates.at(-1)! <= i) candidates.pop();
    const closing = candidates?.pop();
    if (closing === undefined) continue;
    spans.push({ start: ticks[i]!.start, end: ticks[closing]!.end });
    i = closing;
  }
  return spans;
}

const trimSpaces = (text: string) => trimCharacter(text, ' ');
