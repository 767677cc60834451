import type { Actor } from '../access/actor.js';
import type { Emoji } from '../files/emoji.js';
import type { FeatureParts } from '../kernel/event.js';
import type { MessageId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { LocatedMessage } from './load-access.js';
import { messageWatchers } from './message-audiences.js';
import type { UserSummary } from './message-view.js';
import { userSummary } from './user-summary.js';

export interface ReactionEventTypes {
  /** To those who watch the message (messages §18.4). */
  'reaction.changed': {
    readonly op: 'add' | 'remove';
    readonly messageId: MessageId;
    /** In a direct conversation, where everybody knows everybody. */
    readonly isDirect: boolean;
    readonly user: UserSummary;
    readonly emoji: Emoji;
  };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends ReactionEventTypes {}
}

export const REACTION_FEATURE = {
  eventFormats: { 'reaction.changed': 1 },
  notExported: {
    reactions: 'They are read with messages.',
  },
} satisfies FeatureParts<ReactionEventTypes>;

/** Announces to those who watch the message that the actor has reacted to it, or no longer does. */
export async function publishReaction(
  tx: Transaction,
  op: ReactionEventTypes['reaction.changed']['op'],
  { realmId, id }: Actor,
  { message, channel }: LocatedMessage,
  { type, code, name }: Emoji,
): Promise<void> {
  const user = (await tx.users.find(realmId, id))!;
  await tx.events.append(realmId, {
    event: {
      type: 'reaction.changed',
      op,
      messageId: message.id,
      isDirect: channel === null,
      user: userSummary(user),
      emoji: { type, code, name },
    },
    audience: messageWatchers(message, channel),
  });
}
