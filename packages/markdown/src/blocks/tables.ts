import { unrenderable } from '../bounds.js';
import type { Element } from '../html/element.js';

type Alignment = 'left' | 'center' | 'right' | null;

/** A table found in a block of text, not yet built. */
export interface TableOutline {
  readonly alignments: readonly Alignment[];
  readonly hasBorder: boolean;
}

/** More cells than a message of the largest size could hold in its HTML. */
const MAX_CELLS = 50_000;

const END_BORDER = /(?<!\\)(?:\\\\)*\|$/;
const TICKS_AND_PIPES = /(\\\\)|(\\`+)|(`+)|(\\\|)|(\|)/g;

/** The first line is the header, the second has as many cells, of dashes and colons only. */
export function findTable(block: string): TableOutline | null {
  const firstBreak = block.indexOf('\n');
  if (firstBreak === -1 || !block.includes('|')) return null;
  const rows = block.split('\n').map(trimSpaces);
  const header = rows[0]!;
  const hasBorder = header.startsWith('|') || END_BORDER.test(header);
  const width = splitRow(header, hasBorder).length;
  if (width === 1) {
    if (!hasBorder) return null;
    if (!rows.slice(1).every((row) => row.startsWith('|') || END_BORDER.test(row))) return null;
  }
  const separators = splitRow(rows[1]!, hasBorder);
  if (separators.length !== width || !separators.every((cell) => /^[|:\- ]*$/.test(cell))) return null;
  return { alignments: separators.map(alignment), hasBorder };
}

export function buildTable(parent: Element, block: string, { alignments, hasBorder }: TableOutline): void {
  const [header, , ...rows] = block.split('\n');
  if (alignments.length * (rows.length + 1) > MAX_CELLS) throw unrenderable();
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

/** Pipes inside code spans and behind a backslash do not split. */
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
  for (let i = 0; i < ticks.length; i++) {
    const size = ticks[i]!.length - ticks[i]!.escapes;
    if (size === 0) continue;
    let closing = i + 1;
    while (closing < ticks.length && ticks[closing]!.length !== size) closing++;
    if (closing === ticks.length) continue;
    spans.push({ start: ticks[i]!.start, end: ticks[closing]!.end });
    i = closing;
  }
  return spans;
}

function trimSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text[start] === ' ') start++;
  while (end > start && text[end - 1] === ' ') end--;
  return text.slice(start, end);
}
