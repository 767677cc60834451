import type { MessageId, Ordinal, RealmId, RecipientId, UserId } from '../kernel/ids.js';
import type { NewMessage, PersonalFlags } from '../messages/message.js';
import type { MessageEdit } from '../messages/message-edit.js';
import type { Viewer } from '../messages/message-page-reads.js';
import type { OrdinalRange } from '../messages/read-set.js';

/** What has an id that clients know. */
export type IdKind =
  | 'realm'
  | 'user'
  | 'group'
  | 'recipient'
  | 'channel'
  | 'channelFolder'
  | 'defaultChannelGroup'
  | 'profileField'
  | 'linkifier'
  | 'playground'
  | 'allowedDomain'
  | 'customEmoji'
  | 'message'
  | 'draft'
  | 'snippet'
  | 'scheduled'
  | 'file';

/** Larger ones are not kept: ids ascend for ever, and the whole server counts on from there. */
export const MAX_KEPT_ID = 1_000_000_000;

export interface CopyReads {
  /**
   * The realm's messages among the next `limit` of the server with an id above `after`; ascending. `reached`: where to go on;
   * null: there are no more.
   */
  listMessageIds(
    realmId: RealmId,
    after: number,
    limit: number,
  ): Promise<{ readonly ids: readonly MessageId[]; readonly reached: MessageId | null }>;
  /** Whatever the user received messages of, whether or not they still do; ascending. */
  listReceivedRecipients(viewer: Viewer): Promise<readonly RecipientId[]>;
  /** How many messages were ever sent to these recipients together. */
  countSentTo(realmId: RealmId, recipientIds: readonly RecipientId[]): Promise<number>;
  /** Who has flagged each of these messages, is named in it, or has it though they did not receive it; others are absent. */
  listFlagging(realmId: RealmId, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, readonly UserId[]>>;
}

/** A message that is something special to somebody. */
export interface FlagsCopy {
  readonly userId: UserId;
  readonly messageId: MessageId;
  readonly flags: PersonalFlags;
}

/** A message as it is appended. */
export type AppendedCopy = Omit<NewMessage, 'readBy' | 'exceptions'> & { readonly id: MessageId };

/** What nothing but copying an organization needs. Every implementation passes copy-repository.contract.ts. */
export interface CopyRepository extends CopyReads {
  /** The highest that was ever given; 0: none. */
  lastId(kind: IdKind): Promise<number>;
  /** The next id of the kind is `least` or higher. Without effect where it would be anyway. */
  raiseIds(kind: IdKind, least: number): Promise<void>;
  /**
   * Messages of one realm that are nothing special to anybody, under ids that were kept for it by `raiseIds`; in order, after those
   * before them. However long ago they were sent, others' messages are found by time as before. Answers the ordinal of each.
   */
  appendMessages(messages: readonly AppendedCopy[]): Promise<readonly Ordinal[]>;
  /** The whole history of a message that has none yet; newest first. */
  putEdits(realmId: RealmId, messageId: MessageId, edits: readonly MessageEdit[]): Promise<void>;
  /**
   * What the user received of a recipient, and of that has read, by ordinals; both ascend. They have no open span of it yet, or
   * one of all these ordinals.
   */
  putReceived(
    viewer: Viewer,
    recipientId: RecipientId,
    received: readonly OrdinalRange[],
    read: readonly OrdinalRange[],
  ): Promise<void>;
  /** All flags but `read`, unless the message is historical to the user. */
  putFlags(realmId: RealmId, rows: readonly FlagsCopy[]): Promise<void>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    copies: [reads: CopyReads, repository: CopyRepository];
  }
}
