import { type Actor, isAdministrator, isGuest, mustBeAdministrator } from '../access/actor.js';
import type { PermissionHolder } from '../access/group-settings.js';
import { isAtLeast } from '../access/roles.js';
import { type Channel, cutTopic, hasSharedHistory, isWebPublic, RESOLVED_PREFIX } from '../channels/channel.js';
import {
  type ChannelRights,
  canReadActive,
  canSpectate,
  hasChannelPermission,
  hasContentAccess,
  isChannelAdministrator,
  type SpectatorAccess,
  unknownChannel,
} from '../channels/channel-access.js';
import { canCreateTopic, canSendTo } from '../channels/post-permissions.js';
import type { Group } from '../groups/group.js';
import { canMentionGroup } from '../groups/group-permissions.js';
import type { MessageId, UnixSeconds, UserId } from '../kernel/ids.js';
import { all, allowed, type Decision, denied, denyIf } from '../kernel/permission.js';
import type { Realm } from '../realms/realm.js';
import { hasRealmPermission } from '../realms/realm-permissions.js';
import type { Message } from './message.js';

/** The same text for messages that do not exist (messages §1.4). */
const unknownMessage: Decision = denied('UNKNOWN_MESSAGE', 'Invalid message(s)');

/** A message with what access to it hangs on. */
export interface MessageAccess {
  readonly message: Pick<Message, 'channelId'>;
  /** Where it is now; null for direct messages. */
  readonly channel: (ChannelRights & Pick<Channel, 'isArchived'>) | null;
  readonly isSubscribed: boolean;
  /** They have received it, or made it their own. */
  readonly isOwn: boolean;
}

/** Messages §1.4. `modifying`: edits, deletions, reactions; in archived channels there are none. */
export function canReadMessage(actor: PermissionHolder, access: MessageAccess, { modifying = false } = {}): Decision {
  const { message, channel, isSubscribed, isOwn } = access;
  if (message.channelId === null) return isOwn ? allowed : unknownMessage;
  if (channel === null || (modifying && channel.isArchived)) return unknownMessage;
  return mayReadIn(actor, channel, isSubscribed, isOwn) ? allowed : unknownMessage;
}

/** Whether `isOwn` makes any difference to `canReadMessage`. */
export const dependsOnOwnership = ({ channel }: Pick<MessageAccess, 'channel'>): boolean =>
  channel === null || !hasSharedHistory(channel);

function mayReadIn(actor: PermissionHolder, channel: ChannelRights, isSubscribed: boolean, isOwn: boolean): boolean {
  // Sic: by its id a guest reaches a message of a web-public channel only while subscribed; narrows show them all.
  if (isGuest(actor) && !isSubscribed) return false;
  return hasContentAccess(actor, channel, isSubscribed) && (hasSharedHistory(channel) || isOwn);
}

/** How a message came to be what it is: where the organization shows it, to those who may read the message (messages §10). */
export function canReadEditHistory(
  actor: PermissionHolder,
  realm: Pick<Realm, 'settings'>,
  /** Null: there is no such message. */
  access: MessageAccess | null,
): Decision {
  return all(
    denyIf(
      realm.settings.messageEditHistoryVisibilityPolicy === 'none',
      'EDIT_HISTORY_DISABLED',
      'Message edit history is disabled in this organization',
    ),
    access === null ? unknownMessage : canReadMessage(actor, access),
  );
}

/** Without logging in: what is in web-public channels, where there are any to read (protocol §9, messages §1.4). */
export function canSpectateMessage(
  realm: Pick<Realm, 'settings'>,
  /** Where the message is; null: it is direct, or there is none. */
  channel: Pick<Channel, 'privacy'> | null,
  spectators: SpectatorAccess,
): Decision {
  return all(canSpectate(realm, spectators), channel !== null && isWebPublic(channel) ? allowed : unknownMessage);
}

/** Without logging in: a file that a message of a web-public channel links to (messages §16.2, protocol §9). */
export function canSpectateFile(
  realm: Pick<Realm, 'settings'>,
  /** Where the messages are that link to it; null for direct ones. */
  linkedIn: readonly (Pick<Channel, 'privacy'> | null)[],
  spectators: SpectatorAccess,
): Decision {
  return all(
    canSpectate(realm, spectators),
    denyIf(
      !linkedIn.some((channel) => channel !== null && isWebPublic(channel)),
      'CANNOT_VIEW_FILE',
      'You are not authorized to view this file.',
    ),
  );
}

