import type { Actor } from '../access/actor.js';
import type { Emoji } from '../files/emoji.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import type { FeatureParts } from '../kernel/event.js';
import type { MessageId, RealmId, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { getOrThrow } from '../kernel/work.js';
import type { LocatedMessage } from '../messages/load-access.js';
import { type Message, type UserSummary, userSummary } from '../messages/message.js';
import { messageWatchers } from '../messages/message-delivery.js';

/** User's reaction to a message. All reactions with the same emoji share its name. */
export interface Reaction extends Emoji {
  readonly userId: UserId;
}

export const REACTION_ERRORS = declareErrors({
  /** Neither name nor code of an emoji is given. */
  EMOJI_REQUIRED: 'invalid',
  /** The user has already reacted with this emoji. */
  REACTION_ALREADY_EXISTS: 'conflict',
  /** The user has not reacted with this emoji. */
  UNKNOWN_REACTION: 'unknown',
  /** The message has too many reactions or different emoji. */
  TOO_MANY_REACTIONS: 'conflict',
});

type ReactionErrors = typeof REACTION_ERRORS;

/** Identifies an emoji independently of its name. */
export type EmojiKey = Pick<Emoji, 'type' | 'code'>;

/** Limit per message, since all of them are shown together. */
export const MAX_REACTIONS = 5000;
export const MAX_REACTION_EMOJI = 100;

/**
 * Checks capacity for one more reaction; `emoji` is the number of distinct emoji including the new one.
 * @throws DomainError TOO_MANY_REACTIONS
 */
export function requireRoomForReaction(reactions: number, emoji: number): void {
  if (reactions >= MAX_REACTIONS) throw tooMany(`Too many reactions (limit: ${MAX_REACTIONS}).`);
  if (emoji > MAX_REACTION_EMOJI) throw tooMany(`Too many different reactions (limit: ${MAX_REACTION_EMOJI}).`);
}

const tooMany = (message: string) => new DomainError('TOO_MANY_REACTIONS', message);

declare module '../messages/message.js' {
  interface MessageParts {
    /** Oldest first. */
    readonly reactions?: readonly Reaction[];
  }
}

/** Reaction with its message. */
export interface UserReaction extends Reaction {
  readonly messageId: MessageId;
}

export interface ReactionReads {
  /** Returns a reaction with the emoji by the given user or by any user, or null. */
  find(realmId: RealmId, messageId: MessageId, emoji: EmojiKey, userId?: UserId): Promise<Reaction | null>;
  /** Returns the user's reactions to these messages by ascending message and position. */
  listOfUser(realmId: RealmId, messageIds: readonly MessageId[], userId: UserId): Promise<readonly UserReaction[]>;
  /**
   * Returns the user's reactions among the next `limit` reactions of all users, in an unspecified order. `next`: the new
   * `after`; null at the end.
   */
  listSomeOfUser(
    realmId: RealmId,
    userId: UserId,
    after: number,
    limit: number,
  ): Promise<{ readonly reactions: readonly UserReaction[]; readonly next: number | null }>;
  /** Returns the number of a message's reactions and of their distinct emoji. */
  count(realmId: RealmId, messageId: MessageId): Promise<{ readonly reactions: number; readonly emoji: number }>;
}

/** Every implementation passes reaction-repository.contract.ts. */
export interface ReactionRepository extends ReactionReads {
  /** Appends a reaction to the message. Expects that the user has none with this emoji yet. */
  add(realmId: RealmId, messageId: MessageId, reaction: Reaction): Promise<void>;
  /** Has no effect if the reaction does not exist. */
  remove(realmId: RealmId, messageId: MessageId, emoji: EmojiKey, userId: UserId): Promise<void>;
}

export interface ReactionEventTypes {
  /** Sent to message watchers (messages §18.4). */
  'reaction.changed': {
    readonly op: 'add' | 'remove';
    readonly messageId: MessageId;
    /** True for direct messages, because their participants may all see each other. */
    readonly isDirect: boolean;
    readonly user: UserSummary;
    readonly emoji: Emoji;
  };
}

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends ReactionErrors {}
  interface RepositoryMap {
    reactions: [reads: ReactionReads, repository: ReactionRepository];
  }
  interface DomainEventTypes extends ReactionEventTypes {}
}

export const REACTION_FEATURE = {
  eventFormats: { 'reaction.changed': 1 },
  notExported: {
    reactions: 'They are read with messages.',
  },
} satisfies FeatureParts<ReactionEventTypes>;

/** Publishes the addition or removal of a reaction to message watchers. */
export async function publishReaction(
  tx: Transaction,
  op: ReactionEventTypes['reaction.changed']['op'],
  { realmId, id }: Pick<Actor, 'realmId' | 'id'>,
  { message, channel }: Pick<LocatedMessage, 'message' | 'channel'>,
  { type, code, name }: Emoji,
): Promise<void> {
  const user = await tx.users.get(realmId, id);
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

/** Removes the user's reactions among the next `limit` ones of all users. `next`: the new `after`; null at the end. */
export async function removeSomeReactions(
  tx: Transaction,
  user: Pick<Actor, 'realmId' | 'id'>,
  after: number,
  limit: number,
): Promise<{ readonly count: number; readonly next: number | null }> {
  const { realmId, id: userId } = user;
  const { reactions, next } = await tx.reactions.listSomeOfUser(realmId, userId, after, limit);
  const messageIds = [...new Set(reactions.map(({ messageId }) => messageId))];
  const messages = new Map((await tx.messages.list(realmId, messageIds)).map((message) => [message.id, message]));
  for (const { messageId, ...reaction } of reactions) {
    const message = messages.get(messageId)!;
    const channel = message.channelId === null ? null : await tx.channels.find(realmId, message.channelId);
    await tx.reactions.remove(realmId, messageId, reaction, userId);
    await publishReaction(tx, 'remove', user, { message, channel }, reaction);
  }
  return { count: reactions.length, next };
}

/** Returns the reactions of `from` to these messages, except those that `to` has too. */
export async function reactionsToGive(
  { reactions }: { readonly reactions: ReactionReads },
  messages: readonly Message[],
  from: UserId,
  to: UserId,
): Promise<readonly UserReaction[]> {
  const [first] = messages;
  if (!first) return [];
  const ids = messages.map(({ id }) => id);
  const keyOf = ({ messageId, type, code }: UserReaction) => `${messageId} ${type} ${code}`;
  const taken = new Set((await reactions.listOfUser(first.realmId, ids, to)).map(keyOf));
  return (await reactions.listOfUser(first.realmId, ids, from)).filter((reaction) => !taken.has(keyOf(reaction)));
}

/** Makes the user the author of these reactions to the messages. */
export async function giveReactions(
  tx: Transaction,
  messages: readonly Message[],
  reactions: readonly UserReaction[],
  userId: UserId,
): Promise<void> {
  const byId = new Map(messages.map((message) => [message.id, message]));
  for (const { messageId, ...reaction } of reactions) {
    const message = getOrThrow(byId, messageId);
    const { realmId } = message;
    const channel = message.channelId === null ? null : await tx.channels.find(realmId, message.channelId);
    const located = { message, channel };
    await tx.reactions.remove(realmId, messageId, reaction, reaction.userId);
    await publishReaction(tx, 'remove', { realmId, id: reaction.userId }, located, reaction);
    await tx.reactions.add(realmId, messageId, { ...reaction, userId });
    await publishReaction(tx, 'add', { realmId, id: userId }, located, reaction);
  }
}
