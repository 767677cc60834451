import { canReadContent, hasFullHistoryAccess } from '../../channels/channel-permissions.js';
import type { Caller } from '../../shared/caller.js';
import { DomainError } from '../../shared/errors.js';
import type { ChannelId } from '../../shared/ids.js';
import { enforce } from '../../shared/permission.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';
import type { TopicSummary } from '../topic-reads.js';

/** The topics of a channel, the one with the newest message first, as far as the caller can read it (channels §5.3). */
export class ListTopics {
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_CHANNEL */
  execute(caller: Caller, { channelId }: { readonly channelId: ChannelId }): Promise<readonly TopicSummary[]> {
    return this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      const channel = await repositories.channels.find(actor.realmId, channelId);
      if (!channel) throw new DomainError('UNKNOWN_CHANNEL', 'Invalid channel ID');
      const isSubscribed = await repositories.channels.isSubscribed(actor.realmId, channelId, actor.id);
      enforce(canReadContent(actor, channel, isSubscribed));
      return hasFullHistoryAccess(actor, channel, isSubscribed)
        ? repositories.topics.listTopics(actor.realmId, channel.recipientId)
        : repositories.topics.listOwnTopics(caller, channel.recipientId);
    });
  }
}
