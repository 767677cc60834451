import type { LoadUnicodeEmoji } from '@parley/domain/files';
import type { MarkdownRenderer } from '@parley/domain/markdown';
import { htmlMessages, re2LinkifierSyntax } from '@parley/markdown';
import { Adapter } from '../adapter.js';

export interface MarkdownOptions {
  readonly markdownRenderer: MarkdownRenderer;
  readonly unicodeEmoji: LoadUnicodeEmoji;
}

/** Zulip's Markdown dialect. */
export const markdown = ({ markdownRenderer, unicodeEmoji }: MarkdownOptions) =>
  new Adapter({
    markdownRenderer: () => markdownRenderer,
    renderedMessages: () => htmlMessages,
    linkifierSyntax: () => re2LinkifierSyntax,
    unicodeEmoji: () => unicodeEmoji,
  });
