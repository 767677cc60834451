import type { Caller } from '../../kernel/caller.js';
import type { ChannelId, UserId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { loadUser } from '../../users/load-user.js';
import { canSeeActive } from '../channel-access.js';
import { loadChannel } from '../load-channel.js';

export interface GetSubscriptionStatusInput {
  readonly userId: UserId;
  readonly channelId: ChannelId;
}

/** Whether somebody is subscribed to a channel that is in use and that the caller sees (channels §4.10). */
export class GetSubscriptionStatus {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_USER, NAMED_USER_DEACTIVATED, NOT_PERMITTED, UNKNOWN_CHANNEL */
  execute(caller: Caller, { userId, channelId }: GetSubscriptionStatusInput): Promise<boolean> {
    return this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      await loadUser(repositories, actor, userId, { allowBots: true });
      await loadChannel(repositories, actor, channelId, canSeeActive);
      return repositories.channels.isSubscribed(actor.realmId, channelId, userId);
    });
  }
}
