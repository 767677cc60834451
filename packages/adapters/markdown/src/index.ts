export { unicodeEmoji } from './emoji/unicode-emoji.js';
export { htmlMessages } from './html-messages.js';
export { re2LinkifierSyntax } from './links/linkifier-syntax.js';
export { findTypesettingScript } from './typesetting/typesetting.js';
export { ZulipMarkdownRenderer } from './zulip-markdown-renderer.js';
