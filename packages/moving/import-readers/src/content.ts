import { randomBytes } from 'node:crypto';
import { type Block, type Mention, writeMarkdown } from '@parley/domain/markdown';
import type { ContentPart, ImportedContent } from '@parley/transfer/records';

type Reference = Exclude<ContentPart, string>;

/** Unknown to the authors of exports, so that no text can contain a marker. */
const NONCE = randomBytes(8).toString('hex');
const MARKER = new RegExp(`\\ufdd0${NONCE}:(\\d+)\\ufdd1\\*\\*`);

/**
 * References of one message. They travel through `writeMarkdown` as mentions, and become parts between the pieces of
 * Markdown.
 */
export class References {
  private readonly references: Reference[] = [];

  /** Returns the node of a reference; `name` is its text where references have no effect, as in links. */
  add(of: Mention['of'], name: string, reference: Reference): Mention {
    this.references.push(reference);
    return { type: 'mention', of, id: String(this.references.length - 1), name };
  }

  /** Writes blocks. All their mentions must come from `add`. */
  write(blocks: readonly Block[]): ImportedContent {
    // A marker ends like a mention, which separates it from emphasis after it.
    const markdown = writeMarkdown(blocks, ({ id }) => `\ufdd0${NONCE}:${id}\ufdd1**`);
    const pieces = markdown.split(MARKER);
    if (pieces.length === 1) return markdown;
    return pieces
      .map((piece, index): ContentPart => (index % 2 === 0 ? piece : this.references[Number(piece)]!))
      .filter((part) => part !== '');
  }
}
