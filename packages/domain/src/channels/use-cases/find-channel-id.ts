import type { Caller } from '../../shared/caller.js';
import type { ChannelId } from '../../shared/ids.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';
import { loadReadableByName } from '../load-channel.js';

/** The number of a channel that the caller can read and that is in use (channels §4.3). */
export class FindChannelId {
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_CHANNEL, the same for a channel that is hidden as for one that does not exist. */
  execute(caller: Caller, { name }: { readonly name: string }): Promise<ChannelId> {
    return this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      const [channel] = await loadReadableByName(repositories, actor, [name]);
      return channel!.id;
    });
  }
}
