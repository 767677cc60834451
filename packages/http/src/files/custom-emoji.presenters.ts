import { type CustomEmoji, emojiPath, stillEmojiPath } from '@parley/domain/files';

/** Organization §7. */
export const presentCustomEmoji = (emoji: CustomEmoji) => ({
  id: String(emoji.id),
  name: emoji.name,
  source_url: emojiPath(emoji),
  still_url: stillEmojiPath(emoji),
  deactivated: emoji.isDeactivated,
  author_id: emoji.authorId,
});

export const presentAllCustomEmoji = (all: readonly CustomEmoji[]) =>
  Object.fromEntries(all.map((emoji) => [emoji.id, presentCustomEmoji(emoji)]));
