import { wholeRealm } from '../../kernel/audience.js';
import type { Caller } from '../../kernel/caller.js';
import type { ChannelFolderId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { folderOrder } from '../channel-folder.js';
import { canManageFolders } from '../channel-permissions.js';

/** The order in which everybody sees folders (channels §4.15). */
export class ReorderChannelFolders {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR, INVALID_FOLDER_ORDER */
  execute(caller: Caller, { folderIds }: { readonly folderIds: readonly ChannelFolderId[] }): Promise<void> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(canManageFolders(actor));
      const folders = await tx.channelFolders.list(actor.realmId);
      const order = folderOrder(folders, folderIds);
      for (const folder of folders) {
        const place = order.get(folder.id)!;
        if (place !== folder.order) await tx.channelFolders.update({ ...folder, order: place });
      }
      await tx.events.append(actor.realmId, {
        event: { type: 'channel_folder.reordered', folderIds },
        audience: wholeRealm,
      });
    });
  }
}
