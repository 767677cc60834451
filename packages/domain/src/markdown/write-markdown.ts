import { firstOf, lastOf } from '../kernel/work.js';
import { codeLanguage, JOINER, rewriteMarkdown } from './common-markdown.js';
import {
  type Block,
  type Emphasis,
  type Inline,
  isoTime,
  type List,
  type Mention,
  mentionText,
  plainText,
} from './rich-text.js';

/** Returns the Markdown of a mention, such as `silentMention(user)`; null to write its name. */
export type MentionResolver = (mention: Mention) => string | null;

interface Form {
  readonly resolve: MentionResolver;
  readonly escapesText: boolean;
  /** True in a table, where vertical bars outside code end a cell. */
  readonly isInTable?: boolean;
}

/**
 * Writes a syntax tree as Markdown (markdown §3–14). All literal text is escaped, so that only nodes of the tree format,
 * and only the resolver mentions. Takes linear time.
 */
export function writeMarkdown(blocks: readonly Block[], resolve: MentionResolver = () => null): string {
  const markdown = blocksText(blocks, { resolve, escapesText: true });
  // Commands such as `/me` stand at the start of a message.
  return markdown.startsWith('/') ? `${ENTITIES['/']}${markdown.slice(1)}` : markdown;
}

/** Writes a syntax tree as Markdown to edit: literal text is not escaped, so that it stays readable. */
export const writeEditableMarkdown = (blocks: readonly Block[]): string =>
  blocksText(blocks, { resolve: () => null, escapesText: false });

const blocksText = (blocks: readonly Block[], form: Form): string =>
  blocks
    .map((block) => blockText(block, form))
    .filter((text) => text !== '')
    .join('\n\n');

function blockText(block: Block, form: Form): string {
  switch (block.type) {
    case 'paragraph':
      return linesOf(block.children, form).join('\n');
    case 'heading': {
      const text = linesOf(block.children, form).join(' ').trim();
      return text === ''
        ? ''
        : `${'#'.repeat(block.level ?? 2)} ${text.replace(/[#\\]$/, (end) => `&#${end.charCodeAt(0)};`)}`;
    }
    case 'quote':
    case 'spoiler': {
      const text = blocksText(block.children, form);
      return text === '' ? '' : fenced(block.type, text);
    }
    case 'code':
      // A fence without a language would take the organization's default, which can be `quote`.
      return block.text.trim() === '' ? '' : fenced(codeLanguage(block.language), cleanText(block.text));
    case 'list':
      return listLines(block, '', form).join('\n');
    case 'table':
      return tableText(block.rows, form);
    case 'rule':
      return '---';
    case 'markdown':
      return rewriteMarkdown(cleanText(block.text));
  }
}

