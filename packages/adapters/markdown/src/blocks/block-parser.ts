import { MAX_NESTING_DEPTH, MAX_QUOTE_DEPTH, unrenderable, type WorkBudget } from '../budgets.js';
import {
  isBlank,
  OPEN_PLACEHOLDER,
  SPACE,
  trim,
  trimCharacterEnd,
  trimCharacterStart,
  trimEnd,
  trimStart,
} from '../characters.js';
import { Element, type HtmlStash, rawHtml } from '../html/html.js';
import { silenceMentions } from '../inline/mentions.js';
import type { Typesetting } from '../typesetting/typesetting.js';
import { FENCE, indentedCodeBlock } from './fences.js';
import { buildTable, findTable } from './tables.js';

const LIST_ITEM = /^[ ]*([*+-]|\p{Nd}\.)[ ]+/u;
const TAB_WIDTH = 4;

/**
 * Inserts blank lines before list items that follow other text or an item of a different kind, except in code. Code
 * is detected by counting fences, including those inside code. Deliberate: the reference server does so, and clients
 * expect the result.
 */
export function separateLists(lines: readonly string[]): readonly string[] {
  if (!lines.some((line) => LIST_ITEM.test(line))) return lines;
  const result: string[] = [];
  const openFences: { fence: string; isCode: boolean }[] = [];
  let openCode = 0;
  let item: RegExpExecArray | null = LIST_ITEM.exec(lines[0]!);
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    result.push(line);
    if (i === lines.length - 1) break;
    const match = FENCE.exec(line);
    if (match) {
      const { fence, language } = match.groups as { fence: string; language?: string };
      if (!language && openFences.at(-1)?.fence === fence) {
        if (openFences.pop()!.isCode) openCode--;
      } else {
        const isCode = language !== 'quote' && language !== 'quoted';
        openFences.push({ fence, isCode });
        if (isCode) openCode++;
      }
    }
    const nextItem = LIST_ITEM.exec(lines[i + 1]!);
    const startsList = nextItem !== null && (item === null || (item[1]!.length === 1) !== (nextItem[1]!.length === 1));
    if (startsList && line !== '' && openCode === 0) result.push('');
    item = nextItem;
  }
  return result;
}

/** Normalizes line ends, tabs, placeholder characters and blank lines. */
export function normalizeWhiteSpace(lines: readonly string[]): string[] {
  let text = `${lines.join('\n')}\n\n`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  text = text.replace(/[\u0002\u0003]/g, '').replace(/\r\n?/g, '\n');
  const normalized = text.split('\n').map((line) => (line.includes('\t') ? expandTabs(line) : line));
  for (let i = 1; i < normalized.length - 1; i++) {
    if (normalized[i]![0] === ' ' && /^ +$/.test(normalized[i]!)) normalized[i] = '';
  }
  return normalized;
}

function expandTabs(line: string): string {
  let column = 0;
  let expanded = '';
  for (const character of line) {
    const width = character === '\t' ? TAB_WIDTH - (column % TAB_WIDTH) : 1;
    expanded += character === '\t' ? ' '.repeat(width) : character;
    column += width;
  }
  return expanded;
}

const MARKS = new Set(['-', '_', '*']);
const MAX_INDENT = 3;
const MAX_GAP = 2;

/**
 * Returns the bounds of the first line that consists of three or more equal marks with little space between them; null
 * if there is none.
 */
export function findThematicBreak(block: string): { readonly start: number; readonly end: number } | null {
  for (let start = 0; start < block.length; ) {
    const newline = block.indexOf('\n', start);
    const end = newline === -1 ? block.length : newline;
    if (isThematicBreak(block, start, end)) return { start, end };
    start = end + 1;
  }
  return null;
}

function isThematicBreak(block: string, start: number, end: number): boolean {
  let at = start;
  while (at < start + MAX_INDENT && block[at] === ' ') at++;
  const mark = block[at]!;
  if (at >= end || !MARKS.has(mark)) return false;
  let marks = 0;
  let gap = 0;
  for (; at < end; at++) {
    if (block[at] === ' ') gap++;
    else if (block[at] !== mark || gap > MAX_GAP) return false;
    else {
      marks++;
      gap = 0;
    }
  }
  return marks >= 3;
}

/** Text between blank lines, or the rest of it left by a rule. */
interface Piece {
  readonly text: string;
  /** False if it cannot contain a heading. */
  readonly mayHoldHeading: boolean;
}

/** Receives a piece and the following pieces in reverse order. */
type BlockRule = (parser: BlockParser, parent: Element, piece: Piece, queue: Piece[]) => boolean;

/** Context that changes the meaning of a block. */
type State = 'document' | 'quote' | 'list' | 'looselist' | 'detabbed';

