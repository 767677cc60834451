import { wholeRealm } from '../../kernel/audience.js';
import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { ChannelFolderId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { TextRenderer } from '../../markdown/text-renderer.js';
import { type ChannelFolder, folderNameTaken, loadFolder, parseFolderName } from '../channel-folder.js';
import type { ChannelFolderChange } from '../channel-folder-events.js';
import { canManageFolders } from '../channel-permissions.js';

/** What is absent stays as it is. */
export interface ChangeChannelFolderInput {
  readonly folderId: ChannelFolderId;
  readonly name?: string;
  readonly description?: string;
  readonly isArchived?: boolean;
}

/** What a folder is called and like, and whether it is in use (channels §4.15). What stays the same causes no event. */
export class ChangeChannelFolder {
  static readonly inject = ['unitOfWork', 'textRenderer'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly descriptions: TextRenderer,
  ) {}

  /**
   * @throws DomainError MUST_BE_ADMINISTRATOR, UNKNOWN_CHANNEL_FOLDER, INVALID_CHANNEL_FOLDER_NAME,
   * CHANNEL_FOLDER_NAME_TAKEN, UNRENDERABLE_CONTENT, CHANNEL_FOLDER_IN_USE
   */
  async execute(caller: Caller, { folderId, name, description, isArchived }: ChangeChannelFolderInput): Promise<void> {
    const parsed = description === undefined ? null : await this.descriptions.parse(caller.realmId, description);
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(canManageFolders(actor));
      const folder = await loadFolder(tx, actor.realmId, folderId);
      const changes: ChannelFolderChange[] = [];
      if (name !== undefined && name !== folder.name) changes.push({ name: await newName(tx, folder, name) });
      if (parsed !== null && parsed.text !== folder.description) {
        const renderedDescription = await this.descriptions.render(tx, actor.realmId, actor, parsed);
        changes.push({ description: parsed.text, renderedDescription });
      }
      if (isArchived !== undefined && isArchived !== folder.isArchived) {
        if (isArchived && (await tx.channels.hasChannelsInFolder(actor.realmId, folderId))) {
          const text = 'You need to remove all the channels from this folder to archive it.';
          throw new DomainError('CHANNEL_FOLDER_IN_USE', text);
        }
        changes.push({ isArchived });
      }
      if (changes.length === 0) return;
      await tx.channelFolders.update(Object.assign({}, folder, ...changes));
      for (const change of changes) {
        await tx.events.append(actor.realmId, {
          event: { type: 'channel_folder.changed', folderId, change },
          audience: wholeRealm,
        });
      }
    });
  }
}

/** Sic: another spelling of its own name is taken, too. */
async function newName(tx: Transaction, folder: ChannelFolder, typed: string): Promise<string> {
  const name = parseFolderName(typed);
  if (await tx.channelFolders.findByName(folder.realmId, name)) throw folderNameTaken();
  return name;
}
