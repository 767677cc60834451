import type { Actor } from '../access/actor.js';
import { type Audience, allOf, except, nobody, users } from '../kernel/audience.js';
import type { GroupId, UserId } from '../kernel/ids.js';
import { type Channel, type ChannelPermission, isPrivate } from './channel.js';
import { hasMetadataAccess } from './channel-access.js';
import { metadataUsers } from './channel-audiences.js';

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
 * Of people whose role or groups changed, channel by channel, in as few events as there are different audiences: one for a role,
 * whatever the number of channels (channels §6.3).
 */
export class VisibilityForChangedUsers {
  private readonly alike: readonly AlikeUsers[];
  private readonly gained: ByPeople = new Map();
  private readonly lost: ByPeople = new Map();

  constructor(people: readonly ChangedUser[]) {
    this.alike = alikeUsers([...people].sort((one, other) => one.after.id - other.after.id));
  }

  /** `subscriberIds`: of these people, those who follow it. */
  add(channel: Channel, subscriberIds: ReadonlySet<UserId>): void {
    const gainers: UserId[] = [];
    const losers: UserId[] = [];
    for (const { before, after, ids } of this.alike) {
      for (const isSubscribed of [false, true]) {
        const saw = hasMetadataAccess(before, channel, isSubscribed);
        const sees = hasMetadataAccess(after, channel, isSubscribed);
        if (sees === saw) continue;
        const changed = sees ? gainers : losers;
        for (const id of ids) if (subscriberIds.has(id) === isSubscribed) changed.push(id);
      }
    }
    collect(this.gained, channel, gainers);
    collect(this.lost, channel, losers);
  }

  get change(): UserVisibilityChange {
    return { gained: asAudiences(this.gained), lost: asAudiences(this.lost) };
  }
}

/** Users of the same role and groups, before and after. */
interface AlikeUsers extends ChangedUser {
  readonly ids: UserId[];
}

/** Those who are in the same groups mostly share one set of them, so that few kinds are left of many people. */
function alikeUsers(people: readonly ChangedUser[]): readonly AlikeUsers[] {
  const kinds = new Map<ReadonlySet<GroupId>, AlikeUsers[]>();
  for (const { before, after } of people) {
    const known = kinds.get(after.groups) ?? [];
    kinds.set(after.groups, known);
    const alike = known.find(
      (kind) =>
        kind.before.groups === before.groups && kind.before.role === before.role && kind.after.role === after.role,
    );
    if (alike) alike.ids.push(after.id);
    else known.push({ before, after, ids: [after.id] });
  }
  return [...kinds.values()].flat();
}

type ByPeople = Map<string, { readonly channels: Channel[]; readonly ids: readonly UserId[] }>;

function collect(groups: ByPeople, channel: Channel, unsorted: readonly UserId[]): void {
  if (unsorted.length === 0) return;
  const ids = [...unsorted].sort((a, b) => a - b);
  const key = ids.join();
  const group = groups.get(key);
  if (group) group.channels.push(channel);
  else groups.set(key, { channels: [channel], ids });
}

const asAudiences = (groups: ByPeople): readonly ChannelsWithAudience[] =>
  [...groups.values()].map(({ channels, ids }) => ({ channels, audience: users(ids) }));
