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

/** Same error as for nonexistent messages (messages §1.4). */
const unknownMessage: Decision = denied('UNKNOWN_MESSAGE', 'Invalid message(s)');

/** Message data that determines access. */
export interface MessageAccess {
  readonly message: Pick<Message, 'channelId'>;
  /** Current channel; null for direct messages. */
  readonly channel: (ChannelRights & Pick<Channel, 'isArchived'>) | null;
  readonly isSubscribed: boolean;
  /** True if the actor received the message or made it their own. */
  readonly isOwn: boolean;
}

/** Checks read access (messages §1.4). `modifying`: edits, deletions and reactions, which archived channels reject. */
export function canReadMessage(actor: PermissionHolder, access: MessageAccess, { modifying = false } = {}): Decision {
  const { message, channel, isSubscribed, isOwn } = access;
  if (message.channelId === null) return isOwn ? allowed : unknownMessage;
  if (channel === null || (modifying && channel.isArchived)) return unknownMessage;
  return mayReadIn(actor, channel, isSubscribed, isOwn) ? allowed : unknownMessage;
}

/** True if the result of `canReadMessage` depends on `isOwn`. */
export const dependsOnOwnership = ({ channel }: Pick<MessageAccess, 'channel'>): boolean =>
  channel === null || !hasSharedHistory(channel);

function mayReadIn(actor: PermissionHolder, channel: ChannelRights, isSubscribed: boolean, isOwn: boolean): boolean {
  // Deliberate: as in the reference server, guests can read a web-public message by id only while subscribed; narrows
  // show all of them.
  if (isGuest(actor) && !isSubscribed) return false;
  return hasContentAccess(actor, channel, isSubscribed) && (hasSharedHistory(channel) || isOwn);
}

/** Requires that the actor can read the message and the realm shows edit history (messages §10). */
export function canReadEditHistory(
  actor: PermissionHolder,
  realm: Pick<Realm, 'settings'>,
  /** Null for an unknown message. */
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

/**
 * Allows anonymous callers to read messages of web-public channels if spectator access is enabled (protocol §9,
 * messages §1.4).
 */
export function canSpectateMessage(
  realm: Pick<Realm, 'settings'>,
  /** Current channel; null for direct or unknown messages. */
  channel: Pick<Channel, 'privacy'> | null,
  spectators: SpectatorAccess,
): Decision {
  return all(canSpectate(realm, spectators), channel !== null && isWebPublic(channel) ? allowed : unknownMessage);
}

/** Allows anonymous callers to read a file linked from a web-public message (messages §16.2, protocol §9). */
export function canSpectateFile(
  realm: Pick<Realm, 'settings'>,
  /** Channels of the linking messages; null for direct messages. */
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

/** Grace period for clock differences between clients and server. Deletion has none (messages §9, §11). */
const GRACE_SECONDS = 20;

const isTooOld = (sentAt: UnixSeconds, limitSeconds: number | null, now: UnixSeconds): boolean =>
  limitSeconds !== null && now - sentAt > limitSeconds;

/** Moderators and higher roles have no time limit for moves (channels §3.8). */
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

/** Allows only the sender to edit, not even administrators or bot owners (messages §9.1 rows 2–4). */
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
 * Returns the toggle if the new topic only adds or removes the resolved mark; other changes are ordinary topic changes
 * (messages §2.5, §9.2). `from` is as stored. `to` is as requested, or as stored if the prefix made it too long.
 */
export function resolveToggle(from: string, to: string): 'resolve' | 'unresolve' | null {
  const wasResolved = from.startsWith(RESOLVED_PREFIX);
  const isResolved = to.startsWith(RESOLVED_PREFIX);
  if (!wasResolved && isResolved) return cutTopic(to) === cutTopic(RESOLVED_PREFIX + from) ? 'resolve' : null;
  if (!wasResolved || isResolved) return null;
  // True if one prefix or all accumulated prefixes are removed (channels §5.7).
  const isBare = to === from.slice(RESOLVED_PREFIX.length) || to === from.replace(/^[\u2714 ]+/u, '');
  return isBare ? 'unresolve' : null;
}

/** Returns the change of the resolved mark, regardless of other changes (messages §9.6). Both names are as stored. */
export function topicMark(from: string, to: string): 'resolve' | 'unresolve' | null {
  const isResolved = to.startsWith(RESOLVED_PREFIX);
  if (isResolved === from.startsWith(RESOLVED_PREFIX)) return null;
  return isResolved ? 'resolve' : 'unresolve';
}

/**
 * Checks permission to resolve; administrators have no implicit permission (messages §9.2). `target` is null unless the
 * channel also changes.
 */
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

/**
 * Checks permission to change the topic, including resolving (messages §9.1 row 16). `target` is null unless the
 * channel also changes.
 */
export function canChangeTopic(
  actor: PermissionHolder,
  realm: Pick<Realm, 'permissions' | 'settings'>,
  change: {
    readonly message: Pick<Message, 'topic' | 'sentAt'>;
    /** Topic as requested or as stored; `resolveToggle` accepts both. */
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

/** Requires a readable, active target channel (messages §9.1 row 14). */
export const canMoveInto = canReadActive;

/** Checks a move to another channel, after `canMoveInto` allowed it (messages §9.1 row 18). */
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
 * Requires all visible messages of the topic to be recent enough (messages §9.2). Expects `messages` in ascending
 * order. If both `isOtherTopic` and `isOtherChannel` are set, the stricter limit applies. Resolving is not a move.
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
  const limit = Math.min(...limits); // Infinity without limits.
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

/** Checks moves into a topic without messages; resolving never creates a topic (messages §9.1 row 20). */
export const canOpenTopicByMoving = canCreateTopic;

/** Checks deletion of a message that the actor can read and modify (messages §11 rows 2–6). */
export function canDeleteMessage(
  actor: Pick<Actor, 'id' | 'role' | 'groups'>,
  realm: Pick<Realm, 'permissions' | 'settings'>,
  {
    message,
    senderOwnerId,
    channel,
  }: {
    readonly message: Pick<Message, 'senderId' | 'sentAt'>;
    /** Owner of the sending bot. */
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

/** Checks deletion of those messages of a topic that the actor can read (channels §5.6). */
export function canDeleteTopic(
  actor: PermissionHolder,
  /** Null for a nonexistent channel. */
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

/** Maximum number of users that a wildcard may reach without a permission (messages §3.2 rows 18–19). */
export const MANY = 15;

/** Non-silent mentions of a message. */
export interface Mentions {
  /** Number of subscribers that a channel wildcard reaches; 0 without a wildcard or in direct messages. */
  readonly channelSubscribers: number;
  /**
   * Number of topic participants, including the sender, that a topic wildcard reaches; 0 without a wildcard or in
   * direct messages.
   */
  readonly topicParticipants: number;
  readonly groups: readonly Pick<Group, 'name' | 'permissions'>[];
}

/** Checks mentions in sent and edited messages (messages §3.2 rows 18–20, §9.1 row 17). */
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

/** Checks the permission for a wildcard that reaches many users (messages §3.2 rows 18–19). */
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
