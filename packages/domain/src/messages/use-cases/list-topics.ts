import {
  canReadContent,
  canSpectateChannel,
  hasFullHistoryAccess,
  unknownChannel,
  type WebPublicOption,
} from '../../channels/channel-access.js';
import { loadChannel } from '../../channels/load-channel.js';
import { enterAsSpectator, type Spectator } from '../../channels/spectators.js';
import type { Caller } from '../../kernel/caller.js';
import type { ChannelId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { TopicSummary } from '../topic-reads.js';

/** The topics of a channel, the one with the newest message first, as far as the caller can read it (channels §5.3). */
export class ListTopics {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_CHANNEL */
  execute(caller: Caller, { channelId }: { readonly channelId: ChannelId }): Promise<readonly TopicSummary[]> {
    return this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      const { channel, isSubscribed } = await loadChannel(repositories, actor, channelId, canReadContent);
      return hasFullHistoryAccess(actor, channel, isSubscribed)
        ? repositories.topics.listTopics(actor.realmId, channel.recipientId)
        : repositories.topics.listOwnTopics(caller, channel.recipientId);
    });
  }
}

/** Those of a web-public channel, without logging in (protocol §9). */
export class SpectateTopics {
  static readonly inject = ['unitOfWork', 'serverChannelConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly option: WebPublicOption,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, UNAUTHENTICATED, UNKNOWN_CHANNEL */
  execute(spectator: Spectator, { channelId }: { readonly channelId: ChannelId }): Promise<readonly TopicSummary[]> {
    return this.uow.read(async (repositories) => {
      const { realm, spectators } = await enterAsSpectator(repositories, spectator, this.option);
      const channel = await repositories.channels.find(realm.id, channelId);
      enforce(channel ? canSpectateChannel(realm, channel, spectators) : unknownChannel);
      return repositories.topics.listTopics(realm.id, channel!.recipientId);
    });
  }
}
