import type { ChannelId, MessageId, RealmId, UserId } from '@parley/domain/kernel';
import {
  type BotOptions,
  type BotRepository,
  type BotStorageRepository,
  type MeasuredEntry,
  NO_BOT_OPTIONS,
  type OutgoingWebhook,
  type StorageUsage,
  type StoredEntry,
  WEBHOOK_INTERFACES,
  type WebhookInterface,
} from '@parley/domain/membership';
import type { BotTrigger, BotTriggerRepository, TriggeredBot } from '@parley/domain/messages';
import { type Flag, jsonList, toFlag } from '@parley/storage';
import { type Connection, LIMIT } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';

export class SqliteBotRepository implements BotRepository {
  private readonly rows;
  private readonly ownedIds;
  private readonly upsert;

  constructor(connection: Connection) {
    this.rows = connection.rows<BotOptionRow>(
      'SELECT * FROM bot_option WHERE bot_id IN (SELECT value FROM json_each(?)) AND +realm_id = ?',
    );
    this.ownedIds = connection.values<UserId>(
      'SELECT id FROM user WHERE realm_id = ? AND bot_owner_id = ? ORDER BY id',
    );
    this.upsert = connection.command(
      `INSERT INTO bot_option (bot_id, realm_id, events_channel_id, all_public_channels, webhook_url, webhook_interface,
                               webhook_token)
       VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (bot_id) DO UPDATE
       SET events_channel_id = excluded.events_channel_id, all_public_channels = excluded.all_public_channels,
           webhook_url = excluded.webhook_url, webhook_interface = excluded.webhook_interface,
           webhook_token = excluded.webhook_token`,
    );
  }

  async listOptions(realmId: RealmId, botIds: readonly UserId[]): Promise<ReadonlyMap<UserId, BotOptions>> {
    const options = new Map<UserId, BotOptions>(botIds.map((id) => [id, NO_BOT_OPTIONS]));
    for (const row of this.rows.all(jsonList(botIds), realmId)) options.set(row.bot_id, toOptions(row));
    return options;
  }

  async listOwnedIds(realmId: RealmId, ownerId: UserId): Promise<readonly UserId[]> {
    return this.ownedIds.all(realmId, ownerId);
  }

  async putOptions(realmId: RealmId, botId: UserId, options: BotOptions): Promise<void> {
    const { eventsChannelId, allPublicChannels, webhook } = options;
    this.upsert.run(
      botId,
      realmId,
      eventsChannelId,
      toFlag(allPublicChannels),
      webhook?.url ?? null,
      webhook?.interface ?? null,
      webhook?.token ?? null,
    );
  }
}

interface BotOptionRow {
  readonly bot_id: UserId;
  readonly events_channel_id: ChannelId | null;
  readonly all_public_channels: Flag;
  readonly webhook_url: string | null;
  readonly webhook_interface: string | null;
  readonly webhook_token: string | null;
}

const toOptions = (row: BotOptionRow): BotOptions => ({
  eventsChannelId: row.events_channel_id,
  allPublicChannels: row.all_public_channels === 1,
  webhook: toWebhook(row),
});

/** Replaces an unknown interface by the default. */
function toWebhook({
  webhook_url: url,
  webhook_interface,
  webhook_token: token,
}: BotOptionRow): OutgoingWebhook | null {
  if (url === null || token === null) return null;
  const known = WEBHOOK_INTERFACES.includes(webhook_interface as WebhookInterface);
  return { url, interface: known ? (webhook_interface as WebhookInterface) : 'generic', token };
}

const OWN = 'bot_id = ? AND realm_id = ?';

/** Binds texts one by one instead of as JSON, because they may contain any character including NUL. */
export class SqliteBotStorageRepository implements BotStorageRepository {
  private readonly usageRow;
  private readonly sizeByKey;
  private readonly valueByKey;
  private readonly first;
  private readonly next;
  private readonly upsert;
  private readonly deleteByKey;
  private readonly deleteSome;
  private readonly count;

  constructor(connection: Connection) {
    this.usageRow = connection.rows<StorageUsage>(`SELECT size, keys FROM bot_storage_usage WHERE ${OWN}`);
    this.sizeByKey = connection.values<number>(`SELECT size FROM bot_storage_entry WHERE ${OWN} AND key = ?`);
    this.valueByKey = connection.values<string>(`SELECT value FROM bot_storage_entry WHERE ${OWN} AND key = ?`);
    const listed = `SELECT key, value FROM bot_storage_entry WHERE ${OWN}`;
    this.first = connection.rows<StoredEntry>(`${listed} ORDER BY key ${LIMIT}`);
    this.next = connection.rows<StoredEntry>(`${listed} AND key > ? ORDER BY key ${LIMIT}`);
    this.upsert = connection.command(
      `INSERT INTO bot_storage_entry (bot_id, realm_id, key, value, size) VALUES (?, ?, ?, CAST(? AS TEXT), ?)
       ON CONFLICT (bot_id, key) DO UPDATE SET value = excluded.value, size = excluded.size`,
    );
    this.deleteByKey = connection.values<number>(
      `DELETE FROM bot_storage_entry WHERE ${OWN} AND key = ? RETURNING size`,
    );
    this.deleteSome = connection.values<number>(
      `DELETE FROM bot_storage_entry
       WHERE id IN (SELECT id FROM bot_storage_entry WHERE ${OWN} ${LIMIT}) RETURNING size`,
    );
    this.count = connection.command(
      `INSERT INTO bot_storage_usage (bot_id, realm_id, size, keys) VALUES (?, ?, ?, ?)
       ON CONFLICT (bot_id) DO UPDATE SET size = size + excluded.size, keys = keys + excluded.keys`,
    );
  }

