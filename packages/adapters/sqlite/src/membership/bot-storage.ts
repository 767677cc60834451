import type { RealmId, UserId } from '@parley/domain/kernel';
import type { BotStorageRepository, MeasuredEntry, StorageUsage, StoredEntry } from '@parley/domain/membership';
import { BOT_STORAGE_TABLES } from '@parley/storage';
import { type Connection, LIMIT } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';

const OWN = 'bot_id = ? AND realm_id = ?';

/**
 * Binds texts one by one instead of as JSON, because they may contain any character including NUL. Separate from
 * PostgreSQL's, which stores bytes for the same reason and reads all keys in one statement.
 */
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

export const BOT_STORAGE_FEATURE = {
  ...BOT_STORAGE_TABLES,
  notExported: {
    bot_storage_usage: 'Sums are computed from the entries.',
  },
  repositories: () => (connection) => ({ botStorage: new SqliteBotStorageRepository(connection) }),
} satisfies SqliteFeature;
