import {
  type Actor,
  insufficientUnless,
  isAdministrator,
  isGuest,
  mustBeAdministrator,
  mustBeOwner,
  mustNotBeGuest,
} from '../access/actor.js';
import type { PermissionHolder } from '../access/group-settings.js';
import type { UserId } from '../kernel/ids.js';
import { all, allowed, type Decision, denied, denyIf } from '../kernel/permission.js';
import type { Realm } from '../realms/realm.js';
import { hasRealmPermission, type RealmRights } from '../realms/realm-permissions.js';
import {
  type Channel,
  type ChannelPermission,
  type ChannelPrivacy,
  EMPTY_TOPIC_DISPLAY_NAME,
  hasSharedHistory,
  isPrivate,
  isWebPublic,
  type TopicsPolicy,
} from './channel.js';
import {
  type ChannelRights,
  canReadActive,
  canSeeActive,
  hasChannelPermission,
  hasContentAccess,
  hasMetadataAccess,
  isChannelAdministrator,
  mayAdminister,
  unknownUnless,
  type WebPublicOption,
} from './channel-access.js';

/** What of a new channel needs a permission. */
export interface ChannelRequest {
  readonly privacy: ChannelPrivacy;
  readonly isDefault: boolean;
  readonly topicsPolicy: TopicsPolicy;
  /** Whether it shall keep messages otherwise than the organization does. */
  readonly retentionChosen: boolean;
}

/** Channels §4.4 rows 1 and 6–11. Nobody checks whether its first subscribers may be added. */
export function canCreateChannel(
  actor: PermissionHolder,
  realm: Pick<Realm, 'permissions' | 'settings'>,
  request: ChannelRequest,
  webPublic: WebPublicOption,
): Decision {
  return all(
    mustNotBeGuest(actor),
    canSetTopicsPolicy(actor, realm, request.topicsPolicy),
    canCreateOfPrivacy(actor, realm, request.privacy),
    insufficientUnless(!request.isDefault || isAdministrator(actor)),
    denyIf(
      request.isDefault && isPrivate(request),
      'DEFAULT_CHANNEL_MUST_BE_PUBLIC',
      'A default channel cannot be private.',
    ),
    request.privacy === 'webPublic' ? canMakeWebPublic(actor, realm, webPublic) : allowed,
    request.retentionChosen ? mustBeOwner(actor) : allowed,
  );
}

/** Private, or anything else: web-public channels are public ones too. */
export function canCreateOfPrivacy(actor: PermissionHolder, realm: RealmRights, privacy: ChannelPrivacy): Decision {
  const permission = isPrivate({ privacy }) ? 'canCreatePrivateChannel' : 'canCreatePublicChannel';
  return insufficientUnless(hasRealmPermission(actor, realm, permission));
}

function canMakeWebPublic(
  actor: PermissionHolder,
  realm: Pick<Realm, 'permissions' | 'settings'>,
  { webPublicEnabled }: WebPublicOption,
): Decision {
  return all(
    denyIf(
      !webPublicEnabled || !realm.settings.enableSpectatorAccess,
      'WEB_PUBLIC_CHANNELS_DISABLED',
      'Web-public channels are not enabled.',
    ),
    insufficientUnless(hasRealmPermission(actor, realm, 'canCreateWebPublicChannel')),
  );
}

/** Anything but the organization's own policy needs a permission, beside that of administering (channels §3.8). */
export function canSetTopicsPolicy(actor: PermissionHolder, realm: RealmRights, policy: TopicsPolicy): Decision {
  return insufficientUnless(
    policy === 'inherit' || isAdministrator(actor) || hasRealmPermission(actor, realm, 'canSetTopicsPolicy'),
  );
}

/** Who deletes messages: beside administering; a new channel needs it only where the value is not nobody (channels §3.8). */
export function canSetDeletePolicy(actor: PermissionHolder, realm: RealmRights): Decision {
  return insufficientUnless(isAdministrator(actor) || hasRealmPermission(actor, realm, 'canSetDeleteMessagePolicy'));
}

/** Channels §3.8. */
export function canAdministerChannel(actor: PermissionHolder, channel: Pick<Channel, 'permissions'>): Decision {
  return denyIf(
    !mayAdminister(actor, channel),
    'CANNOT_ADMINISTER_CHANNEL',
    'You do not have permission to administer this channel.',
  );
}

/**
 * Naming the channel in order to change it: those who may administer it find it without being in it, others only if they
 * read it, and are then refused (channels §4.11, §4.12).
 */
export function canChangeChannel(actor: PermissionHolder, channel: ChannelRights, isSubscribed: boolean): Decision {
  return all(
    unknownUnless(mayAdminister(actor, channel) || hasContentAccess(actor, channel, isSubscribed)),
    canAdministerChannel(actor, channel),
  );
}

