import type { ChannelId, RealmId, RecipientId, UserId } from '../kernel/ids.js';

/** Whom messages are addressed to: a channel, or the people of one direct conversation. */
export type Recipient =
  | { readonly kind: 'channel'; readonly id: RecipientId; readonly realmId: RealmId; readonly channelId: ChannelId }
  | {
      readonly kind: 'direct';
      readonly id: RecipientId;
      readonly realmId: RealmId;
      /** Everybody in it, ascending; one person talking to themselves is alone. */
      readonly userIds: readonly UserId[];
    };

/** How a conversation is named to one of its people: each once and ascending, without them unless they are alone. */
export function otherParticipants(userIds: readonly UserId[], userId: UserId): readonly UserId[] {
  const ids = [...new Set(userIds)].sort((a, b) => a - b);
  return ids.length > 1 ? ids.filter((id) => id !== userId) : ids;
}

export interface RecipientReads {
  /** Unknown ids are absent. */
  list(realmId: RealmId, ids: readonly RecipientId[]): Promise<ReadonlyMap<RecipientId, Recipient>>;
  /** The conversation of exactly these people (in any order), with messages or without; null when it was never opened. */
  findDirect(realmId: RealmId, userIds: readonly UserId[]): Promise<RecipientId | null>;
  /**
   * Direct conversations that both users take part in, of at least so many people; the same user twice: all of theirs.
   * Ascending. Costs by the conversations of the first one.
   */
  listDirectWith(
    realmId: RealmId,
    userId: UserId,
    otherId: UserId,
    atLeastUsers: number,
  ): Promise<readonly RecipientId[]>;
  /** The first `limit` direct conversations with an id above `after`; ascending. */
  listDirect(realmId: RealmId, after: number, limit: number): Promise<readonly RecipientId[]>;
  /** The user's direct conversations that have messages, the one with the newest message first. */
  listRecentDirect(
    realmId: RealmId,
    userId: UserId,
    limit: number,
  ): Promise<readonly { readonly recipientId: RecipientId; readonly lastMessageId: number }[]>;
}

/** Every implementation passes recipient-repository.contract.ts. */
export interface RecipientRepository extends RecipientReads {
  /** Finds the conversation or opens it: its people receive everything sent to it from the first message on. */
  openDirect(realmId: RealmId, userIds: readonly UserId[]): Promise<RecipientId>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    recipients: [reads: RecipientReads, repository: RecipientRepository];
  }
}
