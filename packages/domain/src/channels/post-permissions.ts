import { type Actor, isGuest } from '../access/actor.js';
import type { PermissionHolder } from '../access/group-settings.js';
import type { ChannelId, GroupId } from '../kernel/ids.js';
import { all, allowed, type Decision, denied, denyIf } from '../kernel/permission.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { hasRealmPermission } from '../realms/realm-permissions.js';
import { mayAccessUser } from '../users/accessible-users.js';
import type { User } from '../users/user.js';
import { type Channel, EMPTY_TOPIC_DISPLAY_NAME, hasSharedHistory, isPrivate, isWebPublic } from './channel.js';
import { hasChannelPermission, hasContentPermission, hasMetadataAccess } from './channel-access.js';

/** Message to be sent to a channel. Bots also have their owner's rights. */
export interface Posting {
  readonly sender: Pick<Actor, 'role' | 'groups'>;
  /** Null for humans and for bots with a deactivated owner. */
  readonly botOwner: Pick<Actor, 'role' | 'groups'> | null;
  readonly channel: Pick<Channel, 'id' | 'name' | 'privacy' | 'permissions' | 'isArchived' | 'topicsPolicy'>;
  /** Channel name as typed by the sender; null if the channel was addressed by id. */
  readonly typedName: string | null;
  readonly isSubscribed: boolean;
  readonly isOwnerSubscribed: boolean;
  /** True for the realm's system bots, which may post in any channel. */
  readonly isSystemBot: boolean;
}

/** Implements channels §3.9 and messages §3.2 rows 9–12, in the order of the latter if they differ (rows 11 and 12). */
export function canPost(
  posting: Posting & {
    /** True if the topic, regardless of letter case, has messages. */
    readonly topicExists: boolean;
    readonly topic: string;
    readonly realm: Pick<Realm, 'settings'>;
  },
): Decision {
  if (posting.isSystemBot) return allowed;
  return all(
    canPostSomewhere(posting),
    posting.topicExists ? allowed : canCreateTopic(posting.sender, posting.botOwner, posting.channel),
    fitsTopicsPolicy(posting.realm, posting.channel, posting.topic),
  );
}

/**
 * Applies the rules without a specific topic, for example for the channel's email address (channels §3.9 rows 1–10).
 */
export function canPostSomewhere(posting: Posting): Decision {
  if (posting.isSystemBot) return allowed;
  const { channel, typedName } = posting;
  const isVisible = isChannelVisible(posting);
  // Users who cannot see the channel get its name only as they typed it (contract decision 20).
  if (!isVisible && typedName === null) return unknownChannelId(channel.id);
  return all(
    canSendTo(posting.sender, posting.botOwner, channel),
    denyIf(
      channel.isArchived || !mayEnter(posting),
      'CANNOT_POST_IN_CHANNEL',
      `Not authorized to send to channel '${isVisible ? channel.name : typedName}'`,
    ),
  );
}

/** Bots can list their owner's subscriptions (channels §4.1), so these channels are not hidden from them. */
const isChannelVisible = ({ sender, botOwner, channel, isSubscribed, isOwnerSubscribed }: Posting): boolean =>
  hasMetadataAccess(sender, channel, isSubscribed) || (botOwner !== null && isOwnerSubscribed);

/** Same rejection for missing and hidden channels (messages §3.2 row 8, contract decision 20). */
export const unknownChannelId = (id: ChannelId): Decision =>
  denied('UNKNOWN_DESTINATION', `Channel with ID '${id}' does not exist`, { channelId: id });

/** Checks the posting permission regardless of access (channels §3.9 row 2). */
export function canSendTo(
  sender: PermissionHolder,
  botOwner: PermissionHolder | null,
  channel: Pick<Channel, 'permissions'>,
): Decision {
  return denyIf(
    !eitherHas(sender, botOwner, channel, 'canSendMessage'),
    'CANNOT_POST_IN_CHANNEL',
    'You do not have permission to post in this channel.',
  );
}

/**
 * Requires a subscription or the right to subscribe (channels §3.9 rows 5–9). In channels with protected history, the
 * right alone is not sufficient.
 */
function mayEnter({ sender, channel, isSubscribed, isOwnerSubscribed, botOwner }: Posting): boolean {
  if (isWebPublic(channel) || isSubscribed) return true;
  if (botOwner !== null && isOwnerSubscribed) return true;
  if (isGuest(sender)) return false;
  return !isPrivate(channel) || (hasSharedHistory(channel) && hasContentPermission(sender, channel));
}

/** Applies only to topics without messages (channels §3.9 row 12). */
export function canCreateTopic(
  sender: PermissionHolder,
  botOwner: PermissionHolder | null,
  channel: Pick<Channel, 'permissions'>,
): Decision {
  return denyIf(
    !eitherHas(sender, botOwner, channel, 'canCreateTopic'),
    'CANNOT_CREATE_TOPIC',
    'You do not have permission to create new topics in this channel.',
  );
}

