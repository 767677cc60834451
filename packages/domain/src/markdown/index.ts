export { emojiNamed } from './emoji-names.js';
export * from './markdown.js';
export * from './read-html.js';
export * from './rich-text.js';
export * from './safe-html.js';
export { slackEmoji } from './slack-emoji.js';
export * from './slack-message.js';
export { parseMrkdwn } from './slack-mrkdwn.js';
export * from './write-markdown.js';
