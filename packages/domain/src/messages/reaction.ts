import type { Emoji } from '../files/emoji.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import type { MessageId, RealmId, UserId } from '../kernel/ids.js';

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

declare module './message-view.js' {
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
