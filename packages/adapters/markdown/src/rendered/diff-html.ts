import { attributeOf, type HtmlToken, hasClass, readTokens } from './rendered-html.js';

/** Smallest unit of change: a word with its punctuation, an image, a formula or a link target. */
interface Atom {
  /** Equal for atoms considered equal across versions. */
  readonly key: number;
  readonly html: string;
  /** Preceding white space. */
  readonly space: string;
  /** Innermost surrounding inline element. */
  readonly inline: Inline | null;
  /** True if shown only after a change. */
  readonly isHidden: boolean;
  readonly block: Block;
}

/** Inline element that may be open. Elements of one version with the same enclosing tags are identical. */
interface Inline {
  /** Opening tag. */
  readonly html: string;
  readonly parent: Inline | null;
  readonly depth: number;
  /** Equal for elements with the same enclosing names across versions. */
  readonly key: number;
}

/** Text between block tags. */
interface Block {
  /** Opening tags of the enclosing blocks, outermost first. */
  readonly path: readonly string[];
  atoms: number;
}

type Piece = Atom | { readonly blockTag: string };
type Change = 'kept' | 'inserted' | 'deleted';

/** Maximum table size, filled in a few milliseconds; differing parts of larger texts count as replaced. */
const MAX_TABLE = 4_000_000;

const BLOCK_TAGS = new Set('blockquote div h1 h2 h3 h4 h5 h6 hr li ol p pre table tbody td th thead tr ul'.split(' '));

/** Maximum growth, because inline elements are reopened around every change. */
const MAX_GROWTH = 4;
const LITTLE = 10_000;

/** Returns the new version with marked insertions and deletions. */
export function diffHtml(before: string, after: string): string {
  const keys = new Keys();
  const oldAtoms = readPieces(before, keys).filter(isAtom);
  const pieces = readPieces(after, keys);
  const { kept, deletions } = compare(oldAtoms, pieces.filter(isAtom));
  const diff = new DiffWriter(kept, deletions, LITTLE + MAX_GROWTH * (before.length + after.length)).write(pieces);
  if (diff !== null) return diff;
  const deleted = oldAtoms.map(({ html, isHidden }) => (isHidden ? '' : html)).join(' ');
  return `<div>${after} <p>${marked(deleted, 'deleted')}</p></div>`;
}

/** Assigns the same number to equal texts. */
class Keys {
  private readonly numbers = new Map<string, number>();

  of(text: string): number {
    let number = this.numbers.get(text);
    if (number === undefined) {
      number = this.numbers.size;
      this.numbers.set(text, number);
    }
    return number;
  }
}

/** Inline elements of one version. */
class Inlines {
  private readonly inlines = new Map<string, Inline>();
  private readonly numbers = new Map<Inline | null, number>([[null, 0]]);

  constructor(private readonly keys: Keys) {}

  inside(parent: Inline | null, html: string): Inline {
    const identity = `${this.numbers.get(parent)} ${html}`;
    let inline = this.inlines.get(identity);
    if (!inline) {
      const key = this.keys.of(`<${parent?.key} ${tagName(html)}`);
      inline = { html, parent, depth: (parent?.depth ?? 0) + 1, key };
      this.inlines.set(identity, inline);
      this.numbers.set(inline, this.numbers.size);
    }
    return inline;
  }
}

const isAtom = (piece: Piece): piece is Atom => 'key' in piece;

function readPieces(html: string, keys: Keys): Piece[] {
  const pieces: Piece[] = [];
  const path: string[] = [];
  const inlines = new Inlines(keys);
  let inline = null as Inline | null;
  let block: Block = { path: [], atoms: 0 };
  let space = '';
  const add = (key: string, content: string, isHidden = false) => {
    pieces.push({ key: keys.of(`${inline?.key} ${key}`), html: content, space, inline, isHidden, block });
    block.atoms++;
    space = '';
  };
  const tokens = [...readTokens(html)];
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!;
    if (token.kind === 'text') {
      for (const [piece] of token.html.matchAll(/\s+|\S+/g)) {
        if (/\s/.test(piece)) space = path.includes('<pre>') ? piece : ' ';
        else add(piece, piece);
      }
    } else if (token.kind === 'formula') {
      add(token.html, token.html);
    } else if (BLOCK_TAGS.has(token.tag)) {
      if (token.kind === 'open') path.push(token.html);
      else if (token.kind === 'close') path.pop();
      block = { path: [...path], atoms: 0 };
      space = '';
      pieces.push({ blockTag: token.html });
    } else if (token.kind === 'void') {
      add(token.html, token.html);
    } else if (token.kind === 'close') {
      const href = inline && token.tag === 'a' ? attributeOf(inline.html, 'href') : null;
      if (href !== null) add(`href ${href}`, ` Link: ${escapeText(href)} `, true);
      inline = inline?.parent ?? null;
    } else if (isOnePiece(token)) {
      const end = findEnd(tokens, i);
      const content = tokens
        .slice(i, end + 1)
        .map(({ html: part }) => part)
        .join('');
      add(content, content);
      i = end;
    } else {
      inline = inlines.inside(inline, token.html);
    }
  }
  return pieces;
}

