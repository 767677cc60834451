export { EMOJI_TYPES, type Emoji, type EmojiType, type LoadUnicodeEmoji, type UnicodeEmoji } from './emoji.js';
