import { DomainError } from '../kernel/errors.js';
import type { ChannelId, DefaultChannelGroupId, RealmId } from '../kernel/ids.js';
import { isLongerThan, positionOfUnprintable, trim } from '../kernel/text.js';

/** Channels that newcomers may choose to be subscribed to together (channels §2.3, §4.14). */
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
/** Of a realm, and of channels in one: each change tells everybody of all of them. */
export const MAX_DEFAULT_CHANNEL_GROUPS = 100;
export const MAX_CHANNELS_OF_A_DEFAULT_GROUP = 1000;

export interface DefaultChannelGroupReads {
  find(realmId: RealmId, id: DefaultChannelGroupId): Promise<DefaultChannelGroup | null>;
  /** Whatever the letter case. */
  findByName(realmId: RealmId, name: string): Promise<DefaultChannelGroup | null>;
  /** By name, in code-point order. */
  list(realmId: RealmId): Promise<readonly DefaultChannelGroup[]>;
}

/** Every implementation passes default-channel-group-repository.contract.ts. */
export interface DefaultChannelGroupRepository extends DefaultChannelGroupReads {
  /** @throws DomainError DEFAULT_CHANNEL_GROUP_NAME_TAKEN */
  add(group: Omit<DefaultChannelGroup, 'id'>): Promise<DefaultChannelGroup>;
  /** @throws DomainError DEFAULT_CHANNEL_GROUP_NAME_TAKEN */
  update(group: DefaultChannelGroup): Promise<void>;
  remove(realmId: RealmId, id: DefaultChannelGroupId): Promise<void>;
}

/** Returns the name trimmed. @throws DomainError INVALID_DEFAULT_CHANNEL_GROUP_NAME (channels §4.14) */
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

interface NamedChannel {
  readonly id: ChannelId;
  readonly name: string;
  readonly isDefault: boolean;
}

/**
 * The group with more channels. @throws DomainError IS_DEFAULT_CHANNEL, CHANNEL_IN_DEFAULT_GROUP,
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

/** The group with fewer channels. @throws DomainError CHANNEL_NOT_IN_DEFAULT_GROUP (channels §4.14) */
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

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    defaultChannelGroups: [reads: DefaultChannelGroupReads, repository: DefaultChannelGroupRepository];
  }
}