/** Clients and servers disagree a little about the time; deleting alone gives no such grace (messages §9, §11). */
const GRACE_SECONDS = 20;

const isTooOld = (sentAt: UnixSeconds, limitSeconds: number | null, now: UnixSeconds): boolean =>
  limitSeconds !== null && now - sentAt > limitSeconds;

/** Moderators and above may move what is old (channels §3.8). */
function isTooOldToMove(
  actor: PermissionHolder,
  sentAt: UnixSeconds,
  limitSeconds: number | null,
  now: UnixSeconds,
): boolean {
  return (
    !isAtLeast(actor.role, 'moderator') && limitSeconds !== null && isTooOld(sentAt, limitSeconds + GRACE_SECONDS, now)
  );
}

/** Its text, and by its sender alone: neither administrators nor a bot's owner may (messages §9.1 rows 2–4). */
export function canEditContent(
  actor: Pick<Actor, 'id'>,
  realm: Pick<Realm, 'settings'>,
  message: Pick<Message, 'senderId' | 'sentAt'>,
  now: UnixSeconds,
): Decision {
  const limit = realm.settings.messageContentEditLimitSeconds;
  return all(
    denyIf(
      !realm.settings.allowMessageEditing,
      'MESSAGE_EDITING_DISABLED',
      'Your organization has turned off message editing',
    ),
    denyIf(message.senderId !== actor.id, 'CANNOT_EDIT_MESSAGE', "You don't have permission to edit this message"),
    denyIf(
      limit !== null && isTooOld(message.sentAt, limit + GRACE_SECONDS, now),
      'EDIT_TIME_LIMIT_EXCEEDED',
      'The time limit for editing this message has passed',
    ),
  );
}

/**
 * Whether a new topic name does nothing but mark the topic resolved or unresolved (messages §2.5, §9.2). Anything more is a
 * change of topic like any other. `from`: as stored; `to`: as asked for, or as it is stored once the prefix has made it too
 * long.
 */
export function resolveToggle(from: string, to: string): 'resolve' | 'unresolve' | null {
  const wasResolved = from.startsWith(RESOLVED_PREFIX);
  const isResolved = to.startsWith(RESOLVED_PREFIX);
  if (!wasResolved && isResolved) return cutTopic(to) === cutTopic(RESOLVED_PREFIX + from) ? 'resolve' : null;
  if (!wasResolved || isResolved) return null;
  // One prefix, or all that has gathered there (channels §5.7).
  const isBare = to === from.slice(RESOLVED_PREFIX.length) || to === from.replace(/^[\u2714 ]+/u, '');
  return isBare ? 'unresolve' : null;
}

/** Whether a new topic name marks the topic, whatever else it changes of it (messages §9.6). Both as stored. */
export function topicMark(from: string, to: string): 'resolve' | 'unresolve' | null {
  const isResolved = to.startsWith(RESOLVED_PREFIX);
  if (isResolved === from.startsWith(RESOLVED_PREFIX)) return null;
  return isResolved ? 'resolve' : 'unresolve';
}

/** Administrators have no right of their own here (messages §9.2). `target`: null unless the channel changes too. */
export function canResolveTopic(
  actor: PermissionHolder,
  realm: Pick<Realm, 'permissions'>,
  source: Pick<Channel, 'permissions'>,
  target: Pick<Channel, 'permissions'> | null = null,
): Decision {
  return denyIf(
    !hasRealmPermission(actor, realm, 'canResolveTopics') &&
      !eitherChannel(source, target, (channel) => hasChannelPermission(actor, channel, 'canResolveTopics')),
    'CANNOT_RESOLVE_TOPICS',
    "You don't have permission to resolve topics in this channel.",
  );
}

