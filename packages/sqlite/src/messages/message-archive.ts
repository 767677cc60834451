import type { ChannelId, MessageId, RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { ArchivedMessage, ArchiveSelection, MessageArchive } from '@parley/domain/messages';
import { jsonList, messageTablesOf } from '@parley/storage';
import { type Command, type Connection, LIMIT, type Query } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';

interface Column {
  readonly name: string;
  /** SQL default; null if none. */
  readonly default: string | null;
}

interface Statements {
  readonly keep: Command;
  readonly putBack: readonly Command[];
}

/**
 * Deleted messages as JSON rows of all related tables, by table and column. New columns are archived automatically, and
 * archives from older versions can be restored.
 */
export class SqliteMessageArchive implements MessageArchive {
  private readonly columns: Query<Column>;
  private readonly selected: Query<ArchivedRow>;
  private readonly kept;
  private readonly renewNewest;
  private readonly dropTombstones;
  private readonly drop;
  private readonly purgeOldest;
  /** Created on first use, because they depend on the schema. */
  private statements: Statements | null = null;

  constructor(
    private readonly connection: Connection,
    private readonly tables: readonly string[],
  ) {
    this.columns = connection.rows('SELECT name, dflt_value AS "default" FROM pragma_table_info(?)');
    this.selected = connection.rows(
      `SELECT id, channel_id, deleted_at, deleted_by FROM archived_message
       WHERE realm_id = ? AND id > ? AND id BETWEEN ? AND ? AND channel_id IS coalesce(?, channel_id)
         AND topic_key IS coalesce(?, topic_key) AND deleted_at >= ?
       ORDER BY id ${LIMIT}`,
    );
    this.kept = connection.values<MessageId>(
      `SELECT id FROM archived_message WHERE id IN (SELECT value FROM json_each(?)) AND realm_id = ? ORDER BY id`,
    );
    this.renewNewest = connection.command(
      `UPDATE direct_participant
       SET last_message_id = (SELECT max(m.id) FROM message m WHERE m.recipient_id = direct_participant.recipient_id)
       WHERE recipient_id IN (SELECT recipient_id FROM message WHERE id IN (SELECT value FROM json_each(?)))`,
    );
    this.dropTombstones = [
      connection.command('DELETE FROM removed_message_holder WHERE message_id IN (SELECT value FROM json_each(?))'),
      connection.command('DELETE FROM removed_message WHERE id IN (SELECT value FROM json_each(?))'),
    ];
    this.drop = connection.command('DELETE FROM archived_message WHERE id IN (SELECT value FROM json_each(?))');
    this.purgeOldest = connection.command(
      `DELETE FROM archived_message WHERE id IN (
         SELECT id FROM archived_message INDEXED BY archived_message_by_age WHERE deleted_at < ? ORDER BY deleted_at, id ${LIMIT})`,
    );
  }

  async list(
    realmId: RealmId,
    { messageId, channelId, topicKey, since }: ArchiveSelection,
    after: number,
    limit: number,
  ): Promise<readonly ArchivedMessage[]> {
    const range = [messageId ?? 0, messageId ?? Number.MAX_SAFE_INTEGER];
    return this.selected.all(realmId, after, ...range, channelId, topicKey, since ?? 0, limit).map((row) => ({
      id: row.id,
      channelId: row.channel_id,
      deletedAt: row.deleted_at,
      deletedBy: row.deleted_by,
    }));
  }

  async keep(
    realmId: RealmId,
    ids: readonly MessageId[],
    { deletedAt, deletedBy }: Pick<ArchivedMessage, 'deletedAt' | 'deletedBy'>,
  ): Promise<void> {
    this.prepared().keep.run(deletedAt, deletedBy, jsonList(ids), realmId);
  }

  async restore(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]> {
    const kept = this.kept.all(jsonList(ids), realmId);
    const list = jsonList(kept);
    for (const command of this.prepared().putBack) command.run(list);
    this.renewNewest.run(list);
    for (const command of this.dropTombstones) command.run(list);
    this.drop.run(list);
    return kept;
  }

  async purge(before: UnixSeconds, limit: number): Promise<number> {
    return this.purgeOldest.run(before, limit).changes;
  }

  private prepared(): Statements {
    this.statements ??= this.prepare();
    return this.statements;
  }

  private prepare(): Statements {
    const parts = this.tables.map(
      (table) => `'${table}', (SELECT json_group_array(${this.objectOf(table)}) FROM ${table} WHERE message_id = m.id)`,
    );
    return {
      keep: this.connection.command(
        `INSERT OR REPLACE INTO archived_message (id, realm_id, deleted_at, deleted_by, channel_id, topic_key, rows)
         SELECT m.id, m.realm_id, ?, ?, m.channel_id, m.topic_key,
                json_object('message', json_array(${this.objectOf('message')}), ${parts.join(', ')})
         FROM message m WHERE m.id IN (SELECT value FROM json_each(?)) AND m.realm_id = ?`,
      ),
      putBack: [
        this.putBackInto('message', { version: `(r.value ->> 'version') + 1` }),
        ...this.tables.map((table) => this.putBackInto(table)),
        this.connection.command(
          `INSERT INTO message_search (rowid, terms)
           SELECT id, message_terms(realm_id, sender_id, recipient_id, topic_key, topic, rendered_content)
           FROM message WHERE id IN (SELECT value FROM json_each(?))`,
        ),
      ],
    };
  }

  private objectOf(table: string): string {
    const prefix = table === 'message' ? 'm.' : '';
    return `json_object(${this.columns
      .all(table)
      .map(({ name }) => `'${name}', ${prefix}${name}`)
      .join(', ')})`;
  }

  /** Ignores existing rows, because moves may remain until the deletion event is delivered. */
  private putBackInto(table: string, instead: Readonly<Record<string, string>> = {}): Command {
    const columns = this.columns.all(table);
    const values = columns.map(({ name, default: byDefault }) => {
      const value = instead[name] ?? `r.value ->> '${name}'`;
      return byDefault === null ? value : `coalesce(${value}, ${byDefault})`;
    });
    return this.connection.command(
      `INSERT OR IGNORE INTO ${table} (${columns.map(({ name }) => name).join(', ')})
       SELECT ${values.join(', ')}
       FROM json_each(?) wanted CROSS JOIN archived_message a ON a.id = wanted.value
       CROSS JOIN json_each(a.rows, '$.${table}') r`,
    );
  }
}

interface ArchivedRow {
  readonly id: MessageId;
  readonly channel_id: ChannelId | null;
  readonly deleted_at: UnixSeconds;
  readonly deleted_by: UserId | null;
}

export const MESSAGE_ARCHIVE_FEATURE = {
  repositories: ({ features }) => {
    const tables = messageTablesOf(features);
    return (connection) => ({ archive: new SqliteMessageArchive(connection, tables) });
  },
} satisfies SqliteFeature;