/** What a request says about who finds and reads a channel; what it leaves out stays (channels §4.11). */
export interface PrivacyRequest {
  readonly isPrivate?: boolean;
  readonly isWebPublic?: boolean;
  readonly hasSharedHistory?: boolean;
  readonly isDefault?: boolean;
}

/** Null: what is asked for contradicts itself (channels §4.11 rows 1 and 2). */
export function proposedPrivacy(channel: Pick<Channel, 'privacy'>, request: PrivacyRequest): ChannelPrivacy | null {
  const becomesPrivate = request.isPrivate ?? isPrivate(channel);
  const becomesWebPublic = request.isWebPublic ?? isWebPublic(channel);
  const sharesHistory =
    request.hasSharedHistory ?? (request.isPrivate === undefined ? hasSharedHistory(channel) : !request.isPrivate);
  if (becomesWebPublic) return becomesPrivate || !sharesHistory ? null : 'webPublic';
  if (!becomesPrivate) return sharesHistory ? 'public' : null;
  return sharesHistory ? 'privateSharedHistory' : 'privateProtectedHistory';
}

/** Channels §4.11 rows 2–7, for a channel that the actor may change. */
export function canChangePrivacy(
  actor: PermissionHolder,
  realm: Pick<Realm, 'permissions' | 'settings'>,
  channel: ChannelRights & Pick<Channel, 'id' | 'isDefault'>,
  isSubscribed: boolean,
  request: PrivacyRequest,
  webPublic: WebPublicOption,
): Decision {
  const privacy = proposedPrivacy(channel, request);
  if (privacy === null) return denied('INVALID_CHANNEL_PRIVACY', 'Invalid parameters');
  return all(
    denyIf(
      isPrivate({ privacy }) && (request.isDefault ?? channel.isDefault),
      'DEFAULT_CHANNEL_MUST_BE_PUBLIC',
      'A default channel cannot be private.',
    ),
    denyIf(
      !isPrivate({ privacy }) && realm.settings.moderationRequestChannelId === channel.id,
      'MODERATION_CHANNEL_MUST_BE_PRIVATE',
      'Moderation request channel must be private.',
    ),
    request.isPrivate === undefined
      ? allowed
      : all(needsContentAccess(actor, channel, isSubscribed), canCreateOfPrivacy(actor, realm, privacy)),
    request.isWebPublic === true ? canMakeWebPublic(actor, realm, webPublic) : allowed,
  );
}

const needsContentAccess = (actor: PermissionHolder, channel: ChannelRights, isSubscribed: boolean): Decision =>
  denyIf(
    !hasContentAccess(actor, channel, isSubscribed),
    'CHANNEL_CONTENT_ACCESS_REQUIRED',
    'Channel content access is required.',
  );

/** Channels §4.11 row 8, protocol §6.3: the right to, and that nothing said so far contradicts it. */
export function canChangeTopicsPolicy(
  actor: PermissionHolder,
  realm: RealmRights,
  policy: TopicsPolicy,
  hasNamedTopics: boolean,
): Decision {
  return all(
    canSetTopicsPolicy(actor, realm, policy),
    denyIf(
      policy === 'emptyTopicOnly' && hasNamedTopics,
      'CHANNEL_HAS_NAMED_TOPICS',
      `To enable this configuration, all messages in this channel must be in the ${EMPTY_TOPIC_DISPLAY_NAME} topic. ` +
        'Consider renaming or deleting other topics.',
      { emptyTopicDisplayName: EMPTY_TOPIC_DISPLAY_NAME },
    ),
  );
}

/**
 * Where newcomers do not see what was said before, everyone has to be able to open topics: whoever may not could not
 * tell which exist (channels §4.4 row 12, §4.11 rows 9 and 19). `isEveryone`: the value is the group of everyone itself.
 */
export const canLimitTopicCreation = (privacy: ChannelPrivacy, isEveryone: boolean): Decision =>
  denyIf(
    privacy === 'privateProtectedHistory' && !isEveryone,
    'TOPIC_CREATION_MUST_BE_OPEN',
    'Where newcomers do not see what was said before, everyone has to be able to create topics.',
  );

/** Channels §4.11 row 12. */
export const canSetRetention = mustBeOwner;

/** One permission of a channel that the actor may change (channels §3.4, §4.11 rows 14 and 19). */
export function canChangeChannelPermission(
  actor: PermissionHolder,
  realm: RealmRights,
  channel: ChannelRights,
  isSubscribed: boolean,
  permission: ChannelPermission,
): Decision {
  switch (permission) {
    case 'canDeleteAnyMessage':
    case 'canDeleteOwnMessage':
      return canSetDeletePolicy(actor, realm);
    // Whoever is outside cannot let themselves in this way.
    case 'canAddSubscribers':
    case 'canSubscribe':
      return needsContentAccess(actor, channel, isSubscribed);
    default:
      return allowed;
  }
}