/** To another topic, be it resolving or not (messages §9.1 row 16). `target`: null unless the channel changes too. */
export function canChangeTopic(
  actor: PermissionHolder,
  realm: Pick<Realm, 'permissions' | 'settings'>,
  change: {
    readonly message: Pick<Message, 'topic' | 'sentAt'>;
    /** As asked for or as stored: `resolveToggle` takes both. */
    readonly topic: string;
    readonly source: Pick<Channel, 'permissions'>;
    readonly target: Pick<Channel, 'permissions'> | null;
  },
  now: UnixSeconds,
): Decision {
  const { message, topic, source, target } = change;
  if (resolveToggle(message.topic, topic) !== null) return canResolveTopic(actor, realm, source, target);
  return all(
    denyIf(
      !hasRealmPermission(actor, realm, 'canMoveMessagesBetweenTopics') &&
        !isAdministrator(actor) &&
        !eitherChannel(
          source,
          target,
          (channel) =>
            isChannelAdministrator(actor, channel) ||
            hasChannelPermission(actor, channel, 'canMoveMessagesWithinChannel'),
        ),
      'CANNOT_EDIT_MESSAGE',
      "You don't have permission to edit this message",
    ),
    denyIf(
      isTooOldToMove(actor, message.sentAt, realm.settings.moveMessagesWithinChannelLimitSeconds, now),
      'TOPIC_EDIT_TIME_LIMIT_EXCEEDED',
      "The time limit for editing this message's topic has passed.",
    ),
  );
}

/** Where messages are moved to: found like a channel to read, and in use (messages §9.1 row 14). */
export const canMoveInto = canReadActive;

/** To another channel, which `canMoveInto` has let pass (messages §9.1 row 18). */
export function canChangeChannelOf(
  actor: PermissionHolder,
  botOwner: PermissionHolder | null,
  realm: Pick<Realm, 'permissions' | 'settings'>,
  change: {
    readonly message: Pick<Message, 'sentAt'>;
    readonly source: Pick<Channel, 'permissions'>;
    readonly target: Pick<Channel, 'permissions'>;
  },
  now: UnixSeconds,
): Decision {
  const { message, source, target } = change;
  return all(
    denyIf(
      !isAdministrator(actor) &&
        !hasRealmPermission(actor, realm, 'canMoveMessagesBetweenChannels') &&
        !isChannelAdministrator(actor, source) &&
        !hasChannelPermission(actor, source, 'canMoveMessagesOutOfChannel'),
      'CANNOT_MOVE_MESSAGE',
      "You don't have permission to move this message",
    ),
    canSendTo(actor, botOwner, target),
    denyIf(
      isTooOldToMove(actor, message.sentAt, realm.settings.moveMessagesBetweenChannelsLimitSeconds, now),
      'CHANNEL_EDIT_TIME_LIMIT_EXCEEDED',
      "The time limit for editing this message's channel has passed",
    ),
  );
}

/**
 * A whole topic: all of what the actor sees of it has to be young enough (messages §9.2). `messages` ascend. Resolving is no
 * move. `isOtherTopic`, `isOtherChannel`: what the move changes; the stricter limit of these counts.
 */
export function canMoveWholeTopic(
  actor: PermissionHolder,
  realm: Pick<Realm, 'settings'>,
  move: {
    readonly messages: readonly Pick<Message, 'id' | 'sentAt'>[];
    readonly isOtherTopic: boolean;
    readonly isOtherChannel: boolean;
  },
  now: UnixSeconds,
): Decision {
  const { moveMessagesWithinChannelLimitSeconds, moveMessagesBetweenChannelsLimitSeconds } = realm.settings;
  const limits = [
    move.isOtherTopic ? moveMessagesWithinChannelLimitSeconds : null,
    move.isOtherChannel ? moveMessagesBetweenChannelsLimitSeconds : null,
  ].filter((limit) => limit !== null);
  const limit = Math.min(...limits); // without any: infinite
  const movable = move.messages.filter(({ sentAt }) => !isTooOldToMove(actor, sentAt, limit, now));
  const firstMessageIdAllowedToMove: MessageId | null = movable[0]?.id ?? null;
  return denyIf(
    movable.length < move.messages.length,
    'MOVE_TIME_LIMIT_EXCEEDED',
    `You only have permission to move the ${movable.length}/${move.messages.length} most recent messages in this topic.`,
    {
      firstMessageIdAllowedToMove,
      totalMessagesInTopic: move.messages.length,
      totalMessagesAllowedToMove: movable.length,
    },
  );
}

