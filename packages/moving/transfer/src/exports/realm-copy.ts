import type { Channel, Subscription } from '@parley/domain/channels';
import type { ImportBatch, RecordOrigin } from '@parley/domain/exports';
import type { CustomEmoji, StoredFile } from '@parley/domain/files';
import type { Group } from '@parley/domain/groups';
import type {
  ChannelId,
  CustomEmojiId,
  FileId,
  GroupId,
  HostData,
  MessageId,
  PersonCopy,
  RealmCopy,
  RecipientId,
  UserId,
} from '@parley/domain/kernel';
import type { TopicLink } from '@parley/domain/markdown';
import type { BotOptions, StoredEntry } from '@parley/domain/membership';
import type { Message, MessageEdit, PersonalFlags, Submessage } from '@parley/domain/messages';
import type { Realm, RealmImageName } from '@parley/domain/realms';
import type { SystemBotKind, User } from '@parley/domain/users';
import type { Reaction } from '@parley/domain/writing';

declare module '@parley/domain/kernel' {
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
    'realmId' | 'sentRecipientId' | 'ordinal' | 'version' | 'hasReactions' | 'hasData' | 'topicLinks'
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
  /** Absent if there is none. */
  readonly hostData?: HostData;
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
  readonly file: Omit<StoredFile, 'blob' | 'realmId' | 'seed'> & { readonly id: FileId };
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
  /** Settings that the organization lacks, because Parley does not have them or their values. */
  readonly dropped?: readonly string[];
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
