import type { Caller } from '../../kernel/caller.js';
import type { ChannelId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { canChangeDefaultChannels, canMakeDefault, canStopBeingDefault } from '../channel-permissions.js';
import { loadChannel } from '../load-channel.js';
import { setDefaultChannel } from '../set-default-channel.js';

export interface SetDefaultChannelInput {
  readonly channelId: ChannelId;
  readonly isDefault: boolean;
}

/** Whether newcomers are subscribed to a channel (channels §4.14). Repeating is no error. */
export class SetDefaultChannel {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError CANNOT_MANAGE_DEFAULT_CHANNEL, UNKNOWN_CHANNEL, DEFAULT_CHANNEL_MUST_BE_PUBLIC */
  execute(caller: Caller, { channelId, isDefault }: SetDefaultChannelInput): Promise<void> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(canChangeDefaultChannels(actor));
      const rule = isDefault ? canMakeDefault : canStopBeingDefault;
      const { channel } = await loadChannel(tx, actor, channelId, rule);
      await setDefaultChannel(tx, channel, isDefault);
    });
  }
}
