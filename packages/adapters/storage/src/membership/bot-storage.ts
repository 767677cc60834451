import type { RealmId, UserId } from '@parley/domain/kernel';
import type { BotStorageRepository, MeasuredEntry, StorageUsage, StoredEntry } from '@parley/domain/membership';
import type { Parameter, Statements } from '../engine/statements.js';

const OWN = 'bot_id = ? AND realm_id = ?';

/** Binds texts as bytes, because they may contain any character including NUL. */
export class SqlBotStorageRepository implements BotStorageRepository {
  private readonly usageRow;
  private readonly sizes;
  private readonly values;
  private readonly first;
  private readonly next;
  private readonly upsert;
  private readonly deleteByKey;
  private readonly deleteSome;
  private readonly count;

  constructor(private readonly statements: Statements) {
    const { anyText, inAnyTexts } = statements.dialect;
    this.usageRow = statements.rows<StorageUsage>(`SELECT size, keys FROM bot_storage_usage WHERE ${OWN}`);
    this.sizes = statements.rows<Pick<EntryRow, 'key' | 'size'>>(
      `SELECT key, size FROM bot_storage_entry WHERE ${OWN} AND key ${inAnyTexts}`,
    );
    const listed = `SELECT key, value FROM bot_storage_entry WHERE ${OWN}`;
    this.values = statements.rows<EntryRow>(`${listed} AND key ${inAnyTexts}`);
    this.first = statements.rows<EntryRow>(`${listed} ORDER BY key LIMIT ? + 0`);
    this.next = statements.rows<EntryRow>(`${listed} AND key > ${anyText} ORDER BY key LIMIT ? + 0`);
    this.upsert = statements.command(
      `INSERT INTO bot_storage_entry (bot_id, realm_id, key, value, size) VALUES (?, ?, ${anyText}, ${anyText}, ?)
       ON CONFLICT (bot_id, key) DO UPDATE SET value = excluded.value, size = excluded.size`,
    );
    this.deleteByKey = statements.values<number>(
      `DELETE FROM bot_storage_entry WHERE ${OWN} AND key ${inAnyTexts} RETURNING size`,
    );
    this.deleteSome = statements.values<number>(
      `DELETE FROM bot_storage_entry
       WHERE id IN (SELECT id FROM bot_storage_entry WHERE ${OWN} LIMIT ? + 0) RETURNING size`,
    );
    this.count = statements.command(
      `INSERT INTO bot_storage_usage (bot_id, realm_id, size, keys) VALUES (?, ?, ?, ?)
       ON CONFLICT (bot_id) DO UPDATE
       SET size = bot_storage_usage.size + excluded.size, keys = bot_storage_usage.keys + excluded.keys`,
    );
  }

  async usage(realmId: RealmId, botId: UserId): Promise<StorageUsage> {
    return (await this.usageRow.get(botId, realmId)) ?? { size: 0, keys: 0 };
  }

  async sizesOf(realmId: RealmId, botId: UserId, keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.sizes.all(botId, realmId, this.keySet(keys));
    return new Map(rows.map(({ key, size }) => [key.toString(), size]));
  }

  async list(realmId: RealmId, botId: UserId, keys: readonly string[]): Promise<readonly StoredEntry[]> {
    const rows = await this.values.all(botId, realmId, this.keySet(keys));
    const entries = new Map(rows.map(toEntry).map((entry) => [entry.key, entry]));
    return keys.flatMap((key) => entries.get(key) ?? []);
  }

  async listAfter(realmId: RealmId, botId: UserId, after: string | null, limit: number) {
    const rows = await (after === null
      ? this.first.all(botId, realmId, limit)
      : this.next.all(botId, realmId, Buffer.from(after), limit));
    return rows.map(toEntry);
  }

  async put(realmId: RealmId, botId: UserId, entries: readonly MeasuredEntry[]): Promise<void> {
    const keys = entries.map(({ key }) => key);
    const sizes = new Map(await this.sizesOf(realmId, botId, keys));
    const change = { size: 0, keys: 0 };
    for (const { key, value, size } of entries) {
      const before = sizes.get(key);
      change.size += size - (before ?? 0);
      if (before === undefined) change.keys++;
      sizes.set(key, size);
      this.upsert.defer(botId, realmId, Buffer.from(key), Buffer.from(value), size);
    }
    this.count.defer(botId, realmId, change.size, change.keys);
  }

  async remove(realmId: RealmId, botId: UserId, keys: readonly string[]): Promise<void> {
    this.countRemoved(realmId, botId, await this.deleteByKey.all(botId, realmId, this.keySet(keys)));
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

  private keySet(keys: readonly string[]): Parameter {
    return this.statements.dialect.set(keys.map((key) => Buffer.from(key).toString('hex')));
  }
}

/** SQLite returns texts; PostgreSQL returns bytes. */
interface EntryRow {
  readonly key: string | Buffer;
  readonly value: string | Buffer;
  readonly size: number;
}

const toEntry = ({ key, value }: EntryRow): StoredEntry => ({ key: key.toString(), value: value.toString() });
