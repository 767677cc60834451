export { unicodeEmoji } from './emoji/unicode-emoji.js';
export { htmlMessages } from './rendered/html-messages.js';
export { type MarkdownServerSettings, ZulipMarkdownRenderer } from './zulip-markdown-renderer.js';
