import type { NewUserRow, RealmId, UserId, UserRow, UserRowRules, UserRows } from '@parley/domain/kernel';
import type { StorageFeature } from './feature.js';
import type { Quarantine } from './quarantine.js';
import { jsonList, listColumn, snakeCase, toFlag } from './rows.js';
import type { Parameter, Statements } from './statements.js';

/** `ids`: JSON list of ids. `?`: may be null. */
type ColumnType = `${'int' | 'real' | 'flag' | 'text' | 'ids'}${'' | '?'}`;

/**
 * Table of per-user rows, which also has the columns `id`, `realm_id` and `user_id`. Its generated statements must
 * never change, because databases record their checksums (ADR 13).
 */
export interface UserTable<Row extends UserRow, Stored> {
  /** Number of the schema step that creates the table; 1 is the baseline. */
  readonly step: number;
  /** Types by property, in column order; columns have the same names in snake case. */
  readonly columns: { readonly [Property in keyof Stored]-?: ColumnType };
  /** Columns by index name. */
  readonly indices?: Readonly<Record<string, string>>;
  readonly uniqueIndices?: Readonly<Record<string, string>>;
  /** True if ids of deleted rows may be reused. */
  readonly reusesIds?: true;
  /** Later steps, such as `ALTER TABLE draft ADD COLUMN note {text}`, and the columns added by them. */
  readonly laterSteps?: Readonly<Record<number, string>>;
  readonly addedColumns?: readonly (keyof Stored)[];
  /** Convert rows with properties that differ from the columns. */
  readonly pack?: (row: NewUserRow<Row>) => Stored;
  readonly unpack?: (stored: Stored & Pick<Row, keyof UserRow>) => Row;
}

/** Declares the table and the repository of per-user rows. */
export function userRows<const Name extends string, Row extends UserRow, Stored = Omit<Row, keyof UserRow>>(
  repository: Name,
  rules: UserRowRules,
  table: UserTable<Row, Stored>,
) {
  const name = snakeCase(rules.kind);
  return {
    schema: name,
    steps: { [table.step]: createTable(name, table), ...table.laterSteps },
    realmTables: [name],
    repositories:
      ({ quarantine }) =>
      (connection) =>
        ({ [repository]: new SqlUserRows(connection, name, rules, table, quarantine) }) as object as Record<
          Name,
          UserRows<Row>
        >,
  } satisfies StorageFeature;
}

function createTable<Row extends UserRow, Stored>(name: string, table: UserTable<Row, Stored>): string {
  const { columns, addedColumns = [], indices = {}, uniqueIndices = {}, reusesIds } = table;
  const lines = [
    reusesIds ? 'id {rowId}' : 'id {id}',
    'realm_id {int} NOT NULL REFERENCES realm (id)',
    'user_id {int} NOT NULL',
    ...Object.entries<ColumnType>(columns)
      .filter(([property]) => !addedColumns.includes(property as keyof Stored))
      .map(
        ([property, type]) =>
          `${snakeCase(property)} {${type.replace('?', '}')}${type.endsWith('?') ? '' : '} NOT NULL'}`,
      ),
  ];
  return [
    '-- expand: a new table.',
    `CREATE TABLE ${name} (${lines.join(', ')}) {strict};`,
    ...Object.entries(indices).map(([index, on]) => `CREATE INDEX ${index} ON ${name} (${on});`),
    ...Object.entries(uniqueIndices).map(([index, on]) => `CREATE UNIQUE INDEX ${index} ON ${name} (${on});`),
  ].join('\n');
}

interface Column {
  readonly property: string;
  readonly name: string;
  encode(value: unknown): Parameter;
  decode(value: unknown, rowId: number): unknown;
}

function columnOf(table: string, property: string, type: ColumnType, quarantine: Quarantine): Column {
  const name = snakeCase(property);
  const isFlag = type.startsWith('flag');
  const readIds = type.startsWith('ids') ? listColumn<number>(table, name, Number.isSafeInteger) : null;
  return {
    property,
    name,
    encode(value) {
      if (value === null) return null;
      if (isFlag) return toFlag(value as boolean);
      return readIds ? jsonList(value as readonly number[]) : (value as Parameter);
    },
    decode(value, rowId) {
      if (value === null) return null;
      if (isFlag) return value === 1;
      return readIds ? readIds(value as string, rowId, quarantine) : value;
    },
  };
}

const OWN = 'user_id = ? AND realm_id = ?';

/** Maximum `integer` of PostgreSQL. */
const NO_LIMIT = 2 ** 31 - 1;

