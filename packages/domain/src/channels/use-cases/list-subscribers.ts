import type { Caller } from '../../kernel/caller.js';
import type { ChannelId, UserId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { canListSubscribers } from '../channel-access.js';
import { loadChannel } from '../load-channel.js';

/** Active users who are subscribed to a channel, archived or not; ascending (channels §4.10). */
export class ListSubscribers {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_CHANNEL */
  execute(caller: Caller, { channelId }: { readonly channelId: ChannelId }): Promise<readonly UserId[]> {
    return this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      await loadChannel(repositories, actor, channelId, canListSubscribers);
      return (await repositories.channels.listSubscribers(actor.realmId, [channelId])).get(channelId)!;
    });
  }
}