function fenced(info: string, text: string): string {
  const longest = [...text.matchAll(/`{3,}/g)].reduce((length, [run]) => Math.max(length, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${info}\n${text}\n${fence}`;
}

/** Lines of an item continue two columns deeper, and so do nested lists. */
function listLines({ start, items }: List, indent: string, form: Form): readonly string[] {
  return items.flatMap(({ children, lists }, index) => {
    const [first = '', ...more] = linesOf(children, form).filter((line) => line !== '');
    return [
      `${indent}${start === null ? '*' : `${start + index}.`} ${first}`,
      ...more.map((line) => `${indent}  ${line}`),
      ...lists.flatMap((list) => listLines(list, `${indent}  `, form)),
    ];
  });
}

/** Short rows of wider tables stay short, since the size of a padded table is the product of rows and columns. */
const MAX_PADDED_COLUMNS = 50;

function tableText(rows: readonly (readonly (readonly Inline[])[])[], form: Form): string {
  const width = Math.max(0, ...rows.map((cells) => cells.length));
  if (width === 0) return '';
  const lines = rows.map((cells, row) => {
    const length = row === 0 ? width : Math.max(cells.length, Math.min(width, MAX_PADDED_COLUMNS));
    return `${rowText(cells, form)}${EMPTY_CELL.repeat(length - cells.length)}`;
  });
  return [lines[0], `|${' --- |'.repeat(width)}`, ...lines.slice(1)].join('\n');
}

const rowText = (cells: readonly (readonly Inline[])[], form: Form): string =>
  `|${cells.map((cell) => (cell.length === 0 ? EMPTY_CELL : ` ${linesOf(cell, { ...form, isInTable: true }).join(' ')} |`)).join('')}`;

const EMPTY_CELL = '  |';

/** Node without children, with the emphasis of its parents. */
interface Leaf {
  readonly node: Exclude<Inline, { readonly type: Emphasis }>;
  readonly emphasis: ReadonlySet<Emphasis>;
  /** True for an address that links without brackets. */
  readonly isBare?: boolean;
}

const NO_EMPHASIS: ReadonlySet<Emphasis> = new Set();

/** Returns the written lines: no blank lines at both ends, at most one in between. */
function linesOf(inlines: readonly Inline[], form: Form): readonly string[] {
  const lines: Leaf[][] = [[]];
  collect(inlines, NO_EMPHASIS, lines);
  const written = lines.map((leaves) => lineText(leaves, form));
  const kept = written.filter((line, index) => line !== '' || (index > 0 && written[index - 1] !== ''));
  return kept.at(-1) === '' ? kept.slice(0, -1) : kept;
}

function collect(inlines: readonly Inline[], emphasis: ReadonlySet<Emphasis>, lines: Leaf[][]): void {
  for (const node of inlines) {
    switch (node.type) {
      case 'strong':
      case 'em':
      case 'del':
        collect(node.children, new Set([...emphasis, node.type]), lines);
        break;
      case 'text':
      case 'code': {
        for (const [index, text] of cleanText(node.text).split('\n').entries()) {
          if (index > 0) lines.push([]);
          addLeaf(lastOf(lines), { node: { ...node, text }, emphasis });
        }
        break;
      }
      case 'link':
        addLeaf(lastOf(lines), { node, emphasis: emphasisOfLink(node.children, emphasis) });
        break;
      case 'mention':
        // Needs white space or a bracket before it, not marks.
        addLeaf(lastOf(lines), { node, emphasis: NO_EMPHASIS });
        break;
      default:
        addLeaf(lastOf(lines), { node, emphasis });
    }
  }
}

/** Merges adjacent texts, since an escape depends on the next characters. */
function addLeaf(line: Leaf[], leaf: Leaf): void {
  if ('text' in leaf.node && leaf.node.text === '') return;
  const last = line.at(-1);
  if (last?.node.type === 'text' && leaf.node.type === 'text' && isSame(last.emphasis, leaf.emphasis)) {
    line[line.length - 1] = { ...last, node: { type: 'text', text: last.node.text + leaf.node.text } };
  } else line.push(leaf);
}

const isSame = (a: ReadonlySet<Emphasis>, b: ReadonlySet<Emphasis>): boolean =>
  a.size === b.size && [...a].every((each) => b.has(each));

/** Emphasis does not work inside links, so emphasis of the only child moves outside. */
function emphasisOfLink(children: readonly Inline[], outside: ReadonlySet<Emphasis>): ReadonlySet<Emphasis> {
  const [only, ...others] = children;
  if (!only || others.length > 0 || !('children' in only) || only.type === 'link') return outside;
  return emphasisOfLink(only.children, new Set([...outside, only.type]));
}

function lineText(leaves: readonly Leaf[], form: Form): string {
  const marked = leaves.map((leaf, i) => ({ ...leaf, isBare: isBare(leaf, leaves[i - 1], leaves[i + 1]) }));
  const text = styled(marked, ['del', 'strong', 'em'], form).trimEnd();
  const shown = text.trimStart();
  const first = leaves.find(({ node }) => node.type !== 'text' || node.text.trim() !== '');
  const isText = first?.node.type === 'text' && first.emphasis.size === 0;
  // Leading spaces would turn a line into code, or be dropped.
  const indent = '\u00a0'.repeat(Math.min(text.length - shown.length, MAX_INDENT));
  return shown === '' ? '' : indent + (isText && form.escapesText ? escapeLineStart(shown) : shown);
}

const MAX_INDENT = 16;

/** Addresses that the dialect autolinks completely (markdown §10.2). */
const BARE = /^https?:\/\/[A-Za-z0-9.-]+(?::\d+)?(?:\/(?:[\w\-./?#&=+,;%:@]*[\w/&=+])?)?$/;
const BEFORE_BARE = /(?:^|[\s'",(:<])$/;
const AFTER_BARE = /^[!:;?),.'">]{0,5}(?:\s|$)/;

function isBare({ node, emphasis }: Leaf, before?: Leaf, after?: Leaf): boolean {
  if (node.type !== 'link' || emphasis.size > 0 || !BARE.test(node.url)) return false;
  if (node.children.length > 0 && plainText(node.children) !== node.url) return false;
  return isPlain(before, BEFORE_BARE) && isPlain(after, AFTER_BARE);
}

const isPlain = (leaf: Leaf | undefined, pattern: RegExp): boolean =>
  leaf === undefined || (leaf.node.type === 'text' && leaf.emphasis.size === 0 && pattern.test(leaf.node.text));

const MARKS = { del: '~~', strong: '**', em: '*' } as const;

/** Writes groups of leaves with the first kind of emphasis between its marks, and the other kinds within. */
function styled(leaves: readonly Leaf[], kinds: readonly Emphasis[], form: Form): string {
  const [kind, ...others] = kinds;
  const output = new Output();
  if (kind === undefined) {
    for (const leaf of leaves) output.add(leafText(leaf, output.tail, form));
    return output.toString();
  }
  for (let start = 0, end = 0; start < leaves.length; start = end) {
    const isInside = leaves[start]!.emphasis.has(kind);
    while (end < leaves.length && leaves[end]!.emphasis.has(kind) === isInside) end++;
    const group = leaves.slice(start, end);
    if (!isInside) output.add(styled(group, others, form));
    // `***` is emphasis of both kinds; `**` and `*` next to each other would not be.
    else if (kind === 'strong' && group.every(({ emphasis }) => emphasis.has('em')))
      output.addMarked('***', styled(group, [], form));
    else output.addMarked(MARKS[kind], styled(group, others, form));
  }
  return output.toString();
}

/** Ends of a text that change the meaning of a next piece with the given first character. */
const CLASHES: Readonly<Record<string, RegExp>> = {
  '*': /[*#]$|@_?$/,
  '~': /~$/,
  '`': /[`\\]$/,
  '[': /!$/,
};

/** Pieces of Markdown, with a separator between pieces that would otherwise combine. */
class Output {
  private readonly pieces: string[] = [];
  /** Last two characters. */
  tail = '';

  add(piece: string): void {
    if (piece === '') return;
    if (CLASHES[firstOf(piece)]?.test(this.tail)) this.pieces.push(JOINER);
    this.pieces.push(piece);
    this.tail = (this.tail + piece.slice(-2)).slice(-2);
  }

  /** Leaves white space at both ends outside the marks, where it would disable them. */
  addMarked(marks: string, text: string): void {
    const inside = text.trim();
    const start = text.indexOf(inside);
    this.add(text.slice(0, start));
    for (const piece of inside === '' ? [] : [marks, inside, marks]) this.add(piece);
    this.add(text.slice(start + inside.length));
  }

  toString(): string {
    return this.pieces.join('');
  }
}

/** Characters that may stand before a mention. */
const BOUNDARY = /(?:^|[\s'"({[</])$/;

function leafText(leaf: Leaf, before: string, form: Form): string {
  const text = leafMarkdown(leaf, before, form);
  return form.isInTable && leaf.node.type !== 'code' ? text.replaceAll('|', '&#124;') : text;
}

function leafMarkdown({ node, emphasis, isBare }: Leaf, before: string, form: Form): string {
  switch (node.type) {
    case 'text':
      return escapeText(node.text, emphasis, form);
    case 'code':
      return codeSpan(node.text);
    case 'emoji':
      return node.character === null && /^[\w+-]+$/.test(node.name)
        ? `:${node.name}:`
        : escapeText(plainText([node]), emphasis, form);
    case 'time':
      return `<time:${isoTime(node.at)}>`;
    case 'mention': {
      const mention = form.resolve(node);
      if (mention === null) return escapeText(oneLine(mentionText(node)), emphasis, form);
      return BOUNDARY.test(before) ? mention : ` ${mention}`;
    }
    case 'link':
      return isBare ? node.url : linkText(node.url, node.children, emphasis, form);
  }
}

const oneLine = (text: string): string => cleanText(text).replaceAll('\n', ' ');

function linkText(address: string, children: readonly Inline[], emphasis: ReadonlySet<Emphasis>, form: Form): string {
  const url = safeUrl(address);
  const label = linkLabel(children.length === 0 ? [{ type: 'text', text: address }] : children, emphasis, form);
  if (url === null) return label;
  return `[${label.trim() === '' ? escapeText(address, emphasis, form) : label}](${url})`;
}

/** Text, code and times work inside links; emoji only as characters. */
function linkLabel(children: readonly Inline[], emphasis: ReadonlySet<Emphasis>, form: Form): string {
  const output = new Output();
  // Brackets would end the label.
  const literal = { ...form, escapesText: true };
  let text = '';
  const flush = () => {
    output.add(escapeText(oneLine(text), emphasis, literal));
    text = '';
  };
  const add = (inlines: readonly Inline[]): void => {
    for (const node of inlines) {
      if (node.type === 'strong' || node.type === 'em' || node.type === 'del') add(node.children);
      else if (node.type === 'code' || node.type === 'time') {
        flush();
        output.add(node.type === 'code' ? codeSpan(oneLine(node.text)) : `<time:${isoTime(node.at)}>`);
      } else text += plainText([node]);
    }
  };
  add(children);
  flush();
  return output.toString();
}

const SCHEMES = /^(?:https?|ftp|mailto|tel|sip|ssh|xmpp|matrix):./i;
/** Characters with a meaning in Markdown, and entities. */
const UNSAFE_IN_URL = /[\s()[\]<>*`|\\"'$^~]|;(?<=&#?\w{1,40};)/g;

function safeUrl(url: string): string | null {
  const clean = cleanText(url).trim();
  return SCHEMES.test(clean) ? clean.replace(UNSAFE_IN_URL, percentEncoded) : null;
}

/** Encodes also the ASCII characters that `encodeURIComponent` keeps. */
const percentEncoded = (character: string): string =>
  character.charCodeAt(0) < 0x80
    ? `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
    : encodeURIComponent(character);

/** Returns a code span. No run of backticks inside may be as long as the ones around it. */
function codeSpan(text: string): string {
  if (text === '') return '';
  const runs = new Set([...text.matchAll(/`+/g)].map(([run]) => run.length));
  const isAtEdge = text.startsWith('`') || text.endsWith('`');
  const marks = runs.has(1) ? '``' : '`';
  if (isAtEdge || runs.has(marks.length)) return codeSpan(text.replaceAll('`', "'"));
  return marks + text + marks;
}

/** Characters with a meaning in Markdown, as entities that the dialect preserves (markdown §9.5). */
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '/': '&#47;' };
const entityOf = (character: string): string => ENTITIES[character] ?? `&#${character.charCodeAt(0)};`;

/** Characters with a meaning in their context. */
const SYNTAX = /[*`[\]]|~(?=~)|(?<=~)~|\$(?=\$)|(?<=\$)\$|!(?=\[)|&(?=#?\w+;)|<(?=time:)|:(?=[\p{L}\p{N}_+-]+:)/gu;
/** Inside emphasis, these end it. */
const SYNTAX_IN_EMPHASIS = new RegExp(`${SYNTAX.source}|[~^]`, 'gu');

const escapeText = (text: string, emphasis: ReadonlySet<Emphasis>, { escapesText }: Form): string =>
  !escapesText ? text : text.replace(emphasis.size > 0 ? SYNTAX_IN_EMPHASIS : SYNTAX, entityOf);

/** Starts of headings, quotes, items, rules and delimiters of tables. */
const LINE_START = /^(?:#+(?=\s|$)|>|[+-](?=\s|$)|\d+\.(?=\s|$)|[-_](?=[-_\s]*$)|[|:-](?=[-|:\s]*$))/;

const escapeLineStart = (line: string): string =>
  line.replace(LINE_START, (start) => start.slice(0, -1) + entityOf(lastOf(start)));

/** Control characters and line separators. */
const UNCLEAN = /[\p{Cc}\u2028\u2029]/u;

/** Replaces control characters other than line breaks. */
const cleanText = (text: string): string =>
  UNCLEAN.test(text)
    ? text
        .replace(/\r\n?|[\u2028\u2029]/g, '\n')
        .replaceAll('\t', '    ')
        .replace(/[^\P{Cc}\n]/gu, ' ')
    : text;
