import type { Channel } from '../channels/channel.js';
import type { Subscription } from '../channels/subscriptions.js';
import type { CustomEmoji } from '../files/custom-emoji.js';
import type { StoredFile } from '../files/files.js';
import type { Group } from '../groups/group.js';
import type { IdKind, PersonCopy, PersonPart, RealmCopy, RealmPart } from '../kernel/export-parts.js';
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
import type { TopicLink } from '../markdown/markdown.js';
import type { StoredEntry } from '../membership/bot-storage.js';
import type { BotOptions } from '../membership/bots.js';
import type { Message, NewMessage, PersonalFlags, Submessage } from '../messages/message.js';
import type { MessageIdRange, Viewer } from '../messages/message-condition.js';
import type { MessageEdit } from '../messages/message-edit.js';
import type { Reaction } from '../messages/reactions.js';
import type { OrdinalRange } from '../messages/read-set.js';
import type { Realm, RealmImageName } from '../realms/realm.js';
import type { SystemBotKind, User } from '../users/user.js';
import type { ImportBatch, RecordOrigin } from './import-batches.js';

export type { IdKind, PersonCopy, RealmCopy } from '../kernel/export-parts.js';

declare module '../kernel/export-parts.js' {
  interface RealmCopy {
    readonly realm: Omit<Realm, 'isDeactivated' | 'isAtServerAddress' | 'linkifiers'>;
    /** Includes deactivated emoji. */
    readonly customEmoji: readonly EmojiCopy[];
    /** Includes anonymous groups. */
    readonly groups: readonly GroupCopy[];
    /** Includes system bots. */
    readonly users: readonly UserCopy[];
    readonly channels: readonly Channel[];
    readonly conversations: readonly ConversationCopy[];
  }
  interface PersonCopy {
    readonly subscriptions: readonly Subscription[];
    /** Set for bots. */
    readonly botStorage: readonly StoredEntry[];
  }
  interface IdKinds {
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

/** Export parts of all features, in the order of reading and importing. */
export interface ExportParts {
  readonly people: readonly PersonPart[];
  readonly realm: readonly RealmPart[];
}

export interface GroupCopy extends Group {
  readonly memberIds: readonly UserId[];
  readonly subgroupIds: readonly GroupId[];
}

export interface UserCopy {
  readonly user: User;
  readonly systemKind: SystemBotKind | null;
  /** Null for users who are not bots. */
  readonly botOptions: BotOptions | null;
}

export interface EmojiCopy extends Omit<CustomEmoji, 'realmId'> {
  /** File name at the end of the picture URL in texts. */
  readonly fileName: string;
}

/** Direct message conversation. */
export interface ConversationCopy {
  readonly recipientId: RecipientId;
  readonly userIds: readonly UserId[];
}

/** Message with all dependent data. */
export interface MessageCopy {
  readonly message: Omit<
    Message,
    'realmId' | 'sentRecipientId' | 'ordinal' | 'version' | 'hasReactions' | 'topicLinks'
  > & {
    /** Null if the export does not contain topic links. */
    readonly topicLinks: readonly TopicLink[] | null;
  };
  /** Participants of a direct message with a conversation missing in the realm copy. */
  readonly conversation?: readonly UserId[];
  /** Newest first. */
  readonly edits: readonly MessageEdit[];
  /** Oldest first, like the lists below. */
  readonly reactions: readonly Reaction[];
  readonly submessages: readonly Pick<Submessage, 'senderId' | 'kind' | 'content'>[];
  /** Users who have the message. */
  readonly holders: readonly HolderCopy[];
  /** True if all subscribers of the channel have the message, as read unless `holders` says otherwise. */
  readonly isForSubscribers?: boolean;
  /** Absent for sources that are not remembered. */
  readonly origin?: RecordOrigin;
  /**
   * Replaces notes about missing files in the text by links to these files in the former text. Absent if no file is
   * missing.
   */
  readonly keepFiles?: (content: string, former: string) => string;
  /** Records of the pinned messages that the message lists. */
  readonly pins?: readonly RecordOrigin[];
}

export interface HolderCopy {
  readonly userId: UserId;
  readonly flags: PersonalFlags;
}

export interface FileCopy {
  readonly file: Omit<StoredFile, 'blob' | 'realmId'> & { readonly id: FileId };
  readonly messageIds: readonly MessageId[];
  /** Null if the bytes are missing. */
  readonly content: AsyncIterable<Uint8Array> | null;
}

/** Maximum size of a picture to read; even the largest uploaded images yield smaller pictures. */
export const MAX_PICTURE_BYTES = 16 * 1024 ** 2;

/** Picture made from an uploaded image, or the image itself. */
export interface PictureCopy<Of> {
  readonly of: Of;
  /** Size of the content in bytes. */
  readonly size: number;
  /** Null if the bytes are missing. */
  readonly content: AsyncIterable<Uint8Array> | null;
}

/** Source of an organization's copy. Large parts are read in batches, in the order of this interface. */
export interface RealmSource {
  readonly realm: RealmCopy;
  people(): AsyncIterable<PersonCopy>;
  /** Ascending ids, in batches. */
  messages(): AsyncIterable<readonly MessageCopy[]>;
  /** Excludes files of messages that are not in the copy. */
  files(): AsyncIterable<FileCopy>;
  /** Yields still pictures, and animated ones if available. */
  emojiPictures(): AsyncIterable<PictureCopy<CustomEmojiId>>;
  /** Yields pictures of users with an uploaded avatar. */
  avatars(): AsyncIterable<PictureCopy<UserId>>;
  /** Uploaded icon and logos. */
  realmImages(): AsyncIterable<PictureCopy<RealmImageName>>;
}

/** Copy with messages and users that can be read twice, because an import reserves ids before it adds them. */
export interface ImportSource extends RealmSource {
  /** Returns a range that contains all message ids, possibly with gaps; null without messages. Cheap. */
  messageRange(): Promise<{ readonly first: MessageId; readonly last: MessageId } | null>;
  /** Returns all message ids, ascending, in batches. */
  messageIds(): AsyncIterable<readonly MessageId[]>;
  /** Absent for sources that are not remembered. */
  readonly origins?: ImportOrigins;
}

/** Copy of new objects for an organization that exists already. */
export interface MergeSource extends ImportSource {
  readonly origins: ImportOrigins;
  /** Existing objects that the new ones refer to. */
  readonly existing: {
    readonly users: readonly UserId[];
    readonly groups: readonly GroupId[];
    readonly channels: readonly ChannelId[];
    readonly recipients: readonly RecipientId[];
    readonly emoji: readonly CustomEmojiId[];
    readonly channelFolders: readonly number[];
    /** State of the source's earlier imports when the copy was made. */
    readonly batches: readonly ImportBatch[];
    /** Highest id of a message of an earlier import. */
    readonly lastMessageId: number;
  };
  /** Channels that become visible once they are complete, with their members. */
  readonly published: readonly (Pick<Channel, 'id' | 'recipientId' | 'privacy' | 'isArchived'> & {
    readonly members: readonly UserId[];
  })[];
  /** Channels of earlier imports with other members in the source now. */
  readonly memberChanges: readonly MembersCopy[];
  /** Groups of earlier imports with other members in the source now. */
  readonly groupChanges: readonly GroupMembersCopy[];
  /** True if `changed` or `deleted` are not empty. */
  readonly hasChanges: boolean;
  /** Messages of earlier imports that changed in the source, with their ids on this server, in batches. */
  changed(): AsyncIterable<readonly MessageCopy[]>;
  /** Records of messages that were deleted in the source, in batches. */
  deleted(): AsyncIterable<readonly string[]>;
  /** Returns the files of messages that were read from the copy. */
  filesOf(ids: readonly MessageId[]): AsyncIterable<FileCopy>;
}

/** Members of a channel that changed in the source since the last import. */
export interface MembersCopy {
  readonly channelId: ChannelId;
  readonly origin: RecordOrigin;
  readonly members: readonly UserId[];
  readonly joined: readonly UserId[];
  /** Former members whom an earlier import added. */
  readonly left: readonly UserId[];
  /** Former members who stay, because people added them in Parley. */
  readonly kept: readonly UserId[];
  /** True if the channel was public in the source. */
  readonly becomesPrivate: boolean;
}

/** Members of a group that changed in the source since the last import. */
export interface GroupMembersCopy extends Omit<MembersCopy, 'channelId' | 'becomesPrivate'> {
  readonly groupId: GroupId;
}

/** Object of a copy with the record that it comes from. */
export interface RecordTarget {
  readonly origin: RecordOrigin;
  /** Id in the copy. */
  readonly targetId: number;
}

/** Records that the objects of a copy come from. Messages contain theirs. */
export interface ImportOrigins {
  /** Name of the source in its records. */
  readonly source: string;
  /** People, groups, channels with their members, direct conversations and emoji. */
  list(): Iterable<RecordTarget>;
  /** Placeholders by user id in the copy, with the keys that claim them. */
  claims(): Iterable<{ readonly userId: UserId; readonly key: string }>;
  /** The whole export, which is remembered once everything is imported; null if it cannot be recognized again. */
  readonly export: RecordTarget | null;
}

/** Selects the private data in an export. */
export interface ExportScope {
  /** Users with private data to include; `all` includes every private channel and conversation. */
  readonly covers: 'all' | ReadonlySet<UserId>;
}

/** True if a channel is part of the export. */
export const isChannelCovered = (
  { privacy }: Pick<Channel, 'id' | 'privacy'>,
  { covers }: ExportScope,
  subscriberIds: readonly UserId[],
): boolean =>
  covers === 'all' ||
  privacy === 'public' ||
  privacy === 'webPublic' ||
  subscriberIds.some((userId) => covers.has(userId));

export const isPersonCovered = (userId: UserId, { covers }: ExportScope): boolean =>
  covers === 'all' || covers.has(userId);

/** Maximum id that an import keeps. Ids never decrease, so the whole server continues from the highest one. */
export const MAX_KEPT_ID = 1_000_000_000;

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
  /** Returns the highest id ever assigned; 0 if none. */
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

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    copies: [reads: CopyReads, repository: CopyRepository];
  }
}
