import type { Channel } from '../channels/channel.js';
import type { ChannelFolder } from '../channels/channel-folder.js';
import type { DefaultChannelGroup } from '../channels/default-channel-group.js';
import type { Subscription } from '../channels/subscription.js';
import type { TopicPolicy } from '../channels/topic-policy.js';
import type { CustomEmoji } from '../files/custom-emoji.js';
import type { StoredFile } from '../files/file.js';
import type { Group } from '../groups/group.js';
import type { CustomEmojiId, FileId, GroupId, MessageId, RecipientId, UserId } from '../kernel/ids.js';
import type { TopicLink } from '../markdown/markdown.js';
import type { BotOptions } from '../membership/bot-options.js';
import type { StoredEntry } from '../membership/bot-storage.js';
import type { Draft } from '../messages/draft.js';
import type { Message, PersonalFlags } from '../messages/message.js';
import type { MessageEdit } from '../messages/message-edit.js';
import type { Submessage } from '../messages/message-view.js';
import type { NavigationView } from '../messages/navigation-view.js';
import type { MutedSender } from '../messages/personal-messages.js';
import type { Reaction } from '../messages/reaction.js';
import type { Reminder } from '../messages/reminder.js';
import type { ScheduledMessage } from '../messages/scheduled-message.js';
import type { Snippet } from '../messages/snippet.js';
import type { ListedDomain } from '../realms/allowed-domains/allowed-domain.js';
import type { Linkifier } from '../realms/linkifiers/linkifier.js';
import type { Playground } from '../realms/playgrounds/playground.js';
import type { Realm } from '../realms/realm.js';
import type { RealmImageName } from '../realms/realm-images.js';
import type { OnboardingStep } from '../users/onboarding-steps.js';
import type { PresenceTimes } from '../users/presence.js';
import type { ProfileField } from '../users/profile-field.js';
import type { ProfileValue } from '../users/profile-value.js';
import type { SystemBotKind, User } from '../users/user.js';
import type { UserStatus } from '../users/user-status.js';

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
