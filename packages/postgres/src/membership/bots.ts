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
import { type Flag, toFlag } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';

export class PostgresBotRepository implements BotRepository {
  private readonly rows;
  private readonly ownedIds;
  private readonly upsert;

  constructor(connection: Connection) {
    this.rows = connection.rows<BotOptionRow>('SELECT * FROM bot_option WHERE bot_id = ANY($1) AND realm_id = $2');
    this.ownedIds = connection.values<UserId>(
      'SELECT id FROM "user" WHERE realm_id = $1 AND bot_owner_id = $2 ORDER BY id',
    );
    this.upsert = connection.command(
      `INSERT INTO bot_option (bot_id, realm_id, events_channel_id, all_public_channels, webhook_url, webhook_interface,
                               webhook_token)
       VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (bot_id) DO UPDATE
       SET events_channel_id = excluded.events_channel_id, all_public_channels = excluded.all_public_channels,
           webhook_url = excluded.webhook_url, webhook_interface = excluded.webhook_interface,
           webhook_token = excluded.webhook_token`,
    );
  }

  async listOptions(realmId: RealmId, botIds: readonly UserId[]): Promise<ReadonlyMap<UserId, BotOptions>> {
    const options = new Map<UserId, BotOptions>(botIds.map((id) => [id, NO_BOT_OPTIONS]));
    for (const row of await this.rows.all([...botIds], realmId)) options.set(row.bot_id, toOptions(row));
    return options;
  }

  async listOwnedIds(realmId: RealmId, ownerId: UserId): Promise<readonly UserId[]> {
    return await this.ownedIds.all(realmId, ownerId);
  }

