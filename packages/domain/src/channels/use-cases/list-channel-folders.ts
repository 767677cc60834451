import type { Caller } from '../../kernel/caller.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { ChannelFolder } from '../channel-folder.js';

/** By order (channels §4.15). */
export class ListChannelFolders {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute(
    caller: Caller,
    { includeArchived }: { readonly includeArchived: boolean },
  ): Promise<readonly ChannelFolder[]> {
    return this.uow.read(async ({ channelFolders }) =>
      (await channelFolders.list(caller.realmId)).filter(({ isArchived }) => includeArchived || !isArchived),
    );
  }
}