interface ListKind {
  readonly tag: 'ol' | 'ul';
  /** Matches the first line of such a list. */
  readonly start: RegExp;
  /** Matches a line of a further item: the marker, then the text. */
  readonly item: RegExp;
}

const STEPS_PER_PIECE = 300;
/** Cost of rules that examine single lines. */
const STEPS_PER_LINE = 40;

const LIST_INDENT = 2;
const CODE_INDENT = 4;

const ORDERED: ListKind = { tag: 'ol', start: /^[ ]?\p{Nd}+\.[ ]+/u, item: /^[ ]?(\p{Nd}+)\.[ ]+(.*)/su };
const BULLETS: ListKind = { tag: 'ul', start: /^[ ]?[*+-][ ]+/, item: /^[ ]?([*+-])[ ]+(.*)/s };
const NESTED_ITEM = /^[ ]{2,3}(?:\p{Nd}+\.|[*+-])[ ]+/u;

const HEADING = new RegExp(`(?:^|\\n)(#{1,6})[${SPACE}]`, 'g');
const QUOTED_LINE = /^ {0,3}> ?(.*)$/s;
const BARE_MARK = new RegExp(`^ {0,3}>[${SPACE}]*$`);

/**
 * Parses lines into a tree of blocks. Each piece between blank lines is offered to the rules in order. The first
 * matching rule takes it, or takes a part and requeues the rest. Rules see only their piece and the tree so far. A
 * list therefore continues after a blank line, because its next item finds the list as preceding sibling.
 */
export class BlockParser {
  /** Rules in order; each returns true if it consumed the piece. */
  private static readonly RULES: readonly BlockRule[] = [
    (parser, parent, piece, queue) => parser.skipBlank(parent, piece, queue),
    (parser, parent, { text }) => parser.continueList(parent, text),
    (parser, parent, piece, queue) => parser.parseCode(parent, piece, queue),
    (parser, parent, piece, queue) => parser.parseHeading(parent, piece, queue),
    (parser, parent, { text }) => parser.parseTable(parent, text),
    (parser, parent, { text }, queue) => parser.parseThematicBreak(parent, text, queue),
    (parser, parent, { text }) => parser.parseList(parent, text, ORDERED),
    (parser, parent, { text }) => parser.parseList(parent, text, BULLETS),
    (parser, parent, { text }) => parser.parseQuote(parent, text),
    (parser, parent, { text }) => parser.parseParagraph(parent, text),
  ];
  private readonly states: State[] = ['document'];
  private depth = 0;
  private quoteDepth = 0;

  constructor(
    private readonly fencedBlocks: HtmlStash,
    private readonly indentedCode: boolean,
    private readonly work: WorkBudget,
  ) {}

  parse(text: string): Element {
    const root = new Element('div');
    this.parseText(root, text);
    return root;
  }

  private parseText(parent: Element, text: string): void {
    this.parseBlocks(parent, text.split('\n\n'));
  }

  private parseBlocks(parent: Element, blocks: string[]): void {
    if (++this.depth > MAX_NESTING_DEPTH) throw unrenderable();
    for (const block of blocks) this.work.spend(block.length);
    const queue: Piece[] = [];
    for (const text of blocks) {
      queue.push({ text, mayHoldHeading: true });
      // Taken from the end, because rules requeue rests there.
      while (queue.length > 0) this.parsePiece(parent, queue.pop()!, queue);
    }
    this.depth--;
  }

  private parsePiece(parent: Element, piece: Piece, queue: Piece[]): void {
    this.work.spend(STEPS_PER_PIECE);
    for (const rule of BlockParser.RULES) if (rule(this, parent, piece, queue)) return;
  }

  private get state(): State {
    return this.states.at(-1)!;
  }

  private within(state: State, work: () => void): void {
    this.states.push(state);
    work();
    this.states.pop();
  }

  private skipBlank(parent: Element, { text, mayHoldHeading }: Piece, queue: Piece[]): boolean {
    if (text !== '' && text[0] !== '\n') return false;
    const last = parent.lastChild;
    if (last?.tag === 'pre') last.text += text === '' ? '\n\n' : '\n';
    if (text.length > 1) queue.push({ text: text.slice(1), mayHoldHeading });
    return true;
  }

