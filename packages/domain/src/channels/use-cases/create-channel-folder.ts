import { wholeRealm } from '../../kernel/audience.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { ChannelFolderId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { TextRenderer } from '../../markdown/text-renderer.js';
import { folderNameTaken, MAX_CHANNEL_FOLDERS, parseFolderName } from '../channel-folder.js';
import { canManageFolders } from '../channel-permissions.js';

export interface CreateChannelFolderInput {
  readonly name: string;
  readonly description: string;
}

/** Channels §4.15. */
export class CreateChannelFolder {
  static readonly inject = ['unitOfWork', 'textRenderer', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly descriptions: TextRenderer,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError MUST_BE_ADMINISTRATOR, INVALID_CHANNEL_FOLDER_NAME, CHANNEL_FOLDER_NAME_TAKEN,
   * TOO_MANY_CHANNEL_FOLDERS, UNRENDERABLE_CONTENT
   */
  async execute(caller: Caller, { name: typed, description }: CreateChannelFolderInput): Promise<ChannelFolderId> {
    const parsed = await this.descriptions.parse(caller.realmId, description);
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      const { realmId } = actor;
      enforce(canManageFolders(actor));
      const name = parseFolderName(typed);
      if (await tx.channelFolders.findByName(realmId, name)) throw folderNameTaken();
      if ((await tx.channelFolders.list(realmId)).length >= MAX_CHANNEL_FOLDERS) {
        const text = `Too many channel folders (limit: ${MAX_CHANNEL_FOLDERS}).`;
        throw new DomainError('TOO_MANY_CHANNEL_FOLDERS', text);
      }
      const folder = await tx.channelFolders.add({
        realmId,
        name,
        description,
        renderedDescription: await this.descriptions.render(tx, actor.realmId, actor, parsed),
        createdAt: this.clock.now(),
        creatorId: actor.id,
        isArchived: false,
      });
      await tx.events.append(realmId, { event: { type: 'channel_folder.created', folder }, audience: wholeRealm });
      return folder.id;
    });
  }
}
