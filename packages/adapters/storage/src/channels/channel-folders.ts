import {
  CHANNEL_FOLDER_ROWS,
  type ChannelAddressKey,
  type ChannelAddressRepository,
  type ChannelFolder,
} from '@parley/domain/channels';
import type { RealmId, UserId } from '@parley/domain/kernel';
import { Table } from '../engine/declared-rows.js';
import type { StorageFeature } from '../engine/feature.js';
import type { Statements } from '../engine/statements.js';

export const CHANNEL_FOLDER_TABLE = new Table<ChannelFolder>(CHANNEL_FOLDER_ROWS, {
  columns: {
    name: 'text',
    description: 'text',
    renderedDescription: 'text',
    order: ['int', { name: 'position' }],
    createdAt: 'int',
    creatorId: 'int?',
    isArchived: 'flag',
  },
  indices: ['UNIQUE INDEX channel_folder_by_name ON channel_folder (realm_id, name_key)'],
});

export class SqlChannelAddressRepository implements ChannelAddressRepository {
  private readonly token;
  private readonly key;
  private readonly insert;
  private readonly delete;
  private readonly deleteOfSender;

  constructor(connection: Statements) {
    this.key = connection.rows<ChannelAddressKey>(
      `SELECT realm_id AS "realmId", channel_id AS "channelId", creator_id AS "creatorId", sender_id AS "senderId"
       FROM channel_address WHERE token = ?`,
    );
    this.delete = connection.command(
      'DELETE FROM channel_address WHERE channel_id = ? AND creator_id = ? AND sender_id = ? AND realm_id = ?',
    );
    this.deleteOfSender = connection.command('DELETE FROM channel_address WHERE sender_id = ? AND realm_id = ?');
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

  async removeOfSender(realmId: RealmId, senderId: UserId): Promise<void> {
    this.deleteOfSender.defer(senderId, realmId);
  }
}

export const CHANNEL_FOLDER_FEATURE = {
  rows: { channelFolders: CHANNEL_FOLDER_TABLE },
  repositories: () => (connection) => ({ channelAddresses: new SqlChannelAddressRepository(connection) }),
} satisfies StorageFeature;
