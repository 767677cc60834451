import type { Caller } from '../../kernel/caller.js';
import type { ChannelId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { getReadableChannel } from '../find-readable-channel.js';

/** The number of a channel that the caller can read and that is in use (channels §4.3). */
export class FindChannelId {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_CHANNEL */
  execute(caller: Caller, { name }: { readonly name: string }): Promise<ChannelId> {
    return this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      return (await getReadableChannel(repositories, actor, name)).id;
    });
  }
}
