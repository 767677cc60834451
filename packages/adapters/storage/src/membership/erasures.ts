import type { MessageId, RealmId } from '@parley/domain/kernel';
import {
  ERASURE_ROWS,
  type Erasure,
  type FormerIdentity,
  type MentionRemoval,
  type PersonalDataRepository,
  type TableCursor,
  type TableStep,
} from '@parley/domain/membership';
import { Table } from '../engine/declared-rows.js';
import type { FeatureTables } from '../engine/feature.js';
import type { PersonalData } from '../engine/personal-data.js';
import { PAST } from '../engine/personal-data.js';
import type { Dialect, MaybePromise, Parameter, Query, Statements } from '../engine/statements.js';
import { EDIT_NOT_HELD, holdOfCopy, messageHeld } from '../messages/held-condition.js';

const ERASURES = new Table<Erasure>(ERASURE_ROWS, {
  columns: {
    personId: 'int',
    requestedAt: 'int',
    endedAt: 'int?',
    removedRows: 'int',
    changedTexts: 'int',
    everythingWritten: 'flag',
    heldTexts: 'int',
  },
  indices: ['INDEX erasure_by_realm ON erasure (realm_id, id)'],
  addedColumns: ['everythingWritten', 'heldTexts'],
}).feature(43, 'erasures', { data: 'Erasures of people', fate: PAST, keep: { 'Ids without text.': ['person_id'] } });

const EVERYTHING_WRITTEN = `
-- expand: existing erasures kept the messages.
ALTER TABLE erasure ADD COLUMN everything_written {flag} NOT NULL DEFAULT 0;
`;

const HELD_TEXTS = `
-- expand: existing erasures met no holds.
ALTER TABLE erasure ADD COLUMN held_texts {int} NOT NULL DEFAULT 0;
`;

export const ERASURE_TABLES = {
  ...ERASURES,
  steps: { ...ERASURES.steps, 49: EVERYTHING_WRITTEN, 57: HELD_TEXTS },
} satisfies FeatureTables;

/** Statements that differ between the databases. */
export interface PersonalDataDialect {
  /** Statement that returns a table's primary key columns in order. */
  readonly keyColumns: string;
  /** Function that returns the position of a text in another one; 0 if it does not occur. */
  readonly position: string;
  /** Gives messages a new version and their present search terms. */
  renewMessages(ids: readonly MessageId[]): MaybePromise<unknown>;
}

/** Table with rows to delete. */
interface Erased {
  readonly table: string;
  /** Condition with `{id}`, `{email}` and `{realm}`. */
  readonly condition: string;
}

/** Table with an id and texts that may mention a person. */
interface Mentioning {
  readonly table: string;
  readonly columns: readonly string[];
}

export class SqlPersonalData implements PersonalDataRepository {
  private readonly erased: readonly Erased[];
  private readonly mentioning: readonly Mentioning[];
  private readonly keyColumns;

  constructor(
    private readonly statements: Statements,
    private readonly dialect: PersonalDataDialect,
    persons: Readonly<Record<string, PersonalData>>,
  ) {
    const all = Object.entries(persons);
    this.erased = all.flatMap(([table, { erase }]) => (erase === undefined ? [] : { table, condition: erase }));
    this.mentioning = all.flatMap(([table, { mentions }]) => (mentions ? { table, columns: mentions } : []));
    this.keyColumns = statements.values<string>(dialect.keyColumns);
  }

  async removeSome(
    realmId: RealmId,
    { id, email }: Pick<FormerIdentity, 'id' | 'email'>,
    from: TableCursor | null,
    limit: number,
  ): Promise<TableStep> {
    this.statements.disableCaching();
    const values: Readonly<Record<string, Parameter>> = { id, email, realm: realmId };
    const start = Math.max(
      0,
      this.erased.findIndex(({ table }) => table === from?.table),
    );
    let count = 0;
    for (const { table, condition } of this.erased.slice(start)) {
      const keys = (await this.keyColumns.all(table)).join(', ');
      const parameters = [...condition.matchAll(/\{(\w+)\}/g)].map(([, name]) => values[name!]!);
      const remove = this.statements.command(
        `DELETE FROM ${table} WHERE (${keys}) IN (
           SELECT ${keys} FROM ${table} WHERE ${condition.replace(/\{\w+\}/g, '?')} LIMIT ? + 0)`,
      );
      count += (await remove.run(...parameters, limit - count)).changes;
      if (count >= limit) return { count, held: 0, next: { table, key: [] } };
    }
    return { count, held: 0, next: null };
  }

