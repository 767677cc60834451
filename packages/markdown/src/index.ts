export { unicodeEmoji } from './emoji/unicode-emoji.js';
export { re2LinkifierSyntax } from './links/linkifier-syntax.js';
export { htmlMessages } from './rendered/html-messages.js';
export { ZulipMarkdownRenderer } from './zulip-markdown-renderer.js';
