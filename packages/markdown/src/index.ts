export { unicodeEmoji } from './emoji/unicode-emoji.js';
export { ZulipMarkdownRenderer } from './zulip-markdown-renderer.js';
