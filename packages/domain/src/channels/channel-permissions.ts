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

/** Properties of a new channel that require a permission. */
export interface ChannelRequest {
  readonly privacy: ChannelPrivacy;
  readonly isDefault: boolean;
  readonly topicsPolicy: TopicsPolicy;
  /** True if the channel has its own retention policy. */
  readonly retentionChosen: boolean;
}

/** Implements channels §4.4 rows 1 and 6–11. Does not check permission to add the first subscribers. */
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

/** Treats web-public channels as public. */
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

/** Requires administration or a permission for any policy other than inheriting the organization's (channels §3.8). */
export function canSetTopicsPolicy(actor: PermissionHolder, realm: RealmRights, policy: TopicsPolicy): Decision {
  return insufficientUnless(
    policy === 'inherit' || isAdministrator(actor) || hasRealmPermission(actor, realm, 'canSetTopicsPolicy'),
  );
}

/**
 * Requires administration or a permission to decide who deletes messages. New channels need it only for values other
 * than nobody (channels §3.8).
 */
export function canSetDeletePolicy(actor: PermissionHolder, realm: RealmRights): Decision {
  return insufficientUnless(isAdministrator(actor) || hasRealmPermission(actor, realm, 'canSetDeleteMessagePolicy'));
}

/** Implements channels §3.8. */
export function canAdministerChannel(actor: PermissionHolder, channel: Pick<Channel, 'permissions'>): Decision {
  return denyIf(
    !mayAdminister(actor, channel),
    'CANNOT_ADMINISTER_CHANNEL',
    'You do not have permission to administer this channel.',
  );
}

/**
 * Checks access to a channel that the actor wants to change. Administrators can access it without a subscription. Other
 * users can access it only if they can read it, and are then rejected (channels §4.11, §4.12).
 */
export function canChangeChannel(actor: PermissionHolder, channel: ChannelRights, isSubscribed: boolean): Decision {
  return all(
    unknownUnless(mayAdminister(actor, channel) || hasContentAccess(actor, channel, isSubscribed)),
    canAdministerChannel(actor, channel),
  );
}

/** Requested privacy changes; absent properties stay unchanged (channels §4.11). */
export interface PrivacyRequest {
  readonly isPrivate?: boolean;
  readonly isWebPublic?: boolean;
  readonly hasSharedHistory?: boolean;
  readonly isDefault?: boolean;
}

/** Returns null for a contradictory request (channels §4.11 rows 1 and 2). */
export function proposedPrivacy(channel: Pick<Channel, 'privacy'>, request: PrivacyRequest): ChannelPrivacy | null {
  const becomesPrivate = request.isPrivate ?? isPrivate(channel);
  const becomesWebPublic = request.isWebPublic ?? isWebPublic(channel);
  const sharesHistory =
    request.hasSharedHistory ?? (request.isPrivate === undefined ? hasSharedHistory(channel) : !request.isPrivate);
  if (becomesWebPublic) return becomesPrivate || !sharesHistory ? null : 'webPublic';
  if (!becomesPrivate) return sharesHistory ? 'public' : null;
  return sharesHistory ? 'privateSharedHistory' : 'privateProtectedHistory';
}

/** Implements channels §4.11 rows 2–7, for a channel that the actor may change. */
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

/** Checks the permission and rejects a policy that existing topics violate (channels §4.11 row 8, protocol §6.3). */
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
 * Requires that everyone can create topics in a channel with protected history (channels §4.4 row 12, §4.11 rows 9 and
 * 19). Users without that permission could not tell which topics exist. `isEveryone`: the value is the group of
 * everyone itself.
 */
export const canLimitTopicCreation = (privacy: ChannelPrivacy, isEveryone: boolean): Decision =>
  denyIf(
    privacy === 'privateProtectedHistory' && !isEveryone,
    'TOPIC_CREATION_MUST_BE_OPEN',
    'Where newcomers do not see what was said before, everyone has to be able to create topics.',
  );

/** Implements channels §4.11 row 12. */
export const canSetRetention = mustBeOwner;

/** Checks one permission of a channel that the actor may change (channels §3.4, §4.11 rows 14 and 19). */
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
    // Prevents administrators without content access from granting it to themselves.
    case 'canAddSubscribers':
    case 'canSubscribe':
      return needsContentAccess(actor, channel, isSubscribed);
    default:
      return allowed;
  }
}

/** Implements channels §4.12. */
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

/**
 * Applies to a channel that the actor may change (channels §4.13). `hasSubscribers`: whether it has active subscribers.
 */
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
    ), // Sic: exact contract text.
  );
}

/** Implements channels §4.11 row 11 and §4.14. */
export const canChangeDefaultChannels = (actor: Pick<Actor, 'role'>): Decision =>
  denyIf(
    !isAdministrator(actor),
    'CANNOT_MANAGE_DEFAULT_CHANNEL',
    'You do not have permission to change default channels.',
  );

/** Implements channels §4.14. */
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

/** Implements channels §4.14. */
export function canStopBeingDefault(
  actor: PermissionHolder,
  channel: ChannelRights & Pick<Channel, 'isArchived'>,
  isSubscribed: boolean,
): Decision {
  return all(canChangeDefaultChannels(actor), canSeeActive(actor, channel, isSubscribed));
}

/**
 * Covers creating, changing, archiving and ordering folders. Assigning a channel to a folder only requires permission
 * to change the channel (channels §4.15).
 */
export const canManageFolders = mustBeAdministrator;

/**
 * Rejects with `Unable to access channel (x).`; the caller may instead accept the other channels of the request and
 * list this one (channels §4.5).
 */
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

/** Requires that the actor can subscribe to the channel (channels §3.8, §4.5). */
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

/**
 * Allows users to remove themselves and their own bots from any channel; see `canRemoveSubscribers` for other users
 * (channels §3.8).
 */
export function canUnsubscribe(
  actor: Pick<Actor, 'id' | 'role' | 'groups'>,
  target: { readonly id: UserId; readonly botOwnerId: UserId | null },
  channels: readonly { readonly channel: ChannelRights; readonly isSubscribed: boolean }[],
): Decision {
  return target.id === actor.id || target.botOwnerId === actor.id ? allowed : canRemoveSubscribers(actor, channels);
}

/** Checks the removal of other users from all these channels; `isSubscribed` refers to the actor (channels §3.8). */
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
