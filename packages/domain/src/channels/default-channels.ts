import { DomainError } from '../kernel/errors.js';
import type { Caller, ChannelId, DefaultChannelGroupId, RealmId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { RealmRowReads, RealmRows, RowRules } from '../kernel/rows.js';
import * as shape from '../kernel/shape.js';
import { compareCodePoints, isLongerThan, positionOfUnprintable, trim } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { atLeast } from '../users/user-delivery.js';
import type { Channel } from './channel.js';
import { canChangeDefaultChannels } from './channel-permissions.js';

/** Channels that new users can subscribe to together (channels §2.3, §4.14). */
export interface DefaultChannelGroup {
  readonly id: DefaultChannelGroupId;
  readonly realmId: RealmId;
  readonly name: string;
  readonly description: string;
  /** Ascending. */
  readonly channelIds: readonly ChannelId[];
}

/** In code points (channels §4.14). */
export const MAX_DEFAULT_CHANNEL_GROUP_NAME_LENGTH = 60;
/** Maximum number of groups per realm and of channels per group; each change publishes the complete list. */
export const MAX_DEFAULT_CHANNEL_GROUPS = 100;
export const MAX_CHANNELS_OF_A_DEFAULT_GROUP = 1000;

/** Trims and validates the name. @throws DomainError INVALID_DEFAULT_CHANNEL_GROUP_NAME (channels §4.14) */
export function parseDefaultGroupName(raw: string): string {
  const name = trim(raw);
  if (isLongerThan(name, MAX_DEFAULT_CHANNEL_GROUP_NAME_LENGTH)) {
    throw new DomainError(
      'INVALID_DEFAULT_CHANNEL_GROUP_NAME',
      `Default channel group name too long (limit: ${MAX_DEFAULT_CHANNEL_GROUP_NAME_LENGTH} characters)`,
    );
  }
  if (name === '' || positionOfUnprintable(name) > 0) {
    throw new DomainError('INVALID_DEFAULT_CHANNEL_GROUP_NAME', `Invalid default channel group name '${raw}'`);
  }
  return name;
}

export const defaultGroupNameTaken = (name: string): DomainError =>
  new DomainError('DEFAULT_CHANNEL_GROUP_NAME_TAKEN', `Default channel group '${name}' already exists`);

export const DEFAULT_CHANNEL_GROUP_ROWS: RowRules<DefaultChannelGroup> = {
  kind: 'defaultChannelGroup',
  owner: 'realm',
  order: ['name'],
  unique: { property: 'name', ignoresCase: true, taken: defaultGroupNameTaken },
  exported: {
    noun: 'default channel group',
    shape: { name: shape.printable, description: shape.text(10_000), channelIds: shape.list(shape.anyId) },
    max: 10_000,
    namesChannels: true,
    covered: (group, covered) => ({
      ...group,
      channelIds: group.channelIds.filter((id) => covered.channelIds.has(id)),
    }),
    imported: ({ channelIds }, { channels }) => ({ channelIds: channels.list(channelIds).sort((a, b) => a - b) }),
  },
};

interface NamedChannel {
  readonly id: ChannelId;
  readonly name: string;
  readonly isDefault: boolean;
}

/**
 * Returns the group with additional channels. @throws DomainError IS_DEFAULT_CHANNEL, CHANNEL_IN_DEFAULT_GROUP,
 * TOO_MANY_CHANNELS_IN_DEFAULT_GROUP (channels §4.14)
 */
export function withChannels<G extends Pick<DefaultChannelGroup, 'name' | 'channelIds'>>(
  group: G,
  channels: readonly NamedChannel[],
): G {
  const ids = new Set(group.channelIds);
  for (const { id, name, isDefault } of channels) {
    if (isDefault) {
      const text = `'${name}' is a default channel and cannot be added to '${group.name}'`;
      throw new DomainError('IS_DEFAULT_CHANNEL', text);
    }
    if (group.channelIds.includes(id)) {
      const text = `Channel '${name}' is already present in default channel group '${group.name}'`;
      throw new DomainError('CHANNEL_IN_DEFAULT_GROUP', text);
    }
    ids.add(id);
  }
  if (ids.size > MAX_CHANNELS_OF_A_DEFAULT_GROUP) {
    throw new DomainError(
      'TOO_MANY_CHANNELS_IN_DEFAULT_GROUP',
      `Too many channels in a default channel group (limit: ${MAX_CHANNELS_OF_A_DEFAULT_GROUP}).`,
    );
  }
  return { ...group, channelIds: [...ids].sort((a, b) => a - b) };
}

/** Returns the group without these channels. @throws DomainError CHANNEL_NOT_IN_DEFAULT_GROUP (channels §4.14) */
export function withoutChannels<G extends Pick<DefaultChannelGroup, 'name' | 'channelIds'>>(
  group: G,
  channels: readonly Omit<NamedChannel, 'isDefault'>[],
): G {
  const absent = channels.find(({ id }) => !group.channelIds.includes(id));
  if (absent) {
    const text = `Channel '${absent.name}' is not present in default channel group '${group.name}'`;
    throw new DomainError('CHANNEL_NOT_IN_DEFAULT_GROUP', text);
  }
  const removed = new Set(channels.map(({ id }) => id));
  return { ...group, channelIds: group.channelIds.filter((id) => !removed.has(id)) };
}

/** Group of default channels as shown to clients. */
export interface DefaultChannelGroupView {
  readonly id: DefaultChannelGroupId;
  readonly name: string;
  readonly description: string;
  /** Channel ids in order of channel name. */
  readonly channelIds: readonly ChannelId[];
}

/** Lists the groups of the realm by name. The cost grows with the number of channels in them. */
export async function listDefaultChannelGroups(
  { channels, defaultChannelGroups }: Pick<Repositories | Transaction, 'channels' | 'defaultChannelGroups'>,
  realmId: RealmId,
): Promise<readonly DefaultChannelGroupView[]> {
  const groups = await defaultChannelGroups.list(realmId);
  const ids = new Set(groups.flatMap(({ channelIds }) => channelIds));
  const named = new Map((await channels.list(realmId, [...ids])).map(({ id, name }) => [id, name]));
  const nameOf = (id: ChannelId) => named.get(id) ?? '';
  return groups.map(({ id, name, description, channelIds }) => ({
    id,
    name,
    description,
    channelIds: [...channelIds].sort((a, b) => compareCodePoints(nameOf(a), nameOf(b))),
  }));
}

/** Publishes the complete list of groups to all users except guests (channels §6.4). */
export async function publishDefaultChannelGroups(tx: Transaction, realmId: RealmId): Promise<void> {
  const groups = await listDefaultChannelGroups(tx, realmId);
  await tx.events.append(realmId, {
    event: { type: 'default_channel_groups.changed', groups },
    audience: atLeast('member'),
  });
}

/** Removes an archived channel from all groups (channels §4.12). */
export async function removeFromDefaultGroups(tx: Transaction, realmId: RealmId, channelId: ChannelId): Promise<void> {
  const holders = (await tx.defaultChannelGroups.list(realmId)).filter(({ channelIds }) =>
    channelIds.includes(channelId),
  );
  if (holders.length === 0) return;
  for (const group of holders) {
    const channelIds = group.channelIds.filter((id) => id !== channelId);
    await tx.defaultChannelGroups.update({ ...group, channelIds });
  }
  await publishDefaultChannelGroups(tx, realmId);
}

/**
 * Loads a group for a change. `first` runs after the permission check and before the look-up.
 * @throws DomainError CANNOT_MANAGE_DEFAULT_CHANNEL, UNKNOWN_DEFAULT_CHANNEL_GROUP
 */
export async function loadDefaultChannelGroup(
  tx: Transaction,
  caller: Caller,
  id: DefaultChannelGroupId,
  first: () => void = () => {},
): Promise<DefaultChannelGroup> {
  enforce(canChangeDefaultChannels(await tx.actors.get(caller)));
  first();
  const group = await tx.defaultChannelGroups.find(caller.realmId, id);
  if (group) return group;
  throw new DomainError('UNKNOWN_DEFAULT_CHANNEL_GROUP', `Default channel group with id '${id}' does not exist.`);
}

/** Publishes the default channels to all users except guests, who have none (channels §6.4). */
export async function publishDefaultChannels(tx: Transaction, realmId: RealmId): Promise<void> {
  const channelIds: ChannelId[] = (await tx.channels.listDefaults(realmId)).map(({ id }) => id);
  await tx.events.append(realmId, {
    event: { type: 'default_channels.changed', channelIds },
    audience: atLeast('member'),
  });
}

/**
 * Adds or removes a default channel. Removing a channel that is not a default channel still publishes an event
 * (channels §4.14).
 */
export async function setDefaultChannel(tx: Transaction, channel: Channel, isDefault: boolean): Promise<void> {
  if (channel.isDefault && isDefault) return;
  if (channel.isDefault !== isDefault) await tx.channels.update({ ...channel, isDefault });
  await publishDefaultChannels(tx, channel.realmId);
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    defaultChannelGroups: [reads: RealmRowReads<DefaultChannelGroup>, repository: RealmRows<DefaultChannelGroup>];
  }
  interface RealmCopyParts {
    readonly defaultChannelGroups: readonly DefaultChannelGroup[];
  }
  interface IdKindParts {
    defaultChannelGroup: DefaultChannelGroupId;
  }
}

export const DEFAULT_CHANNEL_FEATURE = { rows: { defaultChannelGroups: DEFAULT_CHANNEL_GROUP_ROWS } };