interface StoredRow {
  readonly id: number;
  readonly realm_id: RealmId;
  readonly user_id: UserId;
  readonly [column: string]: unknown;
}

class SqlUserRows<Row extends UserRow, Stored> implements UserRows<Row> {
  private readonly columns: readonly Column[];
  private readonly byId;
  private readonly ofUser;
  private readonly countOfUser;
  private readonly bytesOfUser;
  private readonly insert;
  private readonly change;
  private readonly delete;
  private readonly deleteAll;

  constructor(
    connection: Statements,
    name: string,
    { order, texts }: UserRowRules,
    private readonly table: UserTable<Row, Stored>,
    quarantine: Quarantine,
  ) {
    this.columns = Object.entries<ColumnType>(table.columns).map(([property, type]) =>
      columnOf(name, property, type, quarantine),
    );
    const names = this.columns.map((column) => column.name);
    const sorted = order.map((by) => (by.startsWith('-') ? `${snakeCase(by.slice(1))} DESC` : snakeCase(by)));
    const sizes = texts.map((text) => `octet_length(${snakeCase(text)})`);
    this.byId = connection.rows<StoredRow>(`SELECT * FROM ${name} WHERE id = ? AND ${OWN}`);
    this.ofUser = connection.rows<StoredRow>(
      `SELECT * FROM ${name} WHERE ${OWN} ORDER BY ${sorted.join(', ')} LIMIT ? + 0`,
    );
    this.countOfUser = connection.values<number>(`SELECT count(*) FROM ${name} WHERE ${OWN}`);
    this.bytesOfUser = connection.values<number>(
      `SELECT coalesce(sum(${sizes.join(' + ') || 0}), 0) FROM ${name} WHERE ${OWN}`,
    );
    this.insert = connection.values<Row['id']>(
      `INSERT INTO ${name} (id, realm_id, user_id, ${names.join(', ')})
       VALUES (coalesce(?, ${connection.dialect.nextId(name)}), ?, ?, ${names.map(() => '?').join(', ')}) RETURNING id`,
    );
    this.change = connection.command(
      `UPDATE ${name} SET ${names.map((column) => `${column} = ?`).join(', ')} WHERE id = ? AND ${OWN}`,
    );
    this.delete = connection.command(`DELETE FROM ${name} WHERE id = ? AND ${OWN}`);
    this.deleteAll = connection.command(`DELETE FROM ${name} WHERE ${OWN}`);
  }

  async find(realmId: RealmId, userId: UserId, id: Row['id']): Promise<Row | null> {
    const row = await this.byId.get(id, userId, realmId);
    return row ? this.toRow(row) : null;
  }

  async list(realmId: RealmId, userId: UserId, limit = NO_LIMIT): Promise<readonly Row[]> {
    return (await this.ofUser.all(userId, realmId, limit)).map((row) => this.toRow(row));
  }

  async count(realmId: RealmId, userId: UserId): Promise<number> {
    return (await this.countOfUser.get(userId, realmId))!;
  }

  async countBytes(realmId: RealmId, userId: UserId): Promise<number> {
    return (await this.bytesOfUser.get(userId, realmId))!;
  }

  async add(row: NewUserRow<Row>, reserved: Row['id'] | null = null): Promise<Row> {
    const { realmId, userId } = row;
    const id = (await this.insert.get(reserved, realmId, userId, ...this.valuesOf(row)))!;
    return { ...row, id } as Row;
  }

  async update(row: Row): Promise<void> {
    this.change.defer(...this.valuesOf(row), row.id, row.userId, row.realmId);
  }

  async remove(realmId: RealmId, userId: UserId, id: Row['id']): Promise<void> {
    this.delete.defer(id, userId, realmId);
  }

  async removeAll(realmId: RealmId, userId: UserId): Promise<void> {
    this.deleteAll.defer(userId, realmId);
  }

  private valuesOf(row: NewUserRow<Row>): readonly Parameter[] {
    const stored = (this.table.pack?.(row) ?? row) as Readonly<Record<string, unknown>>;
    return this.columns.map(({ property, encode }) => encode(stored[property]));
  }

  private toRow(row: StoredRow): Row {
    const stored: Record<string, unknown> = { id: row.id, realmId: row.realm_id, userId: row.user_id };
    for (const { property, name, decode } of this.columns) stored[property] = decode(row[name], row.id);
    return (this.table.unpack?.(stored as Stored & Pick<Row, keyof UserRow>) ?? stored) as Row;
  }
}
