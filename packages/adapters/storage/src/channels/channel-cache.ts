import type { GroupSettingValue } from '@parley/domain/access';
import { CHANNEL_PERMISSIONS, type Channel, type ChannelPermissions, type ChannelView } from '@parley/domain/channels';
import type { GroupId } from '@parley/domain/kernel';
import { newTextCache } from '../engine/text-cache.js';
import { type Cacheability, VersionedCache } from '../engine/versioned-cache.js';
import { groupSettingValues } from '../groups/group-values.js';

export const PERMISSION_NAMES = Object.keys(CHANNEL_PERMISSIONS) as readonly (keyof typeof CHANNEL_PERMISSIONS)[];

/** Group values as permissions, with a text per value; equal texts mean equal values. */
export class GroupValues {
  private readonly texts: ReadonlyMap<GroupId, string>;

  constructor(readonly values: ReadonlyMap<GroupId, GroupSettingValue>) {
    const texts = new Map<GroupId, string>();
    for (const [id, value] of values) texts.set(id, typeof value === 'number' ? String(value) : textOfValue(value));
    this.texts = texts;
  }

  textOf(permissions: ChannelPermissions): string {
    let text = '';
    for (const name of PERMISSION_NAMES) text += `${this.texts.get(permissions[name]) ?? ''};`;
    return text;
  }
}

const valueTexts = new WeakMap<object, string>();

function textOfValue(value: Exclude<GroupSettingValue, number>): string {
  const existing = valueTexts.get(value);
  if (existing !== undefined) return existing;
  const text = JSON.stringify(value);
  valueTexts.set(value, text);
  return text;
}

/**
 * Most channels grant the same permissions to the same users through different groups. Equal values share one object,
 * which others can use as a cache key.
 */
export class SharedPermissions {
  private readonly cachedValues = newTextCache<ChannelView['permissions']>();

  of(permissions: ChannelPermissions, groups: GroupValues): ChannelView['permissions'] {
    const text = groups.textOf(permissions);
    const existing = this.cachedValues.get(text);
    if (existing) return existing;
    const values = groupSettingValues(CHANNEL_PERMISSIONS, permissions, groups.values);
    this.cachedValues.set(text, values);
    return values;
  }
}

/** View properties that depend on groups and their members. */
export type GroupDependents = Pick<ChannelView, 'permissions' | 'sendersSystemGroup'>;
/** View properties that change independently of the channel. */
type ChannelCounts = Pick<ChannelView, 'subscriberCount' | 'weeklyTraffic'>;

interface CachedChannel {
  readonly channel: Channel;
  /** View of this or an earlier version with the same permissions. */
  lastView: ChannelView | null;
  /** Version of the group values in the view. */
  valuesVersion: number;
}

/**
 * Cache of channels and their latest views, shared by all connections. A view remains the same object until it changes,
 * so others can use it as a cache key.
 */
export class ChannelCache {
  readonly permissions = new SharedPermissions();
  private readonly channels = new VersionedCache<number, CachedChannel>(20_000);

  find(id: number, version: number): Channel | undefined {
    return this.channels.get(id, version)?.channel;
  }

  put(connection: Cacheability, channel: Channel): void {
    const before = this.channels.peek(channel.id);
    // Equal permissions are usually the same object; see `groupSettingsColumn`.
    const known: CachedChannel =
      before?.channel.permissions === channel.permissions
        ? { channel, lastView: before.lastView, valuesVersion: before.valuesVersion }
        : { channel, lastView: null, valuesVersion: 0 };
    this.channels.put(connection, channel.id, channel.version, known);
  }

  /** Returns null if the values must be read. */
  findGroupDependents({ id, permissions }: Channel, valuesVersion: number): GroupDependents | null {
    const existing = this.channels.peek(id);
    return existing?.valuesVersion === valuesVersion && existing.channel.permissions === permissions
      ? existing.lastView
      : null;
  }

  viewOf(
    connection: Cacheability,
    channel: Channel,
    dependents: GroupDependents,
    counts: ChannelCounts,
    valuesVersion: number,
  ): ChannelView {
    const existing = this.channels.get(channel.id, channel.version);
    const last = existing?.lastView;
    const view = last && isOf(last, channel, dependents, counts) ? last : makeView(channel, dependents, counts);
    if (existing && connection.isCacheable) {
      existing.lastView = view;
      existing.valuesVersion = valuesVersion;
    }
    return view;
  }
}

const isOf = (view: ChannelView, channel: Channel, dependents: GroupDependents, counts: ChannelCounts): boolean =>
  view.version === channel.version &&
  view.permissions === dependents.permissions &&
  view.sendersSystemGroup === dependents.sendersSystemGroup &&
  view.subscriberCount === counts.subscriberCount &&
  view.weeklyTraffic === counts.weeklyTraffic;

/** Written out field by field, because views are numerous (docs/performance.md). */
const makeView = (channel: Channel, dependents: GroupDependents, counts: ChannelCounts): ChannelView => ({
  id: channel.id,
  realmId: channel.realmId,
  recipientId: channel.recipientId,
  name: channel.name,
  description: channel.description,
  renderedDescription: channel.renderedDescription,
  privacy: channel.privacy,
  isArchived: channel.isArchived,
  creatorId: channel.creatorId,
  createdAt: channel.createdAt,
  messageRetentionDays: channel.messageRetentionDays,
  topicsPolicy: channel.topicsPolicy,
  folderId: channel.folderId,
  isDefault: channel.isDefault,
  isRecentlyActive: channel.isRecentlyActive,
  firstMessageId: channel.firstMessageId,
  version: channel.version,
  permissions: dependents.permissions,
  sendersSystemGroup: dependents.sendersSystemGroup,
  subscriberCount: counts.subscriberCount,
  weeklyTraffic: counts.weeklyTraffic,
});
