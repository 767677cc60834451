/** Text with its selection. */
export interface SelectedText {
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

/** Replacement of a range, and the selection afterwards. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly select: readonly [start: number, end: number];
}

export type EditText = (selected: SelectedText) => TextEdit;

/** Opening and closing mark. */
type Marks = readonly [before: string, after: string];

const wrap = ({ value, start, end }: SelectedText, [before, after]: Marks): TextEdit => ({
  start,
  end,
  text: before + value.slice(start, end) + after,
  select: [start + before.length, end + before.length],
});

/** Adds asterisks around the selection, or removes them. One asterisk means italic, two mean bold. */
export const toggleAsterisks =
  (mark: '*' | '**'): EditText =>
  (selected) => {
    const { value } = selected;
    let { start, end } = selected;
    while (start < end && value[start] === '*') start++;
    while (start < end && value[end - 1] === '*') end--;
    const [before] = /\**$/.exec(value.slice(0, start))!;
    const [after] = /^\**/.exec(value.slice(end))!;
    const marks = Math.min(before.length, after.length);
    const { length } = mark;
    if (length === 2 ? marks < 2 : marks % 2 === 0) return wrap({ value, start, end }, [mark, mark]);
    return {
      start: start - length,
      end: end + length,
      text: value.slice(start, end),
      select: [start - length, end - length],
    };
  };

/** Marks the selection, or removes existing marks. The first marks with a line break belong around several lines. */
const toggleMarks =
  (...choices: readonly Marks[]): EditText =>
  (selected) => {
    for (const marks of choices) {
      const edit = unwrap(selected, marks);
      if (edit) return edit;
    }
    const { value, start, end } = selected;
    const hasLines = value.slice(start, end).includes('\n');
    const marks = choices[hasLines || choices.length === 1 ? 0 : 1]!;
    return marks[0].includes('\n') ? asBlock(selected, marks) : wrap(selected, marks);
  };

/** Removes marks inside or around the selection; null if there are none. */
function unwrap({ value, start, end }: SelectedText, [before, after]: Marks): TextEdit | null {
  for (const [from, to] of [
    [start, end],
    [start - before.length, end + after.length],
  ] as const) {
    const marked = from < 0 ? '' : value.slice(from, to);
    if (marked.length < before.length + after.length || !marked.startsWith(before) || !marked.endsWith(after)) continue;
    const text = marked.slice(before.length, -after.length);
    return { start: from, end: to, text, select: [from, from + text.length] };
  }
  return null;
}

/** Puts the selection between marks on separate lines. */
function asBlock(selected: SelectedText, [before, after]: Marks): TextEdit {
  const { value, start, end } = selected;
  const lead = start > 0 && value[start - 1] !== '\n' ? '\n' : '';
  const trail = end < value.length && value[end] !== '\n' ? '\n' : '';
  return wrap(selected, [lead + before, after + trail]);
}

export const toggleStrike = toggleMarks(['~~', '~~']);
export const toggleCode = toggleMarks(['```\n', '\n```'], ['`', '`']);
export const toggleMath = toggleMarks(['```math\n', '\n```'], ['$$', '$$']);
export const toggleSpoiler = toggleMarks(['```spoiler \n', '\n```']);

/** Inserts a table on separate lines and selects its first heading. */
export const insertTable =
  (heading: string): EditText =>
  ({ value, end }) => {
    const table = `| ${heading} | ${heading} |\n| --- | --- |\n|  |  |\n`;
    const lead = end > 0 && value[end - 1] !== '\n' ? '\n' : '';
    const first = end + lead.length + '| '.length;
    return { start: end, end, text: lead + table, select: [first, first + heading.length] };
  };

type LineKind = 'quote' | 'list' | 'numbered';

const PREFIXES: Readonly<Record<LineKind, readonly [mark: RegExp, prefix: (index: number) => string]>> = {
  quote: [/^> /, () => '> '],
  list: [/^[*-] /, () => '* '],
  numbered: [/^\d+\. /, (index) => `${index + 1}. `],
};

/** Adds a prefix to the selected lines, or removes it if all lines have it. */
export const toggleLines =
  (kind: LineKind): EditText =>
  ({ value, start: from, end: to }) => {
    const [mark, prefix] = PREFIXES[kind];
    const start = value.slice(0, from).lastIndexOf('\n') + 1;
    const after = value.indexOf('\n', to);
    const end = after < 0 ? value.length : after;
    const lines = value.slice(start, end).split('\n');
    const isMarked = lines.every((line) => mark.test(line));
    const text = lines.map((line, index) => (isMarked ? line.replace(mark, '') : prefix(index) + line)).join('\n');
    // The cursor keeps its position in the text if nothing is selected.
    const cursor = Math.max(start, to + text.length - (end - start));
    return { start, end, text, select: from === to ? [cursor, cursor] : [start, start + text.length] };
  };

/** Quotes and indentation, then the marker of an item. */
const LINE_START = /^([ \t]*(?:> ?)*)((?:[-*+]|(\d{1,9})\.) +)?/;

/** Starts the next item or quoted line, or removes the start of an empty one; null outside lists and quotes. */
export function continueLine({ value, start, end }: SelectedText): TextEdit | null {
  const from = value.lastIndexOf('\n', start - 1) + 1;
  const [mark, quote, marker = '', number] = LINE_START.exec(value.slice(from, start))!;
  if (marker === '' && quote!.trim() === '') return null;
  const isEmpty = value.slice(from + mark.length, start).trim() === '' && /^ *(?:\n|$)/.test(value.slice(end));
  if (isEmpty && start === end) {
    const kept = marker !== '' && quote!.trim() !== '' ? quote! : '';
    return { start: from, end, text: kept, select: [from + kept.length, from + kept.length] };
  }
  const next = number === undefined ? marker : marker.replace(number, String(Number(number) + 1));
  const text = `\n${quote}${next}`;
  return { start, end, text, select: [start + text.length, start + text.length] };
}

/** Marks that surround a selection when their key is typed. */
const SURROUNDING: Readonly<Record<string, Marks>> = {
  '*': ['*', '*'],
  // Underscores have no effect in the dialect (markdown §8).
  _: ['*', '*'],
  '~': ['~~', '~~'],
  '`': ['`', '`'],
};

/** Surrounds a selection with the mark of a typed character; null for other characters and without a selection. */
export function surround(key: string, selected: SelectedText): TextEdit | null {
  const marks = SURROUNDING[key];
  if (!marks || selected.start === selected.end) return null;
  return key === '`' ? toggleCode(selected) : wrap(selected, marks);
}

const ADDRESS = 'https://';

/** Turns the selection into a link text and selects the address to type; without a selection, the text comes first. */
export const wrapLink: EditText = (selected) => {
  const edit = wrap(selected, ['[', `](${ADDRESS})`]);
  const address = selected.end + '[]('.length;
  return selected.end === selected.start ? edit : { ...edit, select: [address, address + ADDRESS.length] };
};