  /** Adds an indented piece to the preceding item. */
  private continueList(parent: Element, block: string): boolean {
    if (!block.startsWith(' '.repeat(LIST_INDENT)) || this.state === 'detabbed') return false;
    if (parent.tag !== 'li' && !isList(parent.lastChild)) return false;
    const { level, sibling } = this.findLevel(parent, block);
    const text = this.unindentAll(block, LIST_INDENT * level);
    this.within('detabbed', () => {
      if (parent.tag === 'li') {
        this.parseBlocks(isList(parent.lastChild) ? parent.lastChild! : parent, [text]);
      } else if (sibling.tag === 'li') {
        this.parseBlocks(sibling, [text]);
      } else if (sibling.lastChild?.tag === 'li') {
        wrapText(sibling.lastChild);
        this.parseText(sibling.lastChild, text);
      } else {
        this.parseBlocks(sibling.append('li'), [text]);
      }
    });
    return true;
  }

  /** Returns the list level that corresponds to the indent, and the element at that level. */
  private findLevel(parent: Element, block: string): { level: number; sibling: Element } {
    const wanted = Math.floor(/^ */.exec(block)![0].length / LIST_INDENT);
    let level = this.state === 'list' ? 1 : 0;
    let sibling = parent;
    while (wanted > level) {
      const child = sibling.lastChild;
      if (!child || !(isList(child) || child.tag === 'li')) break;
      if (isList(child)) level++;
      sibling = child;
    }
    return { level, sibling };
  }

  /** Kept as `pre` until the block is complete, because blank lines do not end it. */
  private parseCode(parent: Element, { text, mayHoldHeading }: Piece, queue: Piece[]): boolean {
    if (!this.indentedCode || !text.startsWith(' '.repeat(CODE_INDENT))) return false;
    const { code, rest } = unindent(text);
    this.work.spend(text.length - rest.length);
    const last = parent.lastChild;
    if (last?.tag === 'pre') last.text = `${last.text}\n${trimEnd(code)}\n`;
    else parent.append('pre').text = `${trimEnd(code)}\n`;
    if (rest !== '') queue.push({ text: rest, mayHoldHeading });
    return true;
  }

  private parseHeading(parent: Element, { text, mayHoldHeading }: Piece, queue: Piece[]): boolean {
    if (!mayHoldHeading || !text.includes('#')) return false;
    const heading = findHeading(text);
    this.work.spend(heading?.end ?? text.length);
    if (!heading) return false;
    const before = text.slice(0, heading.start);
    let after = text.slice(heading.end);
    if (before !== '') this.parseBlocks(parent, [before]);
    parent.append(`h${heading.level}`).text = heading.text;
    if (this.state === 'looselist') {
      after = this.unindentAll(after, CODE_INDENT);
    }
    if (after !== '') queue.push({ text: after, mayHoldHeading: true });
    return true;
  }

  private parseTable(parent: Element, block: string): boolean {
    const table = findTable(block, this.work);
    if (table) buildTable(parent, block, table, this.work);
    return table !== null;
  }

  private parseThematicBreak(parent: Element, block: string, queue: Piece[]): boolean {
    const found = findThematicBreak(block);
    if (!found) return false;
    const before = trimCharacterEnd(block.slice(0, found.start), '\n');
    const after = trimCharacterStart(block.slice(found.end), '\n');
    if (before !== '') this.parseBlocks(parent, [before]);
    parent.append('hr');
    // Headings were already searched for.
    if (after !== '') queue.push({ text: after, mayHoldHeading: false });
    return true;
  }

  private parseList(parent: Element, block: string, kind: ListKind): boolean {
    if (!kind.start.test(block)) return false;
    const lines = block.split('\n');
    this.work.spend(lines.length * STEPS_PER_LINE);
    const { items, start } = splitItems(lines, kind);
    const elder = parent.lastChild;
    let list: Element;
    if (elder?.tag === kind.tag && elder.lastChild) {
      // A blank line separated the items, so both contain paragraphs.
      list = elder;
      const lastItem = elder.lastChild;
      wrapText(lastItem);
      const inner = lastItem.lastChild;
      if (inner && inner.tail !== '') {
        const tail = trimStart(inner.tail);
        inner.tail = '';
        lastItem.append('p').text = tail;
      }
      this.within('looselist', () => this.parseBlocks(list.append('li'), [items.shift()!]));
    } else if (isList(parent)) {
      list = parent;
    } else {
      list = parent.append(kind.tag, kind.tag === 'ol' && start !== '1' ? { start } : {});
    }
    this.within('list', () => {
      for (const item of items) {
        const isNested = item.startsWith(' '.repeat(LIST_INDENT));
        this.parseBlocks(isNested && list.lastChild ? list.lastChild : list.append('li'), [item]);
      }
    });
    return true;
  }

  private unindentAll(block: string, width: number): string {
    const indent = ' '.repeat(width);
    const lines = block.split('\n');
    this.work.spend(lines.length * STEPS_PER_LINE);
    return lines.map((line) => (line.startsWith(indent) ? line.slice(width) : line)).join('\n');
  }