/** Into a topic without messages; resolving opens none (messages §9.1 row 20). */
export const canOpenTopicByMoving = canCreateTopic;

/** Of a message that the actor may read for modifying (messages §11 rows 2–6). */
export function canDeleteMessage(
  actor: Pick<Actor, 'id' | 'role' | 'groups'>,
  realm: Pick<Realm, 'permissions' | 'settings'>,
  {
    message,
    senderOwnerId,
    channel,
  }: {
    readonly message: Pick<Message, 'senderId' | 'sentAt'>;
    /** Whose bot the sender is. */
    readonly senderOwnerId: UserId | null;
    /** Null for direct messages. */
    readonly channel: Pick<Channel, 'permissions'> | null;
  },
  now: UnixSeconds,
): Decision {
  const has = (permission: 'canDeleteAnyMessage' | 'canDeleteOwnMessage'): boolean =>
    hasRealmPermission(actor, realm, permission) ||
    (channel !== null && hasChannelPermission(actor, channel, permission));
  if (has('canDeleteAnyMessage')) return allowed;
  const isOwn = message.senderId === actor.id || senderOwnerId === actor.id;
  return all(
    denyIf(
      !isOwn || !has('canDeleteOwnMessage'),
      'CANNOT_DELETE_MESSAGE',
      "You don't have permission to delete this message",
    ),
    denyIf(
      isTooOld(message.sentAt, realm.settings.messageContentDeleteLimitSeconds, now),
      'DELETE_TIME_LIMIT_EXCEEDED',
      'The time limit for deleting this message has passed',
    ),
  );
}

/** Of the topic, those messages that the actor may read (channels §5.6). */
export function canDeleteTopic(
  actor: PermissionHolder,
  /** Null: there is none. */
  channel: (ChannelRights & Pick<Channel, 'isArchived'>) | null,
  isSubscribed: boolean,
): Decision {
  return all(
    mustBeAdministrator(actor),
    channel === null ? unknownChannel : canReadActive(actor, channel, isSubscribed),
  );
}

const eitherChannel = (
  source: Pick<Channel, 'permissions'>,
  target: Pick<Channel, 'permissions'> | null,
  is: (channel: Pick<Channel, 'permissions'>) => boolean,
): boolean => is(source) || (target !== null && is(target));

/** With more people than that a wildcard needs a permission (messages §3.2 rows 18–19). */
export const MANY = 15;

/** What a message mentions aloud. */
export interface Mentions {
  /** How many subscribers a channel wildcard reaches; 0 where there is none, or the message is direct. */
  readonly channelSubscribers: number;
  /** How many took part in the topic, the sender included, that a topic wildcard reaches; 0: as above. */
  readonly topicParticipants: number;
  readonly groups: readonly Pick<Group, 'name' | 'permissions'>[];
}

/** Of a message sent, and of one whose text is changed: messages §3.2 rows 18–20, §9.1 row 17. */
export function canMention(
  sender: PermissionHolder,
  realm: Pick<Realm, 'permissions'>,
  { channelSubscribers, topicParticipants, groups }: Mentions,
): Decision {
  return all(
    channelSubscribers > MANY ? canMentionMany(sender, realm, 'channel') : allowed,
    topicParticipants > MANY ? canMentionMany(sender, realm, 'topic') : allowed,
    ...groups.map((group) => canMentionGroup(sender, group)),
  );
}

/** Asked only where a wildcard reaches many (messages §3.2 rows 18–19). */
export function canMentionMany(
  actor: PermissionHolder,
  realm: Pick<Realm, 'permissions'>,
  whom: 'channel' | 'topic',
): Decision {
  return denyIf(
    !hasRealmPermission(actor, realm, 'canMentionManyUsers'),
    whom === 'channel' ? 'CHANNEL_WILDCARD_NOT_ALLOWED' : 'TOPIC_WILDCARD_NOT_ALLOWED',
    `You do not have permission to use ${whom} wildcard mentions in this ${whom}.`,
  );
}
