import type { MessageId, RealmId } from '@parley/domain/kernel';
import type { ArchivedMessage } from '@parley/domain/writing';
import { jsonList, messageTablesOf, SqlMessageArchive } from '@parley/storage';
import { asStatements, type Command, type Connection, type Query } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { INSERT_MESSAGE_TERMS } from './conditions.js';

interface Column {
  readonly name: string;
  /** SQL default; null if none. */
  readonly default: string | null;
}

interface Statements {
  readonly keep: Command;
  readonly putBack: readonly Command[];
}

export class SqliteMessageArchive extends SqlMessageArchive {
  private readonly columns: Query<Column>;
  /** Created on first use, because they depend on the schema. */
  private statementsOfSchema: Statements | null = null;

  constructor(
    private readonly connection: Connection,
    private readonly tables: readonly string[],
  ) {
    super(asStatements(connection), 'rows');
    this.columns = connection.rows('SELECT name, dflt_value AS "default" FROM pragma_table_info(?)');
  }

  async keep(
    realmId: RealmId,
    ids: readonly MessageId[],
    { deletedAt, deletedBy }: Pick<ArchivedMessage, 'deletedAt' | 'deletedBy'>,
  ): Promise<void> {
    this.prepared().keep.run(deletedAt, deletedBy, jsonList(ids), realmId);
  }

  protected putBack(ids: readonly MessageId[]): void {
    for (const command of this.prepared().putBack) command.run(jsonList(ids));
  }

  private prepared(): Statements {
    this.statementsOfSchema ??= this.prepare();
    return this.statementsOfSchema;
  }

  private prepare(): Statements {
    // The result of a subquery is text from SQLite 3.54 on, unless json() converts it.
    const parts = this.tables.map(
      (table) =>
        `'${table}', json((SELECT json_group_array(${this.objectOf(table)}) FROM ${table} WHERE message_id = m.id))`,
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
        this.connection.command(INSERT_MESSAGE_TERMS),
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

export const MESSAGE_ARCHIVE_FEATURE = {
  repositories: ({ features }) => {
    const tables = messageTablesOf(features);
    return (connection) => ({ archive: new SqliteMessageArchive(connection, tables) });
  },
} satisfies SqliteFeature;