/** True for elements that are meaningful only as a whole. */
function isOnePiece({ tag, html }: HtmlToken & { tag: string }): boolean {
  return tag === 'time' || tag === 'audio' || tag === 'video' || hasClass(html, 'emoji');
}

function findEnd(tokens: readonly HtmlToken[], start: number): number {
  let depth = 0;
  for (let i = start; i < tokens.length; i++) {
    if (tokens[i]!.kind === 'open') depth++;
    else if (tokens[i]!.kind === 'close' && --depth === 0) return i;
  }
  return tokens.length - 1;
}

interface Comparison {
  readonly kept: ReadonlySet<Atom>;
  /** Deleted atoms by the new atom that follows or replaces them; null for the beginning. */
  readonly deletions: ReadonlyMap<Atom | null, readonly Atom[]>;
}

function compare(before: readonly Atom[], after: readonly Atom[]): Comparison {
  const kept = new Set<Atom>();
  const deletions = new Map<Atom | null, Atom[]>();
  let last: Atom | null = null;
  let pending: Atom[] = [];
  const flush = () => {
    if (pending.length > 0) deletions.set(last, [...(deletions.get(last) ?? []), ...pending]);
    pending = [];
  };
  for (const { change, atom } of align(before, after)) {
    if (change === 'deleted') {
      pending.push(atom);
      continue;
    }
    // Insertions precede the deletions they replace.
    if (change === 'kept') {
      flush();
      kept.add(atom);
    }
    last = atom;
  }
  flush();
  return { kept, deletions };
}

/** Aligns by longest common subsequence after skipping equal ends. */
function* align(before: readonly Atom[], after: readonly Atom[]): Generator<{ change: Change; atom: Atom }> {
  let start = 0;
  while (start < before.length && start < after.length && before[start]!.key === after[start]!.key) {
    yield { change: 'kept', atom: after[start++]! };
  }
  let oldEnd = before.length;
  let newEnd = after.length;
  while (oldEnd > start && newEnd > start && before[oldEnd - 1]!.key === after[newEnd - 1]!.key) {
    oldEnd--;
    newEnd--;
  }
  const oldMiddle = before.slice(start, oldEnd);
  const newMiddle = after.slice(start, newEnd);
  const common = commonLengths(oldMiddle, newMiddle);
  const width = newMiddle.length + 1;
  let i = 0;
  let j = 0;
  while (i < oldMiddle.length || j < newMiddle.length) {
    const isSame = common !== null && oldMiddle[i]?.key === newMiddle[j]?.key;
    const dropOld =
      j === newMiddle.length || (common !== null && common[(i + 1) * width + j]! >= common[i * width + j + 1]!);
    if (isSame) {
      yield { change: 'kept', atom: newMiddle[j++]! };
      i++;
    } else if (i < oldMiddle.length && dropOld) yield { change: 'deleted', atom: oldMiddle[i++]! };
    else if (j < newMiddle.length) yield { change: 'inserted', atom: newMiddle[j++]! };
    else yield { change: 'deleted', atom: oldMiddle[i++]! };
  }
  for (; newEnd < after.length; newEnd++) yield { change: 'kept', atom: after[newEnd]! };
}

/** Returns the length of the common subsequence for each pair of suffixes; null if the table would be too large. */
function commonLengths(before: readonly Atom[], after: readonly Atom[]): Uint16Array | null {
  const width = after.length + 1;
  if ((before.length + 1) * width > MAX_TABLE) return null;
  const table = new Uint16Array((before.length + 1) * width);
  const keys = Int32Array.from(after, ({ key }) => key);
  for (let i = before.length - 1; i >= 0; i--) {
    const { key } = before[i]!;
    const below = (i + 1) * width;
    let right = 0;
    for (let j = after.length - 1; j >= 0; j--) {
      right = keys[j] === key ? table[below + j + 1]! + 1 : Math.max(table[below + j]!, right);
      table[i * width + j] = right;
    }
  }
  return table;
}

class DiffWriter {
  private html = '';
  private depth = 0;
  /** Atoms with the same kind of change, to be written together. */
  private run: Atom[] = [];
  private runChange: Change = 'kept';
  /** Deleted blocks to be written after the current block. */
  private deletedBlocks: Atom[][] = [];

