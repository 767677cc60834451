export { unicodeEmoji } from './emoji/unicode-emoji.js';
export { htmlMessages } from './rendered/html-messages.js';
export { ZulipMarkdownRenderer } from './zulip-markdown-renderer.js';
