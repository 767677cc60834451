import type { ChannelId, MessageId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';

/** A message that was deleted, and can be put back for some time. */
export interface ArchivedMessage {
  readonly id: MessageId;
  /** Null: direct. */
  readonly channelId: ChannelId | null;
  readonly deletedAt: UnixSeconds;
  /** Null: its time was over. */
  readonly deletedBy: UserId | null;
}

/** Which of a realm's deleted messages are meant; all that is not null holds together. */
export interface ArchiveSelection {
  readonly messageId: MessageId | null;
  readonly channelId: ChannelId | null;
  readonly topicKey: string | null;
  /** Deleted then or later. */
  readonly since: UnixSeconds | null;
}

export interface MessageArchiveReads {
  /** The oldest `limit` with an id above `after`; ascending id. */
  list(
    realmId: RealmId,
    selection: ArchiveSelection,
    after: number,
    limit: number,
  ): Promise<readonly ArchivedMessage[]>;
}

/** What is left of deleted messages for a while. Every implementation passes message-archive.contract.ts. */
export interface MessageArchive extends MessageArchiveReads {
  /** Copies messages with everything that hangs on them, before they are removed. Unknown ids are left out. */
  keep(
    realmId: RealmId,
    ids: readonly MessageId[],
    deletion: Pick<ArchivedMessage, 'deletedAt' | 'deletedBy'>,
  ): Promise<void>;
  /**
   * Puts messages back as they were, with everybody's flags, in a new version. Returns those that were kept; ascending id. What
   * was unread may have become read meanwhile.
   */
  restore(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]>;
  /** Forgets what was deleted before then, in whatever realm; at most `limit` messages. Returns how many. */
  purge(before: UnixSeconds, limit: number): Promise<number>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    archive: [reads: MessageArchiveReads, repository: MessageArchive];
  }
}
