import { CHANNEL_PERMISSIONS, type Channel, type ChannelView } from '@parley/domain/channels';
import type { GroupSettingValue } from '@parley/domain/permissions';
import type { GroupId } from '@parley/domain/shared';
import type { Connection } from '../connection.js';
import { groupSettingValues } from '../groups/group-setting-values.js';
import { VersionedCache } from '../versioned-cache.js';

/** What hangs on the groups of the organization, and on whoever is in them. */
export type GroupDependents = Pick<ChannelView, 'permissions' | 'sendersSystemGroup'>;
/** What changes without the channel. */
export type ChannelCounts = Pick<ChannelView, 'subscriberCount' | 'weeklyTraffic'>;

interface KnownView {
  readonly view: ChannelView;
  readonly groupsVersion: number;
}

/**
 * Channels as they were last seen: as long as nothing of one changes it is the same object, by which others know what they have
 * made of it. Shared by all connections.
 */
export class ChannelViewCache {
  private readonly views = new VersionedCache<number, KnownView>(10_000);

  /** May say something else of the counts. */
  find(id: number, version: number, groupsVersion: number): ChannelView | null {
    const known = this.views.get(id, version);
    return known?.groupsVersion === groupsVersion ? known.view : null;
  }

  /** Of a channel that was not found. */
  add(
    connection: Connection,
    channel: Channel,
    { permissions, sendersSystemGroup }: GroupDependents,
    counts: ChannelCounts,
    groupsVersion: number,
  ): ChannelView {
    const known = this.views.get(channel.id, channel.version)?.view;
    const isSame =
      known?.sendersSystemGroup === sendersSystemGroup &&
      haveSameValues(known.permissions, permissions) &&
      haveSameCounts(known, counts);
    // What is new comes before the copy: behind one, V8 gives each object a form of its own, which makes lists of them slow to read.
    const view = isSame ? known : { sendersSystemGroup, ...counts, ...channel, permissions };
    this.views.put(connection, channel.id, channel.version, { view, groupsVersion });
    return view;
  }

  /** A view that was found, with what is true now. */
  withCounts(connection: Connection, view: ChannelView, counts: ChannelCounts, groupsVersion: number): ChannelView {
    if (haveSameCounts(view, counts)) return view;
    const changed = { ...view, ...counts };
    this.views.put(connection, view.id, view.version, { view: changed, groupsVersion });
    return changed;
  }
}

export const permissionValues = (channel: Channel, values: ReadonlyMap<GroupId, GroupSettingValue>) =>
  groupSettingValues(CHANNEL_PERMISSIONS, channel.permissions, values);

const haveSameCounts = (a: ChannelCounts, b: ChannelCounts): boolean =>
  a.subscriberCount === b.subscriberCount && a.weeklyTraffic === b.weeklyTraffic;

const NAMES = Object.keys(CHANNEL_PERMISSIONS) as readonly (keyof typeof CHANNEL_PERMISSIONS)[];

const haveSameValues = (a: ChannelView['permissions'], b: ChannelView['permissions']): boolean =>
  NAMES.every((name) => isSameValue(a[name], b[name]));

function isSameValue(a: GroupSettingValue, b: GroupSettingValue): boolean {
  if (typeof a === 'number' || typeof b === 'number') return a === b;
  return isSameList(a.directMembers, b.directMembers) && isSameList(a.directSubgroups, b.directSubgroups);
}

const isSameList = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((id, index) => id === b[index]);
