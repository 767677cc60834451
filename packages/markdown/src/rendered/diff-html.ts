import { attributeOf, type HtmlToken, hasClass, readTokens } from './html-tokens.js';

/** The smallest piece that an edit can change: a word with its punctuation, an image, a formula, the target of a link. */
interface Atom {
  /** Equal for atoms that count as the same. */
  readonly key: string;
  readonly html: string;
  /** White space before it. */
  readonly space: string;
  /** Opening tags of the inline elements around it, outermost first. */
  readonly inline: readonly string[];
  /** Shown only when it changed. */
  readonly isHidden: boolean;
  readonly block: Block;
}

/** A run of text between tags of blocks. */
interface Block {
  /** Opening tags of the blocks around it, outermost first. */
  readonly path: readonly string[];
  atoms: number;
}

type Piece = Atom | { readonly blockTag: string };
type Change = 'kept' | 'inserted' | 'deleted';

/** A table of this many entries is filled in some milliseconds; larger texts count as replaced where they differ. */
const MAX_TABLE = 4_000_000;

const BLOCK_TAGS = new Set('blockquote div h1 h2 h3 h4 h5 h6 hr li ol p pre table tbody td th thead tr ul'.split(' '));

/** What changed from one version to the next: the new one, with insertions marked and deletions put in. */
export function diffHtml(before: string, after: string): string {
  const oldAtoms = readPieces(before).filter(isAtom);
  const pieces = readPieces(after);
  const { kept, deletions } = compare(oldAtoms, pieces.filter(isAtom));
  return new DiffWriter(kept, deletions).write(pieces);
}

const isAtom = (piece: Piece): piece is Atom => 'key' in piece;

function readPieces(html: string): Piece[] {
  const pieces: Piece[] = [];
  const path: string[] = [];
  const inline: string[] = [];
  let block: Block = { path: [], atoms: 0 };
  let space = '';
  const add = (key: string, content: string, isHidden = false) => {
    pieces.push({
      key: `${inline.map(tagName).join()} ${key}`,
      html: content,
      space,
      inline: [...inline],
      isHidden,
      block,
    });
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
    } else if (BLOCK_TAGS.has(token.tag)) {
      if (token.kind === 'open') path.push(token.html);
      else if (token.kind === 'close') path.pop();
      block = { path: [...path], atoms: 0 };
      space = '';
      pieces.push({ blockTag: token.html });
    } else if (token.kind === 'void') {
      add(token.html, token.html);
    } else if (token.kind === 'close') {
      const opening = inline.at(-1);
      const href = opening && token.tag === 'a' ? attributeOf(opening, 'href') : null;
      if (href !== null) add(`href ${href}`, ` Link: ${escapeText(href)} `, true);
      inline.pop();
    } else if (isOnePiece(token)) {
      const end = findEnd(tokens, i);
      const content = tokens
        .slice(i, end + 1)
        .map(({ html: part }) => part)
        .join('');
      add(content, content);
      i = end;
    } else {
      inline.push(token.html);
    }
  }
  return pieces;
}

/** Elements that mean something only as a whole. */
function isOnePiece({ tag, html }: HtmlToken & { tag: string }): boolean {
  return tag === 'time' || tag === 'audio' || tag === 'video' || hasClass(html, 'katex') || hasClass(html, 'emoji');
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
  /** What was deleted, by the new atom it stood before, or that replaced it: null for the very beginning. */
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
    // Insertions come before the deletions they replace.
    if (change === 'kept') {
      flush();
      kept.add(atom);
    }
    last = atom;
  }
  flush();
  return { kept, deletions };
}

/** The longest common subsequence; what is the same at both ends is no question. */
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

/** How much the rests from each pair of places on have in common; null when there is too much to compare. */
function commonLengths(before: readonly Atom[], after: readonly Atom[]): Uint16Array | null {
  const width = after.length + 1;
  if ((before.length + 1) * width > MAX_TABLE) return null;
  const table = new Uint16Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      table[i * width + j] =
        before[i]!.key === after[j]!.key
          ? table[(i + 1) * width + j + 1]! + 1
          : Math.max(table[(i + 1) * width + j]!, table[i * width + j + 1]!);
    }
  }
  return table;
}

class DiffWriter {
  private html = '';
  private depth = 0;
  /** Atoms that wait to be written together, since they changed in the same way. */
  private run: Atom[] = [];
  private runChange: Change = 'kept';
  /** Deleted blocks that wait for the end of the block that is being written. */
  private deletedBlocks: Atom[][] = [];

  constructor(
    private readonly kept: ReadonlySet<Atom>,
    private readonly deletions: ReadonlyMap<Atom | null, readonly Atom[]>,
  ) {}

  write(pieces: readonly Piece[]): string {
    const hasPlace = pieces.some(isAtom);
    let isFirst = true;
    if (!hasPlace) this.addDeletions(null, false);
    for (const piece of pieces) {
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
    return `<div>${this.html}</div>`;
  }

  private add(atom: Atom, change: Change): void {
    if (this.run.length > 0 && this.runChange !== change) this.endRun();
    this.runChange = change;
    this.run.push(atom);
  }

  /** A block that went as a whole is shown as one; parts of a block are shown where they were. */
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

/** Opens and closes inline elements between the atoms; the white space before the first is left to the caller. */
function writeInline(atoms: readonly Atom[], showHidden: boolean): string {
  let html = '';
  let open: readonly string[] = [];
  let isFirst = true;
  for (const atom of atoms) {
    if (atom.isHidden && !showHidden) continue;
    let shared = 0;
    while (shared < open.length && open[shared] === atom.inline[shared]) shared++;
    html += closeTags(open.slice(shared));
    if (!isFirst) html += atom.space;
    html += atom.inline.slice(shared).join('') + atom.html;
    open = atom.inline;
    isFirst = false;
  }
  return html + closeTags(open);
}

const closeTags = (tags: readonly string[]) =>
  tags
    .map((tag) => `</${tagName(tag)}>`)
    .reverse()
    .join('');

const marked = (html: string, change: Change) =>
  change === 'kept' ? html : `<span class="highlight_text_${change}">${html}</span>`;

const tagName = (tag: string) => /^<([a-zA-Z0-9]+)/.exec(tag)![1]!;

const escapeText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