  private parseQuote(parent: Element, block: string): boolean {
    const start = block.includes('>') && this.quoteDepth < MAX_QUOTE_DEPTH ? findQuote(block) : -1;
    if (start === -1) return false;
    if (start > 0) this.parseBlocks(parent, [block.slice(0, start - 1)]);
    const lines = block.slice(start).split('\n');
    this.work.spend(lines.length * STEPS_PER_LINE);
    const text = lines.map(unquote).join('\n');
    const quote = parent.append('blockquote');
    this.quoteDepth++;
    this.within('quote', () => this.parseText(quote, text));
    this.quoteDepth--;
    return true;
  }

  private parseParagraph(parent: Element, block: string): boolean {
    if (isBlank(block)) return true;
    if (block[0] === OPEN_PLACEHOLDER && this.fencedBlocks.isPlaceholder(trim(block))) {
      parent.children.push(rawHtml(trim(block)));
    } else if (this.state !== 'list') {
      parent.append('p').text = trimStart(block);
    } else if (parent.lastChild) {
      parent.lastChild.tail += `\n${block}`;
    } else {
      parent.text = parent.text === '' ? trimStart(block) : `${parent.text}\n${trimStart(block)}`;
    }
    return true;
  }
}

/** Renders indented code once its last line is known. */
export function finishCode(element: Element, html: HtmlStash, typesetting: Typesetting): void {
  element.children.forEach((child, i) => {
    if (child.tag !== 'pre') finishCode(child, html, typesetting);
    else element.children[i] = rawHtml(html.addLater(indentedCodeBlock(child.text, typesetting)));
  });
}

const isList = (element: Element | undefined) => element?.tag === 'ol' || element?.tag === 'ul';

/** Moves the text of an item into a paragraph. */
function wrapText(item: Element): void {
  if (item.text === '') return;
  const paragraph = new Element('p');
  paragraph.text = item.text;
  item.text = '';
  item.children.unshift(paragraph);
}

function splitItems(lines: readonly string[], { item }: ListKind): { items: string[]; start: string } {
  const items: string[] = [];
  let start = '1';
  for (const line of lines) {
    const match = item.exec(line);
    if (match) {
      if (items.length === 0) start = match[1]!;
      items.push(match[2]!);
    } else if (NESTED_ITEM.test(line) && !items.at(-1)!.startsWith(' '.repeat(LIST_INDENT))) {
      items.push(line);
    } else {
      items[items.length - 1] += `\n${line}`;
    }
  }
  return { items, start };
}

interface Heading {
  readonly start: number;
  readonly end: number;
  readonly level: number;
  readonly text: string;
}

/**
 * Finds a heading. A line that ends with an escaped newline is not a heading, and an escaped trailing `#` belongs to
 * the text.
 */
function findHeading(block: string): Heading | null {
  for (const match of block.matchAll(HEADING)) {
    const textStart = match.index + match[0].length;
    const newline = block.indexOf('\n', textStart);
    const line = block.slice(textStart, newline === -1 ? undefined : newline);
    if (endsEscaped(line)) continue;
    let text = trimCharacterEnd(line, '#');
    if (text.length < line.length && endsEscaped(text)) text += '#';
    const end = newline === -1 ? block.length : newline + 1;
    return { start: match.index, end, level: match[1]!.length, text: trim(text) };
  }
  return null;
}

function endsEscaped(line: string): boolean {
  let backslashes = 0;
  while (line[line.length - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}

/** Returns the start of the first quoted line; -1 if there is none or all marks are empty. */
function findQuote(block: string): number {
  const lines = block.split('\n');
  const lastWithText = lines.findLastIndex((line) => line !== '' && !BARE_MARK.test(line));
  let position = 0;
  for (let i = 0; i <= lastWithText; i++) {
    if (QUOTED_LINE.test(lines[i]!)) return position;
    position += lines[i]!.length + 1;
  }
  return -1;
}

function unquote(line: string): string {
  const silent = line.includes('@') ? silenceMentions(line) : line;
  if (!silent.includes('>')) return silent;
  if (trim(silent) === '>') return '';
  return QUOTED_LINE.exec(silent)?.[1] ?? silent;
}

/** Splits off the leading lines of indented code and removes their indent. */
function unindent(block: string): { code: string; rest: string } {
  const indent = ' '.repeat(CODE_INDENT);
  const code: string[] = [];
  let start = 0;
  while (start <= block.length) {
    const newline = block.indexOf('\n', start);
    const end = newline === -1 ? block.length : newline;
    const line = block.slice(start, end);
    if (line.startsWith(indent)) code.push(line.slice(CODE_INDENT));
    else if (isBlank(line)) code.push('');
    else break;
    start = end + 1;
  }
  return { code: code.join('\n'), rest: block.slice(start) };
}
