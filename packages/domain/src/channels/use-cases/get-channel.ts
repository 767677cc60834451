import type { Caller } from '../../kernel/caller.js';
import type { ChannelId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { ChannelView } from '../channel.js';
import { canSeeMetadata } from '../channel-access.js';
import { loadChannel } from '../load-channel.js';

/** One channel, archived or not (channels §4.2). */
export class GetChannel {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_CHANNEL */
  execute(caller: Caller, { channelId }: { readonly channelId: ChannelId }): Promise<ChannelView> {
    return this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      await loadChannel(repositories, actor, channelId, canSeeMetadata);
      const [view] = await repositories.channels.listViews(actor.realmId, [channelId]);
      return view!;
    });
  }
}
