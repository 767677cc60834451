import type { Emoji } from '@parley/domain/emoji';
import type { Reaction } from '@parley/domain/reactions';
import { presentEmojiType } from '../emoji/emoji-types.js';
import type { MessagePart } from '../messages/message-parts.js';
import type { ClientVariant } from '../routing/client-variant.js';

/** How clients name an emoji that somebody chose. */
export const presentEmoji = ({ type, code, name }: Emoji, client: ClientVariant) => ({
  emoji_name: name,
  emoji_code: code,
  reaction_type: presentEmojiType(type, client),
});

/** Messages §2.4: always a list. */
export const REACTION_PART: MessagePart = {
  present: ({ reactions = [] }, { client }) => ({
    reactions: reactions.map((reaction) => presentReaction(reaction, client)),
  }),
  differsByClient: ({ reactions = [] }) => reactions.some(({ type }) => type === 'extra'),
};

const presentReaction = (reaction: Reaction, client: ClientVariant) => ({
  ...presentEmoji(reaction, client),
  user_id: reaction.userId,
});
