import type { Caller } from '../../shared/caller.js';
import { DomainError } from '../../shared/errors.js';
import type { ChannelId } from '../../shared/ids.js';
import { trim } from '../../shared/text.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';
import { canReadActive } from '../channel-permissions.js';

/** The number of a channel that the caller can read and that is in use (channels §4.3). */
export class FindChannelId {
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_CHANNEL, the same for a channel that is hidden as for one that does not exist. */
  execute(caller: Caller, { name }: { readonly name: string }): Promise<ChannelId> {
    return this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      const channel = await repositories.channels.findByName(actor.realmId, trim(name));
      const isSubscribed =
        channel !== null && (await repositories.channels.isSubscribed(actor.realmId, channel.id, actor.id));
      if (!channel || !canReadActive(actor, channel, isSubscribed).allowed) {
        throw new DomainError('UNKNOWN_CHANNEL', `Invalid channel name '${name}'`);
      }
      return channel.id;
    });
  }
}
