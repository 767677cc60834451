export * from './markdown.js';
export * from './rich-text.js';
export * from './safe-html.js';
export * from './slack-message.js';
export * from './write-markdown.js';
