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
import type { PostgresFeature } from '../engine/feature.js';

export class PostgresChannelFolderRepository implements ChannelFolderRepository {
  private readonly row;
  private readonly rowByName;
  private readonly rows;
  private readonly insert;
  private readonly store;

  constructor(connection: Connection) {
    this.row = connection.rows<FolderRow>('SELECT * FROM channel_folder WHERE id = $1 AND realm_id = $2');
    this.rowByName = connection.rows<FolderRow>('SELECT * FROM channel_folder WHERE realm_id = $1 AND name_key = $2');
    this.rows = connection.rows<FolderRow>('SELECT * FROM channel_folder WHERE realm_id = $1 ORDER BY position, id');
    this.insert = connection.values<ChannelFolderId>(
      `INSERT INTO channel_folder (realm_id, name, name_key, description, rendered_description, position, created_at,
                                   creator_id, is_archived)
       VALUES ($1, $2, $3, $4, $5, 0, $6, $7, $8)
       ON CONFLICT (realm_id, name_key) DO NOTHING RETURNING id`,
    );
    this.store = connection.command(
      `UPDATE channel_folder SET name = $1, name_key = $2, description = $3, rendered_description = $4, position = $5, is_archived = $6
       WHERE id = $7 AND realm_id = $8 AND NOT EXISTS (
         SELECT 1 FROM channel_folder o WHERE o.realm_id = $8 AND o.name_key = $2 AND o.id <> $7)`,
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

export class PostgresChannelAddressRepository implements ChannelAddressRepository {
  private readonly token;
  private readonly key;
  private readonly insert;
  private readonly delete;

  constructor(connection: Connection) {
    this.key = connection.rows<ChannelAddressKey>(
      `SELECT realm_id AS "realmId", channel_id AS "channelId", creator_id AS "creatorId", sender_id AS "senderId"
       FROM channel_address WHERE token = $1`,
    );
    this.delete = connection.command(
      'DELETE FROM channel_address WHERE channel_id = $1 AND creator_id = $2 AND sender_id = $3 AND realm_id = $4',
    );
    this.token = connection.values<string>(
      'SELECT token FROM channel_address WHERE channel_id = $1 AND creator_id = $2 AND sender_id = $3 AND realm_id = $4',
    );
    this.insert = connection.command(
      'INSERT INTO channel_address (channel_id, creator_id, sender_id, realm_id, token) VALUES ($1, $2, $3, $4, $5)',
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
    channelAddresses: new PostgresChannelAddressRepository(connection),
    channelFolders: new PostgresChannelFolderRepository(connection),
  }),
} satisfies PostgresFeature;
