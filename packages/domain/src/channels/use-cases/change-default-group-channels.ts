import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { DefaultChannelGroupId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { withChannels, withoutChannels } from '../default-channel-group.js';
import { publishDefaultChannelGroups } from '../default-channel-group-views.js';
import { listReadableChannels } from '../find-readable-channel.js';
import { loadDefaultChannelGroup } from '../load-default-channel-group.js';

export interface ChangeDefaultGroupChannelsInput {
  readonly groupId: DefaultChannelGroupId;
  readonly op: 'add' | 'remove' | 'unknown';
  readonly channelNames: readonly string[];
}

/** Which channels a group has (channels §4.14). */
export class ChangeDefaultGroupChannels {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * @throws DomainError CANNOT_MANAGE_DEFAULT_CHANNEL, UNKNOWN_DEFAULT_CHANNEL_GROUP, UNKNOWN_CHANNEL,
   * DEFAULT_CHANNEL_GROUP_OPERATION_REQUIRED, IS_DEFAULT_CHANNEL, CHANNEL_IN_DEFAULT_GROUP, CHANNEL_NOT_IN_DEFAULT_GROUP,
   * TOO_MANY_CHANNELS_IN_DEFAULT_GROUP
   */
  execute(caller: Caller, { groupId, op, channelNames }: ChangeDefaultGroupChannelsInput): Promise<void> {
    return this.uow.write(async (tx) => {
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
