import type { Reaction } from '@parley/domain/messages';
import type { HttpFeature } from '../feature.js';
import { presentEmoji } from '../files/emoji-types.js';
import type { ClientVariant } from '../kernel/client-variant.js';
import type { MessagePart } from './message-parts.js';
import { REACTION_EVENTS } from './reaction.events.js';
import { reactionRoutes } from './reaction.routes.js';

/** Messages §2.4: always a list. */
const REACTION_PART: MessagePart = {
  present: ({ reactions = [] }, { client }) => ({
    reactions: reactions.map((reaction) => presentReaction(reaction, client)),
  }),
  differsByClient: ({ reactions = [] }) => reactions.some(({ type }) => type === 'extra'),
};

const presentReaction = (reaction: Reaction, client: ClientVariant) => ({
  ...presentEmoji(reaction, client),
  user_id: reaction.userId,
});

export const REACTIONS = {
  routes: () => reactionRoutes,
  events: REACTION_EVENTS,
  errors: {
    EMOJI_REQUIRED: { text: 'At least one of the following arguments must be present: emoji_name, emoji_code' },
    REACTION_ALREADY_EXISTS: { code: 'REACTION_ALREADY_EXISTS' },
    UNKNOWN_REACTION: { code: 'REACTION_DOES_NOT_EXIST' },
  },
  messageParts: [REACTION_PART],
} satisfies HttpFeature;
