import type { ChannelAddressKey, ChannelAddressRepository } from '@parley/domain/channels';
import type { Connection } from '../engine/connection.js';

export class SqliteChannelAddressRepository implements ChannelAddressRepository {
  private readonly token;
  private readonly insert;

  constructor(connection: Connection) {
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
}
