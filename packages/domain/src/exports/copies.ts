import type { IdKind } from '../kernel/export-parts.js';
import type {
  ChannelId,
  CustomEmojiId,
  FileId,
  GroupId,
  MessageId,
  Ordinal,
  RealmId,
  RecipientId,
  UserId,
} from '../kernel/ids.js';
import type { NewMessage, PersonalFlags } from '../messages/message.js';
import type { MessageIdRange, Viewer } from '../messages/message-condition.js';
import type { MessageEdit } from '../messages/message-edit.js';
import type { OrdinalRange } from '../messages/read-set.js';

export interface CopyReads {
  /**
   * Returns the realm's messages among the server's next `limit` ids above `after`, ascending. `reached`: id to
   * continue from; null at the end.
   */
  listMessageIds(
    realmId: RealmId,
    after: number,
    limit: number,
  ): Promise<{ readonly ids: readonly MessageId[]; readonly reached: MessageId | null }>;
  /** Returns all recipients that the user ever received messages from; ascending. */
  listReceivedRecipients(viewer: Viewer): Promise<readonly RecipientId[]>;
  /**
   * Returns the realm's ranges of ids in which messages are older than earlier ones, ascending. Only the ids of messages
   * of the realm are in a range, and their times ascend.
   */
  listRanges(realmId: RealmId): Promise<readonly MessageIdRange[]>;
  /** Counts the messages ever sent to these recipients together. */
  countSentTo(realmId: RealmId, recipientIds: readonly RecipientId[]): Promise<number>;
  /**
   * Returns the users who flagged each message, are mentioned in it or have it without having received it. Messages
   * without such users are absent.
   */
  listFlagging(realmId: RealmId, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, readonly UserId[]>>;
}

/** Personal flags of a user for a message. */
export interface FlagsCopy {
  readonly userId: UserId;
  readonly messageId: MessageId;
  readonly flags: PersonalFlags;
}

/** Message to append. */
export type AppendedCopy = Omit<NewMessage, 'readBy' | 'exceptions'> & { readonly id: MessageId };

/** Operations needed only for copying an organization. Every implementation passes copy-repository.contract.ts. */
export interface CopyRepository extends CopyReads {
  /** Returns the highest id ever assigned or reserved for later rows; 0 if none. */
  lastId(kind: IdKind): Promise<number>;
  /** Makes the next id of the kind at least `least`. Has no effect if it already is. */
  raiseIds(kind: IdKind, least: number): Promise<void>;
  /**
   * Appends messages of one realm in order, without personal flags, under ids reserved by `raiseIds`. Their age does
   * not affect time-based look-ups of other messages. Returns the ordinal of each.
   * @param rangeStart first of reserved ids in which times ascend, the same for all messages of one run
   */
  appendMessages(messages: readonly AppendedCopy[], rangeStart: MessageId): Promise<readonly Ordinal[]>;
  /** Adds a range of older messages, or extends the one with the same first id. */
  noteRange(realmId: RealmId, range: MessageIdRange): Promise<void>;
  /** Stores the complete edit history of a message that has none yet; newest first. */
  putEdits(realmId: RealmId, messageId: MessageId, edits: readonly MessageEdit[]): Promise<void>;
  /**
   * Stores ordinals of a recipient that the user received and read; both ascend. Requires that the user has no open
   * span there, or one with exactly these ordinals.
   */
  putReceived(
    viewer: Viewer,
    recipientId: RecipientId,
    received: readonly OrdinalRange[],
    read: readonly OrdinalRange[],
  ): Promise<void>;
  /** Stores all flags except `read`, unless the message is historical for the user. */
  putFlags(realmId: RealmId, rows: readonly FlagsCopy[]): Promise<void>;
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    copies: [reads: CopyReads, repository: CopyRepository];
  }
  interface IdKindParts {
    realm: RealmId;
    user: UserId;
    group: GroupId;
    recipient: RecipientId;
    channel: ChannelId;
    customEmoji: CustomEmojiId;
    message: MessageId;
    file: FileId;
  }
}
