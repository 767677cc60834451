import { DomainError } from '../kernel/errors.js';
import type { Caller, ChannelId, DefaultChannelGroupId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { listReadableChannels, loadChannel } from './channel-access.js';
import { canChangeDefaultChannels, canMakeDefault, canStopBeingDefault } from './channel-permissions.js';
import {
  type DefaultChannelGroup,
  defaultGroupNameTaken,
  loadDefaultChannelGroup,
  MAX_DEFAULT_CHANNEL_GROUPS,
  parseDefaultGroupName,
  publishDefaultChannelGroups,
  setDefaultChannel,
  withChannels,
  withoutChannels,
} from './default-channels.js';

export interface SetDefaultChannelInput {
  readonly channelId: ChannelId;
  readonly isDefault: boolean;
}

/** Adds or removes a default channel for new users (channels §4.14). Idempotent. */
export class SetDefaultChannel {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError CANNOT_MANAGE_DEFAULT_CHANNEL, UNKNOWN_CHANNEL, DEFAULT_CHANNEL_MUST_BE_PUBLIC */
  execute(caller: Caller, { channelId, isDefault }: SetDefaultChannelInput): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(canChangeDefaultChannels(actor));
      const rule = isDefault ? canMakeDefault : canStopBeingDefault;
      const { channel } = await loadChannel(tx, actor, channelId, rule);
      await setDefaultChannel(tx, channel, isDefault);
    });
  }
}

export interface CreateDefaultChannelGroupInput {
  readonly name: string;
  readonly description: string;
  readonly channelNames: readonly string[];
}

/** Implements channels §4.14. */
export class CreateDefaultChannelGroup {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * @throws DomainError CANNOT_MANAGE_DEFAULT_CHANNEL, UNKNOWN_CHANNEL, IS_DEFAULT_CHANNEL,
   * INVALID_DEFAULT_CHANNEL_GROUP_NAME, DEFAULT_CHANNEL_GROUP_NAME_TAKEN, TOO_MANY_DEFAULT_CHANNEL_GROUPS,
   * TOO_MANY_CHANNELS_IN_DEFAULT_GROUP
   */
  execute(caller: Caller, input: CreateDefaultChannelGroupInput): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const { realmId } = actor;
      enforce(canChangeDefaultChannels(actor));
      const channels = await listReadableChannels(tx, actor, input.channelNames);
      const group = withChannels({ ...input, realmId, channelIds: [] }, channels);
      const name = parseDefaultGroupName(input.name);
      if (await tx.defaultChannelGroups.findByKey(realmId, name)) throw defaultGroupNameTaken(name);
      if ((await tx.defaultChannelGroups.list(realmId)).length >= MAX_DEFAULT_CHANNEL_GROUPS) {
        throw new DomainError(
          'TOO_MANY_DEFAULT_CHANNEL_GROUPS',
          `Too many default channel groups (limit: ${MAX_DEFAULT_CHANNEL_GROUPS}).`,
        );
      }
      const { description, channelIds } = group;
      await tx.defaultChannelGroups.add({ realmId, name, description, channelIds });
      await publishDefaultChannelGroups(tx, realmId);
    });
  }
}

export interface ChangeDefaultChannelGroupInput {
  readonly groupId: DefaultChannelGroupId;
  readonly name?: string;
  readonly description?: string;
}

/** Changes the name or description of a default channel group (channels §4.14). */
export class ChangeDefaultChannelGroup {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * @throws DomainError CANNOT_MANAGE_DEFAULT_CHANNEL, DEFAULT_CHANNEL_GROUP_CHANGE_REQUIRED,
   * UNKNOWN_DEFAULT_CHANNEL_GROUP, DEFAULT_CHANNEL_GROUP_NAME_UNCHANGED, INVALID_DEFAULT_CHANNEL_GROUP_NAME,
   * DEFAULT_CHANNEL_GROUP_NAME_TAKEN
   */
  execute(caller: Caller, { groupId, name, description }: ChangeDefaultChannelGroupInput): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const group = await loadDefaultChannelGroup(tx, caller, groupId, () => {
        if (name !== undefined || description !== undefined) return;
        throw new DomainError('DEFAULT_CHANNEL_GROUP_CHANGE_REQUIRED', 'Neither a name nor a description is given.');
      });
      await tx.defaultChannelGroups.update({
        ...group,
        name: name === undefined ? group.name : await newName(tx, group, name),
        description: description ?? group.description,
      });
      await publishDefaultChannelGroups(tx, group.realmId);
    });
  }
}

async function newName(tx: Transaction, group: DefaultChannelGroup, typed: string): Promise<string> {
  const name = parseDefaultGroupName(typed);
  if (name === group.name) {
    const text = `This default channel group is already named '${name}'`;
    throw new DomainError('DEFAULT_CHANNEL_GROUP_NAME_UNCHANGED', text);
  }
  const holder = await tx.defaultChannelGroups.findByKey(group.realmId, name);
  if (holder && holder.id !== group.id) throw defaultGroupNameTaken(name);
  return name;
}

export interface ChangeDefaultGroupChannelsInput {
  readonly groupId: DefaultChannelGroupId;
  readonly op: 'add' | 'remove' | 'unknown';
  readonly channelNames: readonly string[];
}

/** Adds channels to or removes them from a default channel group (channels §4.14). */
export class ChangeDefaultGroupChannels {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * @throws DomainError CANNOT_MANAGE_DEFAULT_CHANNEL, UNKNOWN_DEFAULT_CHANNEL_GROUP, UNKNOWN_CHANNEL,
   * DEFAULT_CHANNEL_GROUP_OPERATION_REQUIRED, IS_DEFAULT_CHANNEL, CHANNEL_IN_DEFAULT_GROUP, CHANNEL_NOT_IN_DEFAULT_GROUP,
   * TOO_MANY_CHANNELS_IN_DEFAULT_GROUP
   */
  execute(caller: Caller, { groupId, op, channelNames }: ChangeDefaultGroupChannelsInput): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const group = await loadDefaultChannelGroup(tx, caller, groupId);
      const channels = await listReadableChannels(tx, await tx.actors.get(caller), channelNames);
      if (op === 'unknown') {
        throw new DomainError('DEFAULT_CHANNEL_GROUP_OPERATION_REQUIRED', 'Channels are either added or removed.');
      }
      await tx.defaultChannelGroups.update(
        op === 'add' ? withChannels(group, channels) : withoutChannels(group, channels),
      );
      await publishDefaultChannelGroups(tx, group.realmId);
    });
  }
}

/** Deletes a default channel group but not its channels (channels §4.14). */
export class DeleteDefaultChannelGroup {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError CANNOT_MANAGE_DEFAULT_CHANNEL, UNKNOWN_DEFAULT_CHANNEL_GROUP */
  execute(caller: Caller, { groupId }: { readonly groupId: DefaultChannelGroupId }): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const { id, realmId } = await loadDefaultChannelGroup(tx, caller, groupId);
      await tx.defaultChannelGroups.remove(realmId, id);
      await publishDefaultChannelGroups(tx, realmId);
    });
  }
}