/** Applies the channel's topics policy or, if it has none, the organization's (channels §5.2). */
export function fitsTopicsPolicy(
  realm: Pick<Realm, 'settings'>,
  channel: Pick<Channel, 'topicsPolicy'>,
  topic: string,
): Decision {
  const policy = channel.topicsPolicy === 'inherit' ? realm.settings.topicsPolicy : channel.topicsPolicy;
  const details = { emptyTopicDisplayName: EMPTY_TOPIC_DISPLAY_NAME };
  return all(
    denyIf(
      policy === 'emptyTopicRefused' && topic === '',
      'TOPIC_REQUIRED',
      `Sending messages to the ${EMPTY_TOPIC_DISPLAY_NAME} is not allowed in this channel.`,
      details,
    ),
    denyIf(
      policy === 'emptyTopicOnly' && topic !== '',
      'EMPTY_TOPIC_REQUIRED',
      `Only the ${EMPTY_TOPIC_DISPLAY_NAME} topic is allowed in this channel.`,
      details,
    ),
  );
}

function eitherHas(
  sender: PermissionHolder,
  botOwner: PermissionHolder | null,
  channel: Pick<Channel, 'permissions'>,
  permission: 'canSendMessage' | 'canCreateTopic',
): boolean {
  return (
    hasChannelPermission(sender, channel, permission) ||
    (botOwner !== null && hasChannelPermission(botOwner, channel, permission))
  );
}

/** Recipient of a direct message. */
export interface DirectRecipient {
  readonly user: Pick<User, 'id' | 'isActive' | 'bot'>;
  /** Null for system bots and deactivated users, who have no permissions. */
  readonly actor: PermissionHolder | null;
  /** Publicly visible address of the recipient (`publicAddress`), quoted in the rejection. */
  readonly address: string;
  /** Loaded only if the sender is a guest with limited access to users; see `UserAccess.sharesConversation`. */
  readonly sharesConversation: boolean;
}

/** Implements messages §3.2 rows 13–15. The sender may be among the recipients. */
export function canSendDirect({
  sender,
  recipients,
  realm,
  nobodyGroupId,
  conversationExists,
}: {
  readonly sender: Actor;
  readonly recipients: readonly DirectRecipient[];
  readonly realm: Pick<Realm, 'permissions'>;
  /** Id of the system group without members. */
  readonly nobodyGroupId: GroupId;
  /**
   * True if the conversation has a message (messages §3.2). A conversation counts as new again once its last message is
   * gone.
   */
  readonly conversationExists: boolean;
}): Decision {
  const gone = recipients.find(({ user }) => !user.isActive);
  return all(
    denyIf(
      recipients.some(({ user, sharesConversation }) => !mayAccessUser(sender, user, { realm, sharesConversation })),
      'CANNOT_ACCESS_RECIPIENT',
      'You do not have permission to access some of the recipients.',
    ),
    gone === undefined ? allowed : denied('NAMED_USER_DEACTIVATED', `'${gone.address}' is no longer using Zulip.`),
    sender.isBot || recipients.every(({ user }) => user.bot !== null || user.id === sender.id)
      ? allowed
      : canConverse(sender, recipients, realm, nobodyGroupId, conversationExists),
  );
}

function canConverse(
  sender: Actor,
  recipients: readonly DirectRecipient[],
  realm: Pick<Realm, 'permissions'>,
  nobodyGroupId: GroupId,
  conversationExists: boolean,
): Decision {
  const somebodyAuthorizes = [sender, ...recipients.map(({ actor }) => actor)].some(
    (person) => person !== null && hasRealmPermission(person, realm, 'directMessagePermission'),
  );
  return all(
    denyIf(
      !somebodyAuthorizes && realm.permissions.directMessagePermission === nobodyGroupId,
      'DIRECT_MESSAGES_DISABLED',
      'Direct messages are disabled in this organization.',
    ),
    denyIf(
      !somebodyAuthorizes,
      'CONVERSATION_NOT_AUTHORIZED',
      'This conversation does not include any users who can authorize it.',
    ),
    denyIf(
      !conversationExists && !hasRealmPermission(sender, realm, 'directMessageInitiator'),
      'CANNOT_START_CONVERSATION',
      'You do not have permission to initiate direct message conversations.',
    ),
  );
}

/** Loads the input of the posting rules. `typedName`: null if the sender addressed the channel by id. */
export async function loadPosting(
  { actors, channels }: Pick<Repositories | Transaction, 'actors' | 'channels'>,
  actor: Actor,
  channel: Channel,
  typedName: string | null,
): Promise<Posting> {
  const { realmId, botOwnerId } = actor;
  const botOwner = botOwnerId === null ? null : ((await actors.list(realmId, [botOwnerId])).get(botOwnerId) ?? null);
  return {
    sender: actor,
    botOwner,
    channel,
    typedName,
    isSubscribed: await channels.isSubscribed(realmId, channel.id, actor.id),
    isOwnerSubscribed: botOwner !== null && (await channels.isSubscribed(realmId, channel.id, botOwner.id)),
    isSystemBot: false,
  };
}
