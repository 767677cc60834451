import type { Channel } from '../channels/channel.js';
import type { ChannelFolder } from '../channels/channel-folders.js';
import type { DefaultChannelGroup } from '../channels/default-channels.js';
import type { Subscription } from '../channels/subscriptions.js';
import type { TopicPolicy } from '../channels/topic-policies.js';
import type { CustomEmoji } from '../files/custom-emoji.js';
import type { StoredFile } from '../files/files.js';
import type { Group } from '../groups/group.js';
import type {
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
import type { Draft } from '../messages/drafts.js';
import type { MutedSender } from '../messages/flags.js';
import type { Message, NewMessage, PersonalFlags, Submessage } from '../messages/message.js';
import type { Viewer } from '../messages/message-condition.js';
import type { MessageEdit } from '../messages/message-edit.js';
import type { NavigationView } from '../messages/navigation-views.js';
import type { Reaction } from '../messages/reactions.js';
import type { OrdinalRange } from '../messages/read-set.js';
import type { Reminder } from '../messages/reminders.js';
import type { ScheduledMessage } from '../messages/scheduled-messages.js';
import type { Snippet } from '../messages/snippets.js';
import type { ListedDomain } from '../realms/allowed-domains.js';
import type { Linkifier } from '../realms/linkifiers.js';
import type { Playground } from '../realms/playgrounds.js';
import type { Realm, RealmImageName } from '../realms/realm.js';
import type { OnboardingStep } from '../users/onboarding.js';
import type { PresenceTimes } from '../users/presence.js';
import type { ProfileField, ProfileValue } from '../users/profiles.js';
import type { UserStatus } from '../users/statuses.js';
import type { SystemBotKind, User } from '../users/user.js';

/**
 * An organization as an export holds it: everything that is not a message, a file, a picture, or one person's own. Ids are those of the
 * server that it comes from. Lists ascend by id.
 */
export interface RealmCopy {
  readonly realm: Omit<Realm, 'isDeactivated' | 'isAtServerAddress' | 'linkifiers'>;
  /** In the order in which they are applied. */
  readonly linkifiers: readonly Linkifier[];
  readonly playgrounds: readonly Playground[];
  readonly allowedDomains: readonly ListedDomain[];
  /** Deactivated ones too. */
  readonly customEmoji: readonly EmojiCopy[];
  /** Anonymous ones too. */
  readonly groups: readonly GroupCopy[];
  /** The realm's own bots too. */
  readonly users: readonly UserCopy[];
  readonly profileFields: readonly ProfileField[];
  readonly channelFolders: readonly ChannelFolder[];
  readonly channels: readonly Channel[];
  readonly defaultChannelGroups: readonly DefaultChannelGroup[];
  readonly conversations: readonly ConversationCopy[];
}

export interface GroupCopy extends Group {
  readonly memberIds: readonly UserId[];
  readonly subgroupIds: readonly GroupId[];
}

export interface UserCopy {
  readonly user: User;
  readonly systemKind: SystemBotKind | null;
  /** Null: has none. */
  readonly botOptions: BotOptions | null;
}

export interface EmojiCopy extends Omit<CustomEmoji, 'realmId'> {
  /** As the address of its picture ends in texts. */
  readonly fileName: string;
}

/** A direct conversation. */
export interface ConversationCopy {
  readonly recipientId: RecipientId;
  readonly userIds: readonly UserId[];
}

/** What is one person's own. */
export interface PersonCopy {
  readonly userId: UserId;
  readonly subscriptions: readonly Subscription[];
  readonly topicPolicies: readonly TopicPolicy[];
  readonly profile: readonly ProfileValue[];
  readonly status: UserStatus | null;
  readonly presence: PresenceTimes | null;
  readonly alertWords: readonly string[];
  readonly drafts: readonly Draft[];
  readonly snippets: readonly Snippet[];
  readonly navigationViews: readonly NavigationView[];
  readonly onboardingSteps: readonly OnboardingStep[];
  readonly mutedUsers: readonly MutedSender[];
  readonly scheduledMessages: readonly ScheduledMessage[];
  readonly reminders: readonly Reminder[];
  /** Of a bot. */
  readonly botStorage: readonly StoredEntry[];
}

/** A message with everything that hangs on it. */
export interface MessageCopy {
  readonly message: Omit<
    Message,
    'realmId' | 'sentRecipientId' | 'ordinal' | 'version' | 'hasReactions' | 'topicLinks'
  > & {
    /** Null: what was exported does not say. */
    readonly topicLinks: readonly TopicLink[] | null;
  };
  /** Of a direct message whose conversation is not among those of the realm's copy. */
  readonly conversation?: readonly UserId[];
  /** Newest first. */
  readonly edits: readonly MessageEdit[];
  /** Oldest first, as the following. */
  readonly reactions: readonly Reaction[];
  readonly submessages: readonly Pick<Submessage, 'senderId' | 'kind' | 'content'>[];
  /** Those who have it as their own. */
  readonly holders: readonly HolderCopy[];
}

export interface HolderCopy {
  readonly userId: UserId;
  readonly flags: PersonalFlags;
}

export interface FileCopy {
  readonly file: Omit<StoredFile, 'blob' | 'realmId'> & { readonly id: FileId };
  readonly messageIds: readonly MessageId[];
  /** Null: the bytes are missing. */
  readonly content: AsyncIterable<Uint8Array> | null;
}

/** Longer ones are not read: pictures of the largest images that people may upload are shorter. */
export const MAX_PICTURE_BYTES = 16 * 1024 ** 2;

/** What the server made of an image that somebody uploaded, or the image itself. */
export interface PictureCopy<Of> {
  readonly of: Of;
  /** In bytes, of the content. */
  readonly size: number;
  /** Null: the bytes are missing. */
  readonly content: AsyncIterable<Uint8Array> | null;
}

/** Where a copy of an organization comes from. What may be long is read a part at a time, in the order of this interface. */
export interface RealmSource {
  readonly realm: RealmCopy;
  people(): AsyncIterable<PersonCopy>;
  /** Ascending id, a few at a time. */
  messages(): AsyncIterable<readonly MessageCopy[]>;
  /** Without those whose messages are not among the messages. */
  files(): AsyncIterable<FileCopy>;
  /** As they move, where they do. */
  emojiPictures(): AsyncIterable<PictureCopy<CustomEmojiId>>;
  /** Of those whose avatar is uploaded. */
  avatars(): AsyncIterable<PictureCopy<UserId>>;
  /** Of those that were uploaded. */
  realmImages(): AsyncIterable<PictureCopy<RealmImageName>>;
}

/** A copy that is read once more: an import decides about ids before it begins. */
export interface ImportSource extends RealmSource {
  /** All ids of messages are among these, of which a few may be of none; null: there are no messages. Costs little. */
  messageRange(): Promise<{ readonly first: MessageId; readonly last: MessageId } | null>;
  /** Of all messages, ascending, a few at a time. */
  messageIds(): AsyncIterable<readonly MessageId[]>;
}

/** What an export holds of private things. */
export interface ExportScope {
  /** Whose private data is in it. `all`: everybody's, and every private channel and conversation. */
  readonly covers: 'all' | ReadonlySet<UserId>;
}

/** Which channels are in an export. */
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
