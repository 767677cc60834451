import { type Audience, allOf, except, nobody, users } from '../events/audience.js';
import type { Actor } from '../permissions/actor.js';
import type { ChannelId, UserId } from '../shared/ids.js';
import { type Channel, type ChannelPermission, isPrivate } from './channel.js';
import { metadataUsers } from './channel-audiences.js';
import { hasMetadataAccess } from './channel-permissions.js';

/** Who sees a channel now, compared with before it changed. Set expressions: none costs by the number of subscribers. */
export interface ChannelVisibilityChange {
  /** Is sent the whole channel, and who is subscribed to it. */
  readonly gainers: Audience;
  /** Is sent the change itself. */
  readonly keepers: Audience;
  /** Gets the event that the channel is gone. */
  readonly losers: Audience;
}

/** The permissions that let people see a private channel (channels §3.4). */
export const VISIBILITY_PERMISSIONS: readonly ChannelPermission[] = [
  'canAddSubscribers',
  'canAdministerChannel',
  'canSubscribe',
];

/** Of a channel whose privacy or permissions changed (channels §6.3). */
export function visibilityOfChangedChannel(before: Channel, after: Channel): ChannelVisibilityChange {
  // Permissions let nobody see a channel that is open anyway.
  const isSame =
    before.privacy === after.privacy &&
    (!isPrivate(after) ||
      VISIBILITY_PERMISSIONS.every((permission) => before.permissions[permission] === after.permissions[permission]));
  if (isSame) return { gainers: nobody, keepers: metadataUsers(after), losers: nobody };
  return {
    gainers: except(metadataUsers(after), metadataUsers(before)),
    keepers: allOf(metadataUsers(before), metadataUsers(after)),
    losers: except(metadataUsers(before), metadataUsers(after)),
  };
}

/** Somebody whose role or groups changed; the same active user twice. */
export interface ChangedUser {
  readonly before: Actor;
  readonly after: Actor;
}

/** Channels that the same people came to see, or lost sight of. */
export interface ChannelsWithAudience {
  /** In the given order. */
  readonly channels: readonly Channel[];
  readonly audience: Audience;
}

export interface UserVisibilityChange {
  readonly gained: readonly ChannelsWithAudience[];
  readonly lost: readonly ChannelsWithAudience[];
}

/**
 * Of people whose role or groups changed, in as few events as there are different audiences: one for a role, whatever the
 * number of channels (channels §6.3).
 */
export function visibilityForChangedUsers(
  people: readonly ChangedUser[],
  channels: readonly Channel[],
  isSubscribed: (userId: UserId, channelId: ChannelId) => boolean,
): UserVisibilityChange {
  const gained: ByPeople = new Map();
  const lost: ByPeople = new Map();
  for (const channel of channels) {
    const gainers: UserId[] = [];
    const losers: UserId[] = [];
    for (const { before, after } of people) {
      const subscribed = isSubscribed(after.id, channel.id);
      const saw = hasMetadataAccess(before, channel, subscribed);
      const sees = hasMetadataAccess(after, channel, subscribed);
      if (sees && !saw) gainers.push(after.id);
      if (saw && !sees) losers.push(after.id);
    }
    collect(gained, channel, gainers);
    collect(lost, channel, losers);
  }
  return { gained: asAudiences(gained), lost: asAudiences(lost) };
}

type ByPeople = Map<string, { readonly channels: Channel[]; readonly ids: readonly UserId[] }>;

function collect(groups: ByPeople, channel: Channel, unsorted: readonly UserId[]): void {
  if (unsorted.length === 0) return;
  const ids = [...unsorted].sort((a, b) => a - b);
  const group = groups.get(ids.join());
  if (group) group.channels.push(channel);
  else groups.set(ids.join(), { channels: [channel], ids });
}

const asAudiences = (groups: ByPeople): readonly ChannelsWithAudience[] =>
  [...groups.values()].map(({ channels, ids }) => ({ channels, audience: users(ids) }));
