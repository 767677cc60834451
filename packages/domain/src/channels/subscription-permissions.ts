import { type Actor, isAdministrator, isGuest } from '../access/actor.js';
import type { PermissionHolder } from '../access/is-granted.js';
import { insufficientUnless, mustNotBeGuest } from '../access/role-rules.js';
import type { UserId } from '../kernel/ids.js';
import { all, allowed, type Decision, denyIf } from '../kernel/permission.js';
import { hasRealmPermission, type RealmRights } from '../realms/realm-permissions.js';
import type { Channel } from './channel.js';
import {
  type ChannelRights,
  hasChannelPermission,
  hasContentAccess,
  hasMetadataAccess,
  isChannelAdministrator,
  mayAdminister,
} from './channel-access.js';

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