  async usage(realmId: RealmId, botId: UserId): Promise<StorageUsage> {
    return this.usageRow.get(botId, realmId) ?? { size: 0, keys: 0 };
  }

  async sizesOf(realmId: RealmId, botId: UserId, keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>();
    for (const key of keys) {
      const size = this.sizeByKey.get(botId, realmId, key);
      if (size !== undefined) found.set(key, size);
    }
    return found;
  }

  async list(realmId: RealmId, botId: UserId, keys: readonly string[]): Promise<readonly StoredEntry[]> {
    const found: StoredEntry[] = [];
    for (const key of keys) {
      const value = this.valueByKey.get(botId, realmId, key);
      if (value !== undefined) found.push({ key, value });
    }
    return found;
  }

  async listAfter(realmId: RealmId, botId: UserId, after: string | null, limit: number) {
    return after === null ? this.first.all(botId, realmId, limit) : this.next.all(botId, realmId, after, limit);
  }

  /** Binds values as bytes, since the driver converts long texts slowly. */
  async put(realmId: RealmId, botId: UserId, entries: readonly MeasuredEntry[]): Promise<void> {
    const change = { size: 0, keys: 0 };
    for (const entry of entries) {
      const before = this.sizeByKey.get(botId, realmId, entry.key);
      const { key, value, size } = entry;
      change.size += size - (before ?? 0);
      if (before === undefined) change.keys++;
      this.upsert.run(botId, realmId, key, Buffer.from(value), size);
    }
    this.count.run(botId, realmId, change.size, change.keys);
  }

  async remove(realmId: RealmId, botId: UserId, keys: readonly string[]): Promise<void> {
    this.countRemoved(
      realmId,
      botId,
      keys.flatMap((key) => this.deleteByKey.all(botId, realmId, key)),
    );
  }

  async removeSome(realmId: RealmId, botId: UserId, limit: number): Promise<number> {
    const sizes = this.deleteSome.all(botId, realmId, limit);
    this.countRemoved(realmId, botId, sizes);
    return sizes.length;
  }

  private countRemoved(realmId: RealmId, botId: UserId, sizes: readonly number[]): void {
    if (sizes.length === 0) return;
    this.count.run(botId, realmId, -sizes.reduce((sum, size) => sum + size, 0), -sizes.length);
  }
}

export class SqliteBotTriggerRepository implements BotTriggerRepository {
  private readonly first;
  private readonly counted;
  private readonly insert;
  private readonly delete;

  constructor(connection: Connection) {
    this.first = connection.rows<TriggerRow>(
      `SELECT message_id, trigger FROM bot_trigger WHERE ${OWN} ORDER BY message_id LIMIT 1`,
    );
    this.counted = connection.values<number>(`SELECT count(*) FROM bot_trigger WHERE ${OWN}`);
    this.insert = connection.command(
      'INSERT OR IGNORE INTO bot_trigger (bot_id, message_id, realm_id, trigger) VALUES (?, ?, ?, ?)',
    );
    this.delete = connection.command(`DELETE FROM bot_trigger WHERE ${OWN} AND message_id = ?`);
  }

  async findFirst(realmId: RealmId, botId: UserId): Promise<TriggeredBot | null> {
    const row = this.first.get(botId, realmId);
    return row ? { botId, messageId: row.message_id, trigger: row.trigger } : null;
  }

  async count(realmId: RealmId, botId: UserId): Promise<number> {
    return this.counted.get(botId, realmId)!;
  }

  async add(realmId: RealmId, { botId, messageId, trigger }: TriggeredBot): Promise<void> {
    this.insert.run(botId, messageId, realmId, trigger);
  }

  async remove(realmId: RealmId, botId: UserId, messageId: MessageId): Promise<void> {
    this.delete.run(botId, realmId, messageId);
  }
}

interface TriggerRow {
  readonly message_id: MessageId;
  readonly trigger: BotTrigger;
}

export const BOT_FEATURE = {
  schema: 'bots',
  realmTables: ['bot_storage_entry', 'bot_storage_usage', 'bot_option', 'bot_trigger'],
  notExported: {
    bot_storage_usage: 'Sums are computed from the entries.',
    bot_trigger: 'The server that queued messages for bots delivers them.',
  },
  repositories: () => (connection) => ({
    bots: new SqliteBotRepository(connection),
    botStorage: new SqliteBotStorageRepository(connection),
    botTriggers: new SqliteBotTriggerRepository(connection),
  }),
} satisfies SqliteFeature;
