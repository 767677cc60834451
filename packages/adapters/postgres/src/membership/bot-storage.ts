import type { RealmId, UserId } from '@parley/domain/kernel';
import type { BotStorageRepository, MeasuredEntry, StorageUsage, StoredEntry } from '@parley/domain/membership';
import { BOT_STORAGE_TABLES } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';

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

export const BOT_STORAGE_FEATURE = {
  ...BOT_STORAGE_TABLES,
  notExported: {
    bot_storage_usage: 'Sums are computed from the entries.',
  },
  repositories: () => (connection) => ({ botStorage: new PostgresBotStorageRepository(connection) }),
} satisfies PostgresFeature;