  async replaceSome(
    realmId: RealmId,
    removal: MentionRemoval,
    from: TableCursor | null,
    limit: number,
  ): Promise<TableStep> {
    const at = Math.max(
      0,
      this.mentioning.findIndex(({ table }) => table === from?.table),
    );
    const { table, columns } = this.mentioning[at]!;
    const found = columns.flatMap((column) => removal.hints.map(() => `${this.dialect.position}(${column}, ?) > 0`));
    const rows = await this.statements
      .tuples<readonly [id: number, isFound: 0 | 1]>(
        `SELECT id, CASE WHEN realm_id = ? AND (${found.join(' OR ')}) THEN 1 ELSE 0 END
         FROM ${table} WHERE id > ? ORDER BY id LIMIT ? + 0`,
      )
      .all(realmId, ...columns.flatMap(() => removal.hints), (from?.key[0] as number | undefined) ?? 0, limit);
    const ids = rows.flatMap(([id, isFound]) => (isFound === 1 ? [id] : []));
    const { count, held } = await this.replaceIn(realmId, removal, this.mentioning[at]!, 'id', ids);
    const last = rows.at(-1)?.[0];
    if (rows.length >= limit) return { count, held, next: { table, key: [last!] } };
    const following = this.mentioning[at + 1];
    return { count, held, next: following ? { table: following.table, key: [] } : null };
  }

  async replaceInMessages(realmId: RealmId, removal: MentionRemoval, ids: readonly MessageId[]): Promise<number> {
    let count = 0;
    for (const mentioning of this.mentioning) {
      const by = { message: 'id', message_edit: 'message_id' }[mentioning.table];
      if (by) count += (await this.replaceIn(realmId, removal, mentioning, by, ids)).count;
    }
    return count;
  }

  /** Changes the texts of rows with these values of the column, except held ones. Returns the numbers of both. */
  private async replaceIn(
    realmId: RealmId,
    removal: MentionRemoval,
    { table, columns }: Mentioning,
    by: string,
    ids: readonly number[],
  ): Promise<{ readonly count: number; readonly held: number }> {
    if (ids.length === 0) return { count: 0, held: 0 };
    const { dialect } = this.statements;
    const messageId = { message: 'id', message_edit: 'message_id' }[table] ?? 'NULL';
    const isHeld = heldRow(table, dialect);
    const rows: Query<readonly [id: number, messageId: MessageId | null, isHeld: 0 | 1, ...texts: (string | null)[]]> =
      this.statements.tuples(
        `SELECT id, ${messageId}, CASE WHEN ${isHeld} THEN 1 ELSE 0 END, ${columns.join(', ')} FROM ${table} WHERE ${by} ${dialect.inSet} AND +realm_id = ?`,
      );
    const update = this.statements.command(
      `UPDATE ${table} SET ${columns.map((column) => `${column} = ?`).join(', ')} WHERE id = ? AND realm_id = ?`,
    );
    const messageIds = new Set<MessageId>();
    let count = 0;
    let held = 0;
    for (const [id, message, isHeld, ...texts] of await rows.all(dialect.set(ids), realmId)) {
      const replaced = removal.replace(texts);
      if (replaced.every((text, n) => text === texts[n])) continue;
      if (isHeld === 1) {
        held++;
        continue;
      }
      await update.run(...replaced, id, realmId);
      if (message !== null) messageIds.add(message);
      count++;
    }
    if (messageIds.size > 0) {
      this.statements.disableCaching();
      await this.dialect.renewMessages([...messageIds]);
    }
    return { count, held };
  }
}

/** Condition that a hold keeps the row of the table unchanged. */
function heldRow(table: string, dialect: Dialect): string {
  switch (table) {
    case 'message':
      return messageHeld('message');
    case 'message_edit':
      return `NOT ${EDIT_NOT_HELD}`;
    case 'archived_message':
      return `${holdOfCopy(dialect, 'archived_message')} IS NOT NULL`;
    default:
      return '1 = 0';
  }
}
