import {
  type ChannelAddressKey,
  type ChannelAddressRepository,
  type ChannelFolder,
  type ChannelFolderRepository,
  folderNameTaken,
} from '@parley/domain/channels';
import { type ChannelFolderId, foldCase, type RealmId, type UnixSeconds, type UserId } from '@parley/domain/kernel';
import { type Flag, toFlag } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { refusingTaken } from '../engine/rows.js';

export class SqliteChannelFolderRepository implements ChannelFolderRepository {
  private readonly row;
  private readonly rowByName;
  private readonly rows;
  private readonly insert;
  private readonly store;

  constructor(connection: Connection) {
    this.row = connection.rows<FolderRow>('SELECT * FROM channel_folder WHERE id = ? AND realm_id = ?');
    this.rowByName = connection.rows<FolderRow>('SELECT * FROM channel_folder WHERE realm_id = ? AND name_key = ?');
    this.rows = connection.rows<FolderRow>('SELECT * FROM channel_folder WHERE realm_id = ? ORDER BY position, id');
    this.insert = connection.values<ChannelFolderId>(
      `INSERT INTO channel_folder (realm_id, name, name_key, description, rendered_description, position, created_at,
                                   creator_id, is_archived)
       VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?) RETURNING id`,
    );
    this.store = connection.command(
      `UPDATE channel_folder SET name = ?, name_key = ?, description = ?, rendered_description = ?, position = ?, is_archived = ?
       WHERE id = ? AND realm_id = ?`,
    );
  }

  async find(realmId: RealmId, id: ChannelFolderId): Promise<ChannelFolder | null> {
    return toFolder(this.row.get(id, realmId));
  }

  async findByName(realmId: RealmId, name: string): Promise<ChannelFolder | null> {
    return toFolder(this.rowByName.get(realmId, foldCase(name)));
  }

  async list(realmId: RealmId): Promise<readonly ChannelFolder[]> {
    return this.rows.all(realmId).map((row) => toFolder(row)!);
  }

  async add(folder: Omit<ChannelFolder, 'id' | 'order'>): Promise<ChannelFolder> {
    const { realmId, name, description, renderedDescription, createdAt, creatorId, isArchived } = folder;
    const id = refusingTaken(folderNameTaken, () =>
      this.insert.get(
        realmId,
        name,
        foldCase(name),
        description,
        renderedDescription,
        createdAt,
        creatorId,
        toFlag(isArchived),
      ),
    )!;
    const added = { ...folder, id, order: id };
    await this.update(added);
    return added;
  }

  async update({
    id,
    realmId,
    name,
    description,
    renderedDescription,
    order,
    isArchived,
  }: ChannelFolder): Promise<void> {
    refusingTaken(folderNameTaken, () =>
      this.store.run(name, foldCase(name), description, renderedDescription, order, toFlag(isArchived), id, realmId),
    );
  }
}

interface FolderRow {
  readonly id: ChannelFolderId;
  readonly realm_id: RealmId;
  readonly name: string;
  readonly description: string;
  readonly rendered_description: string;
  readonly position: number;
  readonly created_at: UnixSeconds;
  readonly creator_id: UserId | null;
  readonly is_archived: Flag;
}

function toFolder(row: FolderRow | undefined): ChannelFolder | null {
  return row
    ? {
        id: row.id,
        realmId: row.realm_id,
        name: row.name,
        description: row.description,
        renderedDescription: row.rendered_description,
        order: row.position,
        createdAt: row.created_at,
        creatorId: row.creator_id,
        isArchived: row.is_archived === 1,
      }
    : null;
}

export class SqliteChannelAddressRepository implements ChannelAddressRepository {
  private readonly token;
  private readonly key;
  private readonly insert;
  private readonly delete;

  constructor(connection: Connection) {
    this.key = connection.rows<ChannelAddressKey>(
      `SELECT realm_id AS realmId, channel_id AS channelId, creator_id AS creatorId, sender_id AS senderId
       FROM channel_address WHERE token = ?`,
    );
    this.delete = connection.command(
      'DELETE FROM channel_address WHERE channel_id = ? AND creator_id = ? AND sender_id = ? AND realm_id = ?',
    );
    this.token = connection.values<string>(
      'SELECT token FROM channel_address WHERE channel_id = ? AND creator_id = ? AND sender_id = ? AND realm_id = ?',
    );
    this.insert = connection.command(
      'INSERT INTO channel_address (channel_id, creator_id, sender_id, realm_id, token) VALUES (?, ?, ?, ?, ?)',
    );
  }

  async findToken({ realmId, channelId, creatorId, senderId }: ChannelAddressKey): Promise<string | null> {
    return this.token.get(channelId, creatorId, senderId, realmId) ?? null;
  }

  async add({ realmId, channelId, creatorId, senderId }: ChannelAddressKey, token: string): Promise<void> {
    this.insert.run(channelId, creatorId, senderId, realmId, token);
  }

  async findByToken(token: string): Promise<ChannelAddressKey | null> {
    return this.key.get(token) ?? null;
  }

  async remove({ realmId, channelId, creatorId, senderId }: ChannelAddressKey): Promise<void> {
    this.delete.run(channelId, creatorId, senderId, realmId);
  }
}

export const CHANNEL_FOLDER_FEATURE = {
  repositories: () => (connection) => ({
    channelAddresses: new SqliteChannelAddressRepository(connection),
    channelFolders: new SqliteChannelFolderRepository(connection),
  }),
} satisfies SqliteFeature;
