import type { Caller } from '../../kernel/caller.js';
import type { ChannelId, UserId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { loadUser } from '../../users/load-user.js';
import { hasMetadataAccess } from '../channel-access.js';

/** What somebody is subscribed to, archived channels too, of what the caller sees; ascending (channels §4.10). */
export class ListUserChannels {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_USER, NAMED_USER_DEACTIVATED, NOT_PERMITTED */
  execute(caller: Caller, { userId }: { readonly userId: UserId }): Promise<readonly ChannelId[]> {
    return this.uow.read(async (repositories) => {
      const { channels } = repositories;
      const actor = await repositories.actors.get(caller);
      await loadUser(repositories, actor, userId, { allowBots: true });
      const subscribed = await channels.list(actor.realmId, await channels.listSubscribedIds(actor.realmId, userId));
      const own = new Set(await channels.listSubscribedIds(actor.realmId, actor.id));
      return subscribed.filter((channel) => hasMetadataAccess(actor, channel, own.has(channel.id))).map(({ id }) => id);
    });
  }
}
