import {
  type ChannelAddressKey,
  type ChannelAddressRepository,
  type ChannelFolder,
  type ChannelFolderRepository,
  folderNameTaken,
} from '@parley/domain/channels';
import { type ChannelFolderId, foldCase, type RealmId, type UnixSeconds, type UserId } from '@parley/domain/kernel';
import type { StorageFeature } from '../engine/feature.js';
import { type Flag, toFlag } from '../engine/rows.js';
import type { Statements } from '../engine/statements.js';

export class SqlChannelFolderRepository implements ChannelFolderRepository {
  private readonly row;
  private readonly rowByName;
  private readonly rows;
  private readonly insert;
  private readonly store;

  constructor(connection: Statements) {
    this.row = connection.rows<FolderRow>('SELECT * FROM channel_folder WHERE id = ? AND realm_id = ?');
    this.rowByName = connection.rows<FolderRow>('SELECT * FROM channel_folder WHERE realm_id = ? AND name_key = ?');
    this.rows = connection.rows<FolderRow>('SELECT * FROM channel_folder WHERE realm_id = ? ORDER BY position, id');
    this.insert = connection.values<ChannelFolderId>(
      `INSERT INTO channel_folder (realm_id, name, name_key, description, rendered_description, position, created_at,
                                   creator_id, is_archived)
       VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?)
       ON CONFLICT (realm_id, name_key) DO NOTHING RETURNING id`,
    );
    this.store = connection.command(
      `UPDATE channel_folder SET name = ?, name_key = ?, description = ?, rendered_description = ?, position = ?, is_archived = ?
       WHERE id = ? AND realm_id = ? AND NOT EXISTS (
         SELECT 1 FROM channel_folder o WHERE o.realm_id = ? AND o.name_key = ? AND o.id <> ?)`,
    );
  }

  async find(realmId: RealmId, id: ChannelFolderId): Promise<ChannelFolder | null> {
    return toFolder(await this.row.get(id, realmId));
  }

  async findByName(realmId: RealmId, name: string): Promise<ChannelFolder | null> {
    return toFolder(await this.rowByName.get(realmId, foldCase(name)));
  }

  async list(realmId: RealmId): Promise<readonly ChannelFolder[]> {
    return (await this.rows.all(realmId)).map((row) => toFolder(row)!);
  }

  async add(folder: Omit<ChannelFolder, 'id' | 'order'>): Promise<ChannelFolder> {
    const { realmId, name, description, renderedDescription, createdAt, creatorId, isArchived } = folder;
    const id = await this.insert.get(
      realmId,
      name,
      foldCase(name),
      description,
      renderedDescription,
      createdAt,
      creatorId,
      toFlag(isArchived),
    );
    if (id === undefined) throw folderNameTaken();
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
    const key = foldCase(name);
    const { changes } = await this.store.run(
      name,
      key,
      description,
      renderedDescription,
      order,
      toFlag(isArchived),
      id,
      realmId,
      realmId,
      key,
      id,
    );
    if (changes === 0 && (await this.rowByName.get(realmId, key))) throw folderNameTaken();
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

export class SqlChannelAddressRepository implements ChannelAddressRepository {
  private readonly token;
  private readonly key;
  private readonly insert;
  private readonly delete;

  constructor(connection: Statements) {
    this.key = connection.rows<ChannelAddressKey>(
      `SELECT realm_id AS "realmId", channel_id AS "channelId", creator_id AS "creatorId", sender_id AS "senderId"
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
    return (await this.token.get(channelId, creatorId, senderId, realmId)) ?? null;
  }

  async add({ realmId, channelId, creatorId, senderId }: ChannelAddressKey, token: string): Promise<void> {
    this.insert.defer(channelId, creatorId, senderId, realmId, token);
  }

  async findByToken(token: string): Promise<ChannelAddressKey | null> {
    return (await this.key.get(token)) ?? null;
  }

  async remove({ realmId, channelId, creatorId, senderId }: ChannelAddressKey): Promise<void> {
    this.delete.defer(channelId, creatorId, senderId, realmId);
  }
}

export const CHANNEL_FOLDER_FEATURE = {
  repositories: () => (connection) => ({
    channelAddresses: new SqlChannelAddressRepository(connection),
    channelFolders: new SqlChannelFolderRepository(connection),
  }),
} satisfies StorageFeature;
