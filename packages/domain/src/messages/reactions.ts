import type { Actor } from '../access/actor.js';
import type { Emoji } from '../files/emoji.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import type { FeatureParts } from '../kernel/event.js';
import type { MessageId, RealmId, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { LocatedMessage } from './load-access.js';
import { type UserSummary, userSummary } from './message.js';
import { messageWatchers } from './message-delivery.js';

/** One person's reaction to a message. Everybody who chose the same emoji has it by the same name. */
export interface Reaction extends Emoji {
  readonly userId: UserId;
}

export const REACTION_ERRORS = declareErrors({
  /** Neither its name nor its code is given. */
  EMOJI_REQUIRED: 'invalid',
  REACTION_ALREADY_EXISTS: 'conflict',
  UNKNOWN_REACTION: 'unknown',
  TOO_MANY_REACTIONS: 'conflict',
});

type ReactionErrors = typeof REACTION_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends ReactionErrors {}
}

/** Which emoji it is, by whatever name. */
export type EmojiKey = Pick<Emoji, 'type' | 'code'>;

/** Of one message: it is shown with all of them. */
export const MAX_REACTIONS = 5000;
export const MAX_REACTION_EMOJI = 100;

/**
 * Whether a message that has so many reactions has room for one more, with which they would be of so many emoji.
 * @throws DomainError TOO_MANY_REACTIONS
 */
export function requireRoom(reactions: number, emoji: number): void {
  if (reactions >= MAX_REACTIONS) throw tooMany(`Too many reactions (limit: ${MAX_REACTIONS}).`);
  if (emoji > MAX_REACTION_EMOJI) throw tooMany(`Too many different reactions (limit: ${MAX_REACTION_EMOJI}).`);
}

const tooMany = (message: string) => new DomainError('TOO_MANY_REACTIONS', message);

declare module './message.js' {
  interface MessageParts {
    /** Oldest first. */
    readonly reactions?: readonly Reaction[];
  }
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    reactions: [reads: ReactionReads, repository: ReactionRepository];
  }
}

export interface ReactionReads {
  /** One with the emoji: that user's, or anybody's; null when there is none. */
  find(realmId: RealmId, messageId: MessageId, emoji: EmojiKey, userId?: UserId): Promise<Reaction | null>;
  /** Of the message: all reactions, and how many emoji they are of. */
  count(realmId: RealmId, messageId: MessageId): Promise<{ readonly reactions: number; readonly emoji: number }>;
}

/** Every implementation passes reaction-repository.contract.ts. */
export interface ReactionRepository extends ReactionReads {
  /** Shown with the message from now on, after those that it has. The user has none with this emoji. */
  add(realmId: RealmId, messageId: MessageId, reaction: Reaction): Promise<void>;
  /** Without effect where there is none. */
  remove(realmId: RealmId, messageId: MessageId, emoji: EmojiKey, userId: UserId): Promise<void>;
}

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