  constructor(
    private readonly kept: ReadonlySet<Atom>,
    private readonly deletions: ReadonlyMap<Atom | null, readonly Atom[]>,
    private readonly maxLength: number,
  ) {}

  /** Returns null if the result becomes too long. */
  write(pieces: readonly Piece[]): string | null {
    const hasAtom = pieces.some(isAtom);
    let isFirst = true;
    if (!hasAtom) this.addDeletions(null, false);
    for (const piece of pieces) {
      if (this.html.length > this.maxLength) return null;
      if (!isAtom(piece)) {
        this.addBlockTag(piece.blockTag);
        continue;
      }
      if (isFirst) this.addDeletions(null, true);
      isFirst = false;
      this.add(piece, this.kept.has(piece) ? 'kept' : 'inserted');
      this.addDeletions(piece, true);
    }
    this.endRun();
    this.writeDeletedBlocks();
    return this.html.length > this.maxLength ? null : `<div>${this.html}</div>`;
  }

  private add(atom: Atom, change: Change): void {
    if (this.run.length > 0 && this.runChange !== change) this.endRun();
    this.runChange = change;
    this.run.push(atom);
  }

  /** Shows completely deleted blocks as blocks and partial deletions in place. */
  private addDeletions(after: Atom | null, isInBlock: boolean): void {
    for (const atoms of byBlock(this.deletions.get(after) ?? [])) {
      const isWhole = atoms.length === atoms[0]!.block.atoms;
      if (isWhole || !isInBlock) this.deletedBlocks.push(atoms);
      else for (const atom of atoms) this.add(atom, 'deleted');
    }
  }

  private addBlockTag(html: string): void {
    this.endRun();
    this.html += html;
    if (html.startsWith('</')) this.depth--;
    else if (html !== '<hr>') this.depth++;
    if (this.depth === 0) this.writeDeletedBlocks();
  }

  private endRun(): void {
    if (this.run.length === 0) return;
    const space = this.run[0]!.space || (this.runChange === 'deleted' ? ' ' : '');
    const inside = writeInline(this.run, this.runChange !== 'kept');
    if (inside !== '') this.html += space + marked(inside, this.runChange);
    this.run = [];
  }

  private writeDeletedBlocks(): void {
    for (const atoms of this.deletedBlocks) {
      if (this.html.length > this.maxLength) break;
      const { path } = atoms[0]!.block;
      const closings = path.map((tag) => `</${tagName(tag)}>`).reverse();
      this.html += ` ${path.join('')}${marked(writeInline(atoms, true), 'deleted')}${closings.join('')}`;
    }
    this.deletedBlocks = [];
  }
}

function byBlock(atoms: readonly Atom[]): Atom[][] {
  const groups: Atom[][] = [];
  for (const atom of atoms) {
    const last = groups.at(-1);
    if (last && last[0]!.block === atom.block) last.push(atom);
    else groups.push([atom]);
  }
  return groups;
}

/** Writes atoms with their inline elements. The caller handles white space before the first atom. */
function writeInline(atoms: readonly Atom[], showHidden: boolean): string {
  let html = '';
  let open: Inline | null = null;
  let isFirst = true;
  for (const atom of atoms) {
    if (atom.isHidden && !showHidden) continue;
    const shared = sharedBy(open, atom.inline);
    html += closings(open, shared);
    if (!isFirst) html += atom.space;
    html += openings(shared, atom.inline) + atom.html;
    open = atom.inline;
    isFirst = false;
  }
  return html + closings(open, null);
}

/** Returns the innermost common element. */
function sharedBy(first: Inline | null, second: Inline | null): Inline | null {
  let a = first;
  let b = second;
  while (a !== b) {
    if (a && a.depth >= (b?.depth ?? 0)) a = a.parent;
    else b = b!.parent;
  }
  return a;
}

function closings(from: Inline | null, to: Inline | null): string {
  let html = '';
  for (let inline = from; inline && inline !== to; inline = inline.parent) html += `</${tagName(inline.html)}>`;
  return html;
}

function openings(from: Inline | null, to: Inline | null): string {
  const tags: string[] = [];
  for (let inline = to; inline && inline !== from; inline = inline.parent) tags.push(inline.html);
  return tags.reverse().join('');
}

const marked = (html: string, change: Change) =>
  change === 'kept' ? html : `<span class="highlight_text_${change}">${html}</span>`;

const tagName = (tag: string) => /^<([a-zA-Z0-9]+)/.exec(tag)![1]!;

const escapeText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
