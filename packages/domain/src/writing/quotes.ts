import type { MessageId } from '../kernel/ids.js';

/** Maximum number of quoted messages that are found in a text. */
export const MAX_QUOTED_MESSAGES = 100;

/** Replaces the text of a deleted message in quotes. */
const DELETED_TEXT = '(deleted message)';

/** Paths of narrows have no parentheses. */
const LINK = /\]\(([^()\s]*)\)/g;
const NEAR = /\/near\/(\d{1,15})$/;
/** Opening fence (markdown §5). Other blocks than these contain code. */
const FENCE = /^(~{3,}|`{3,})(?=[^~`]*$) *(?:\{?\.?(quoted?|spoiler)(?![\w+.#/-]))?/i;

interface Block {
  /** Null outside of blocks. */
  readonly fence: string | null;
  readonly isCode: boolean;
  readonly isRemoved: boolean;
  /** Last line with text, which names the source of a quote after it. */
  source: string;
}

/**
 * Replaces the text of quotes as clients write them: a line with links to messages, then a block with the language
 * `quote`, which may contain further quotes. The organization's address in the links is ignored, because it may change.
 */
function replaceQuotes(content: string, isDeleted: (ids: readonly MessageId[]) => boolean): string {
  if (!content.includes('/near/')) return content;
  const blocks: Block[] = [{ fence: null, isCode: false, isRemoved: false, source: '' }];
  const kept: string[] = [];
  for (const line of content.split('\n')) {
    if (line.trimEnd() === blocks.at(-1)!.fence) {
      blocks.pop();
      if (!blocks.at(-1)!.isRemoved) kept.push(line);
      continue;
    }
    const block = blocks.at(-1)!;
    if (!block.isRemoved) kept.push(line);
    const [, fence, language] = (!block.isCode && FENCE.exec(line)) || [];
    if (fence === undefined) {
      if (line.trim() !== '') block.source = line;
      continue;
    }
    const isQuote = language?.toLowerCase().startsWith('quote') ?? false;
    const isDeletedQuote = isQuote && isDeleted(linkedMessages(block.source));
    if (isDeletedQuote && !block.isRemoved) kept.push(DELETED_TEXT);
    block.source = '';
    blocks.push({ fence, isCode: language === undefined, isRemoved: block.isRemoved || isDeletedQuote, source: '' });
  }
  return kept.join('\n');
}

const linkedMessages = (line: string): readonly MessageId[] =>
  [...line.matchAll(LINK)].flatMap(([, url]) => {
    const id = url!.includes('#narrow/') && NEAR.exec(url!)?.[1];
    return id ? [Number(id) as MessageId] : [];
  });

/** Returns the messages that a text quotes, in the order of their first quotes. */
export function quotedMessages(content: string): readonly MessageId[] {
  const found = new Set<MessageId>();
  replaceQuotes(content, (ids) => {
    for (const id of ids) found.add(id);
    return false;
  });
  return [...found].slice(0, MAX_QUOTED_MESSAGES);
}

/** Returns the text without the words of a deleted message. Quotes still name its author and link to it. */
export const withoutQuotesOf = (messageId: MessageId, content: string): string =>
  replaceQuotes(content, (ids) => ids.includes(messageId));