/** Channels §4.12. */
export function canArchiveChannel(
  actor: PermissionHolder,
  channel: ChannelRights & Pick<Channel, 'isArchived'>,
  isSubscribed: boolean,
): Decision {
  return all(
    canChangeChannel(actor, channel, isSubscribed),
    denyIf(channel.isArchived, 'CHANNEL_ARCHIVED', 'Channel is already deactivated'),
  );
}

/** Of a channel that the actor may change (channels §4.13). `hasSubscribers`: active ones. */
export function canUnarchiveChannel(
  channel: Pick<Channel, 'privacy' | 'isArchived'>,
  hasSubscribers: boolean,
): Decision {
  return all(
    denyIf(!channel.isArchived, 'CHANNEL_NOT_ARCHIVED', 'Channel is not currently deactivated'),
    denyIf(
      isPrivate(channel) && !hasSubscribers,
      'CHANNEL_WITHOUT_SUBSCRIBERS',
      'Channel is private and have no subscribers',
    ), // sic
  );
}

/** Channels §4.11 row 11, §4.14. */
export const canChangeDefaultChannels = (actor: Pick<Actor, 'role'>): Decision =>
  denyIf(
    !isAdministrator(actor),
    'CANNOT_MANAGE_DEFAULT_CHANNEL',
    'You do not have permission to change default channels.',
  );

/** Channels §4.14. */
export function canMakeDefault(
  actor: PermissionHolder,
  channel: ChannelRights & Pick<Channel, 'isArchived'>,
  isSubscribed: boolean,
): Decision {
  return all(
    canChangeDefaultChannels(actor),
    canReadActive(actor, channel, isSubscribed),
    denyIf(isPrivate(channel), 'DEFAULT_CHANNEL_MUST_BE_PUBLIC', 'Private channels cannot be made default.'),
  );
}

/** Channels §4.14. */
export function canStopBeingDefault(
  actor: PermissionHolder,
  channel: ChannelRights & Pick<Channel, 'isArchived'>,
  isSubscribed: boolean,
): Decision {
  return all(canChangeDefaultChannels(actor), canSeeActive(actor, channel, isSubscribed));
}

/** Making, changing, archiving and ordering folders; putting a channel into one needs no more than changing it (channels §4.15). */
export const canManageFolders = mustBeAdministrator;

/** `Unable to access channel (x).`: the caller may let others of the request through and list this one (channels §4.5). */
export function canSubscribeSelf(
  actor: PermissionHolder,
  channel: ChannelRights & Pick<Channel, 'name'>,
  isSubscribed: boolean,
): Decision {
  return all(
    mustNotBeGuest(actor),
    denyIf(
      !hasContentAccess(actor, channel, isSubscribed),
      'CHANNEL_CONTENT_ACCESS_REQUIRED',
      `Unable to access channel (${channel.name}).`,
    ),
  );
}

/** Channels §3.8, §4.5: nobody adds others to a channel that they cannot enter. */
export function canAddSubscribers(
  actor: PermissionHolder,
  realm: RealmRights,
  channel: ChannelRights & Pick<Channel, 'name'>,
  isSubscribed: boolean,
): Decision {
  return all(canSubscribeSelf(actor, channel, isSubscribed), insufficientUnless(mayAddOthers(actor, realm, channel)));
}

export function mayAddOthers(
  actor: PermissionHolder,
  realm: RealmRights,
  channel: Pick<Channel, 'permissions'>,
): boolean {
  return (
    hasRealmPermission(actor, realm, 'canAddSubscribers') ||
    mayAdminister(actor, channel) ||
    hasChannelPermission(actor, channel, 'canAddSubscribers')
  );
}

/** Oneself, and bots one owns, from wherever; others by `canRemoveSubscribers` (channels §3.8). */
export function canUnsubscribe(
  actor: Pick<Actor, 'id' | 'role' | 'groups'>,
  target: { readonly id: UserId; readonly botOwnerId: UserId | null },
  channels: readonly { readonly channel: ChannelRights; readonly isSubscribed: boolean }[],
): Decision {
  return target.id === actor.id || target.botOwnerId === actor.id ? allowed : canRemoveSubscribers(actor, channels);
}

/** Others, from all these channels; `isSubscribed` is the actor's own (channels §3.8). */
export function canRemoveSubscribers(
  actor: PermissionHolder,
  channels: readonly { readonly channel: ChannelRights; readonly isSubscribed: boolean }[],
): Decision {
  return insufficientUnless(
    isAdministrator(actor) ||
      channels.every(({ channel }) => isChannelAdministrator(actor, channel)) ||
      (!isGuest(actor) &&
        channels.every(
          ({ channel, isSubscribed }) =>
            hasMetadataAccess(actor, channel, isSubscribed) &&
            hasChannelPermission(actor, channel, 'canRemoveSubscribers'),
        )),
  );
}
