import './custom-emoji-errors.js';

export {
  type CustomEmoji,
  type CustomEmojiRepository,
  emojiExists,
  emojiPath,
  type NewCustomEmoji,
  stillEmojiPath,
} from './custom-emoji.js';
export { loadCustomEmoji } from './custom-emoji-delivery.js';
export type { CustomEmojiEventTypes } from './custom-emoji-events.js';
export * from './use-cases/add-custom-emoji.js';
export * from './use-cases/deactivate-custom-emoji.js';
export * from './use-cases/list-custom-emoji.js';
