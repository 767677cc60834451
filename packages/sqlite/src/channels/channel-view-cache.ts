import type { Channel, ChannelPermissions, ChannelView } from '@parley/domain/channels';
import type { Connection } from '../connection.js';
import { VersionedCache } from '../versioned-cache.js';
import { PERMISSION_NAMES } from './shared-permissions.js';

/** What hangs on the groups of the organization, and on whoever is in them. */
export type GroupDependents = Pick<ChannelView, 'permissions' | 'sendersSystemGroup'>;
/** What changes without the channel. */
export type ChannelCounts = Pick<ChannelView, 'subscriberCount' | 'weeklyTraffic'>;

interface KnownView {
  readonly view: ChannelView;
  readonly valuesVersion: number;
  /** The groups whose values the view has. */
  readonly groupIds: ChannelPermissions;
}

/**
 * Channels as they were last seen: as long as nothing of one changes it is the same object, by which others know what they have
 * made of it. Shared by all connections.
 */
export class ChannelViewCache {
  private readonly views = new VersionedCache<number, KnownView>(10_000);

  /** May say something else of the counts. */
  find(id: number, version: number, valuesVersion: number): ChannelView | null {
    const known = this.views.get(id, version);
    return known?.valuesVersion === valuesVersion ? known.view : null;
  }

  /** Of a channel that was not found, since something else of it changed; null where they have to be read. */
  findGroupDependents({ id, permissions }: Channel, valuesVersion: number): GroupDependents | null {
    const known = this.views.peek(id);
    if (known?.valuesVersion !== valuesVersion) return null;
    return PERMISSION_NAMES.every((name) => known.groupIds[name] === permissions[name]) ? known.view : null;
  }

  /** Of a channel that was not found. */
  add(
    connection: Connection,
    channel: Channel,
    { permissions, sendersSystemGroup }: GroupDependents,
    counts: ChannelCounts,
    valuesVersion: number,
  ): ChannelView {
    const known = this.views.get(channel.id, channel.version)?.view;
    const isSame =
      known?.sendersSystemGroup === sendersSystemGroup &&
      known.permissions === permissions &&
      haveSameCounts(known, counts);
    // What is new comes before the copy: behind one, V8 gives each object a form of its own, which makes lists of them slow to read.
    const view = isSame ? known : { sendersSystemGroup, ...counts, ...channel, permissions };
    this.views.put(connection, channel.id, channel.version, { view, valuesVersion, groupIds: channel.permissions });
    return view;
  }

  /** A view that was found, with what is true now. */
  withCounts(
    connection: Connection,
    view: ChannelView,
    { permissions }: Channel,
    counts: ChannelCounts,
    valuesVersion: number,
  ): ChannelView {
    if (haveSameCounts(view, counts)) return view;
    const changed = { ...view, ...counts };
    this.views.put(connection, view.id, view.version, { view: changed, valuesVersion, groupIds: permissions });
    return changed;
  }
}

const haveSameCounts = (a: ChannelCounts, b: ChannelCounts): boolean =>
  a.subscriberCount === b.subscriberCount && a.weeklyTraffic === b.weeklyTraffic;