  async putOptions(realmId: RealmId, botId: UserId, options: BotOptions): Promise<void> {
    const { eventsChannelId, allPublicChannels, webhook } = options;
    this.upsert.defer(
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

const OWN = 'bot_id = $1 AND realm_id = $2';

/** Texts are stored as bytes, because they may contain any character including NUL. */
export class PostgresBotStorageRepository implements BotStorageRepository {
  private readonly usageRow;
  private readonly sizes;
  private readonly values;
  private readonly first;
  private readonly next;
  private readonly upsert;
  private readonly deleteByKey;
  private readonly deleteSome;
  private readonly count;

  constructor(connection: Connection) {
    this.usageRow = connection.rows<StorageUsage>(`SELECT size, keys FROM bot_storage_usage WHERE ${OWN}`);
    this.sizes = connection.rows<Pick<EntryRow, 'key' | 'size'>>(
      `SELECT key, size FROM bot_storage_entry WHERE ${OWN} AND key = ANY($3)`,
    );
    this.values = connection.rows<EntryRow>(`SELECT key, value FROM bot_storage_entry WHERE ${OWN} AND key = ANY($3)`);
    const listed = `SELECT key, value FROM bot_storage_entry WHERE ${OWN}`;
    this.first = connection.rows<EntryRow>(`${listed} ORDER BY key LIMIT $3`);
    this.next = connection.rows<EntryRow>(`${listed} AND key > $3 ORDER BY key LIMIT $4`);
    this.upsert = connection.command(
      `INSERT INTO bot_storage_entry (bot_id, realm_id, key, value, size) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (bot_id, key) DO UPDATE SET value = excluded.value, size = excluded.size`,
    );
    this.deleteByKey = connection.values<number>(
      `DELETE FROM bot_storage_entry WHERE ${OWN} AND key = ANY($3) RETURNING size`,
    );
    this.deleteSome = connection.values<number>(
      `DELETE FROM bot_storage_entry
       WHERE id IN (SELECT id FROM bot_storage_entry WHERE ${OWN} LIMIT $3) RETURNING size`,
    );
    this.count = connection.command(
      `INSERT INTO bot_storage_usage (bot_id, realm_id, size, keys) VALUES ($1, $2, $3, $4)
       ON CONFLICT (bot_id) DO UPDATE 
       SET size = bot_storage_usage.size + excluded.size, keys = bot_storage_usage.keys + excluded.keys`,
    );
  }

  async usage(realmId: RealmId, botId: UserId): Promise<StorageUsage> {
    return (await this.usageRow.get(botId, realmId)) ?? { size: 0, keys: 0 };
  }

  async sizesOf(realmId: RealmId, botId: UserId, keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.sizes.all(botId, realmId, keys.map(toBytes));
    return new Map(rows.map(({ key, size }) => [key.toString(), size]));
  }

  async list(realmId: RealmId, botId: UserId, keys: readonly string[]): Promise<readonly StoredEntry[]> {
    const rows = await this.values.all(botId, realmId, keys.map(toBytes));
    const values = new Map(rows.map(toEntry).map((entry) => [entry.key, entry]));
    return keys.flatMap((key) => values.get(key) ?? []);
  }

  async listAfter(realmId: RealmId, botId: UserId, after: string | null, limit: number) {
    const rows = await (after === null
      ? this.first.all(botId, realmId, limit)
      : this.next.all(botId, realmId, toBytes(after), limit));
    return rows.map(toEntry);
  }

  async put(realmId: RealmId, botId: UserId, entries: readonly MeasuredEntry[]): Promise<void> {
    const sizes = new Map(
      await this.sizesOf(
        realmId,
        botId,
        entries.map(({ key }) => key),
      ),
    );
    const change = { size: 0, keys: 0 };
    for (const { key, value, size } of entries) {
      const before = sizes.get(key);
      change.size += size - (before ?? 0);
      if (before === undefined) change.keys++;
      sizes.set(key, size);
      this.upsert.defer(botId, realmId, toBytes(key), toBytes(value), size);
    }
    this.count.defer(botId, realmId, change.size, change.keys);
  }

  async remove(realmId: RealmId, botId: UserId, keys: readonly string[]): Promise<void> {
    this.countRemoved(realmId, botId, await this.deleteByKey.all(botId, realmId, keys.map(toBytes)));
  }

  async removeSome(realmId: RealmId, botId: UserId, limit: number): Promise<number> {
    const sizes = await this.deleteSome.all(botId, realmId, limit);
    this.countRemoved(realmId, botId, sizes);
    return sizes.length;
  }

  private countRemoved(realmId: RealmId, botId: UserId, sizes: readonly number[]): void {
    if (sizes.length === 0) return;
    this.count.defer(botId, realmId, -sizes.reduce((sum, size) => sum + size, 0), -sizes.length);
  }
}

interface EntryRow {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly size: number;
}

const toBytes = (text: string): Buffer => Buffer.from(text);
const toEntry = ({ key, value }: EntryRow): StoredEntry => ({ key: key.toString(), value: value.toString() });

export class PostgresBotTriggerRepository implements BotTriggerRepository {
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
      `INSERT INTO bot_trigger (bot_id, message_id, realm_id, trigger) VALUES ($1, $2, $3, $4)
       ON CONFLICT DO NOTHING`,
    );
    this.delete = connection.command(`DELETE FROM bot_trigger WHERE ${OWN} AND message_id = $3`);
  }

  async findFirst(realmId: RealmId, botId: UserId): Promise<TriggeredBot | null> {
    const row = await this.first.get(botId, realmId);
    return row ? { botId, messageId: row.message_id, trigger: row.trigger } : null;
  }

  async count(realmId: RealmId, botId: UserId): Promise<number> {
    return (await this.counted.get(botId, realmId))!;
  }

  async add(realmId: RealmId, { botId, messageId, trigger }: TriggeredBot): Promise<void> {
    this.insert.defer(botId, messageId, realmId, trigger);
  }

  async remove(realmId: RealmId, botId: UserId, messageId: MessageId): Promise<void> {
    this.delete.defer(botId, realmId, messageId);
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
    bots: new PostgresBotRepository(connection),
    botStorage: new PostgresBotStorageRepository(connection),
    botTriggers: new PostgresBotTriggerRepository(connection),
  }),
} satisfies PostgresFeature;
