import { type ChannelFolder, type ChannelFolderRepository, folderNameTaken } from '@parley/domain/channels';
import { type ChannelFolderId, foldCase, type RealmId } from '@parley/domain/kernel';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly channelFolders: Map<ChannelFolderId, ChannelFolder>;
  }
}

export class MemoryChannelFolders implements ChannelFolderRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, id: ChannelFolderId): Promise<ChannelFolder | null> {
    return (await this.list(realmId)).find((folder) => folder.id === id) ?? null;
  }

  async findByName(realmId: RealmId, name: string): Promise<ChannelFolder | null> {
    return (await this.list(realmId)).find((folder) => foldCase(folder.name) === foldCase(name)) ?? null;
  }

  async list(realmId: RealmId): Promise<readonly ChannelFolder[]> {
    return [...this.unit.read('channelFolders').values()]
      .filter((folder) => folder.realmId === realmId)
      .sort((a, b) => a.order - b.order || a.id - b.id);
  }

  async add(folder: Omit<ChannelFolder, 'id' | 'order'>): Promise<ChannelFolder> {
    await this.requireFreeName(folder, null);
    const id = this.unit.nextNumber<ChannelFolderId>('channelFolder');
    const added = { ...folder, id, order: id };
    this.unit.change('channelFolders').set(id, added);
    return added;
  }

  async update(folder: ChannelFolder): Promise<void> {
    await this.requireFreeName(folder, folder.id);
    this.unit.change('channelFolders').set(folder.id, folder);
  }

  private async requireFreeName(
    { realmId, name }: Pick<ChannelFolder, 'realmId' | 'name'>,
    except: ChannelFolderId | null,
  ): Promise<void> {
    const holder = await this.findByName(realmId, name);
    if (holder && holder.id !== except) throw folderNameTaken();
  }
}
