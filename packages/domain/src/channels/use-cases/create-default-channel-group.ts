import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { canChangeDefaultChannels } from '../channel-permissions.js';
import {
  defaultGroupNameTaken,
  MAX_DEFAULT_CHANNEL_GROUPS,
  parseDefaultGroupName,
  withChannels,
} from '../default-channel-group.js';
import { publishDefaultChannelGroups } from '../default-channel-group-views.js';
import { listReadableChannels } from '../find-readable-channel.js';

export interface CreateDefaultChannelGroupInput {
  readonly name: string;
  readonly description: string;
  readonly channelNames: readonly string[];
}

/** Channels §4.14. */
export class CreateDefaultChannelGroup {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * @throws DomainError CANNOT_MANAGE_DEFAULT_CHANNEL, UNKNOWN_CHANNEL, IS_DEFAULT_CHANNEL,
   * INVALID_DEFAULT_CHANNEL_GROUP_NAME, DEFAULT_CHANNEL_GROUP_NAME_TAKEN, TOO_MANY_DEFAULT_CHANNEL_GROUPS,
   * TOO_MANY_CHANNELS_IN_DEFAULT_GROUP
   */
  execute(caller: Caller, input: CreateDefaultChannelGroupInput): Promise<void> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      const { realmId } = actor;
      enforce(canChangeDefaultChannels(actor));
      const channels = await listReadableChannels(tx, actor, input.channelNames);
      const group = withChannels({ ...input, realmId, channelIds: [] }, channels);
      const name = parseDefaultGroupName(input.name);
      if (await tx.defaultChannelGroups.findByName(realmId, name)) throw defaultGroupNameTaken(name);
      if ((await tx.defaultChannelGroups.list(realmId)).length >= MAX_DEFAULT_CHANNEL_GROUPS) {
        const text = `Too many default channel groups (limit: ${MAX_DEFAULT_CHANNEL_GROUPS}).`;
        throw new DomainError('TOO_MANY_DEFAULT_CHANNEL_GROUPS', text);
      }
      const { description, channelIds } = group;
      await tx.defaultChannelGroups.add({ realmId, name, description, channelIds });
      await publishDefaultChannelGroups(tx, realmId);
    });
  }
}
