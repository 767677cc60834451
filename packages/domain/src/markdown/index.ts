export * from './markdown.js';
export * from './safe-html.js';
