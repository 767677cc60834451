import {
  type MessageId,
  type NewRow,
  type RealmRow,
  type RowRules,
  requireFreeKey,
  rowKey,
  type Transaction,
} from '@parley/domain/kernel';
import type { PersonalData } from './personal-data.js';
import type { Quarantine } from './quarantine.js';
import { jsonList, listColumn, snakeCase, toFlag } from './rows.js';
import type { Parameter, Statements } from './statements.js';

/** `ids`, `texts`: JSON lists. `?`: may be null. */
type ColumnType = `${'int' | 'real' | 'flag' | 'text' | 'ids' | 'texts'}${'' | '?'}`;

interface ColumnOptions {
  /** Name, if it is not that of the property in snake case. */
  readonly name?: string;
  /** End of the definition, such as `DEFAULT 0`. */
  readonly sql?: string;
}

type Owner = 'id' | 'realmId' | 'userId';

/**
 * Declaration of a table that also has the columns `id`, `realm_id` and, for rows of users, `user_id`. Its generated
 * statements must never change, because databases record their checksums (ADR 13).
 */
export interface TableDeclaration<Row, Stored> {
  /** Types by property, in column order. The key of a unique property that ignores case gets a column after it. */
  readonly columns: { readonly [Property in keyof Stored]-?: ColumnType | readonly [ColumnType, ColumnOptions] };
  /** Ends of statements, such as `INDEX draft_by_user ON draft (user_id)`. */
  readonly indices?: readonly `${'' | 'UNIQUE '}INDEX ${string}`[];
  /** True if ids of deleted rows may be reused. */
  readonly reusesIds?: true;
  /** Columns added by later steps. */
  readonly addedColumns?: readonly (keyof Stored)[];
  /** Convert rows with properties that differ from the columns. */
  readonly pack?: (row: NewRow<Row & RealmRow>) => Stored;
  readonly unpack?: (stored: Stored & Pick<Row, Owner & keyof Row>, quarantine: Quarantine) => Row;
}

interface Column {
  readonly property: string;
  readonly name: string;
  readonly type: string;
  readonly isOptional: boolean;
  /** Definition. */
  readonly sql: string;
}

type RepositoryClass<Row extends RealmRow, Stored> = new (
  connection: Statements,
  table: Table<Row, Stored>,
  quarantine: Quarantine,
) => SqlRows<Row, Stored>;

/** Table of any declared rows. */
export interface RowTable {
  readonly rules: RowRules;
  readonly columns: readonly Column[];
  /** Statements that create the table. */
  readonly sql: string;
  /** Converts column values by property. */
  unpack(stored: Fields, quarantine: Quarantine): Fields;
  open(connection: Statements, quarantine: Quarantine): object;
}

/** Table of rows that all storages keep by the same rules. */
export class Table<Row extends RealmRow, Stored = Omit<Row, Owner>> implements RowTable {
  readonly name: Lowercase<string>;
  readonly columns: readonly Column[];

  constructor(
    readonly rules: RowRules,
    readonly declaration: TableDeclaration<Row, Stored>,
    private readonly Repository: RepositoryClass<Row, Stored> = SqlRows,
  ) {
    this.name = snakeCase(rules.kind);
    this.columns = Object.entries<ColumnType | readonly [ColumnType, ColumnOptions]>(declaration.columns).map(
      ([property, declared]) => {
        const [type, { name = snakeCase(property), sql = '' }] =
          typeof declared === 'string' ? ([declared, {}] as const) : declared;
        const word = type.replace('?', '');
        const isOptional = word !== type;
        return {
          property,
          name,
          type: word,
          isOptional,
          sql: `${name} {${word}}${isOptional ? '' : ' NOT NULL'} ${sql}`,
        };
      },
    );
  }

  columnOf(property: string): string {
    return this.columns.find((column) => column.property === property)?.name ?? snakeCase(property);
  }

  /** Column with the keys of the unique property; null if there is none. */
  get keyColumn(): string | null {
    const { unique } = this.rules;
    return unique ? `${this.columnOf(unique.property)}${unique.ignoresCase ? '_key' : ''}` : null;
  }

  /** Statements that create the table. */
  get sql(): string {
    const { indices = [], addedColumns = [], reusesIds } = this.declaration;
    const { unique, owner } = this.rules;
    const columns = this.columns
      .filter(({ property }) => !(addedColumns as readonly string[]).includes(property))
      .flatMap(({ property, sql }) =>
        unique?.ignoresCase && unique.property === property ? [sql, `${this.keyColumn} {text} NOT NULL`] : [sql],
      );
    const identity = [reusesIds ? 'id {rowId}' : 'id {id}', 'realm_id {int} NOT NULL REFERENCES realm (id)'];
    if (owner === 'user') identity.push('user_id {int} NOT NULL');
    return `-- expand: a new table.
      CREATE TABLE ${this.name} (${[...identity, ...columns].join(', ')}) {strict};
      ${indices.map((index) => `CREATE ${index};`).join('\n')}`;
  }

  /** Returns the feature that consists of this table, created by the schema step with this number. */
  feature<const Name extends keyof Transaction>(step: number, repository: Name, persons: PersonalData) {
    return {
      schema: this.name,
      steps: { [step]: this.sql },
      realmTables: [this.name],
      persons: { [this.name]: persons },
      rows: { [repository]: this } as object as Readonly<Record<Name, RowTable>>,
    };
  }

  unpack(stored: Fields, quarantine: Quarantine): Fields {
    return (this.declaration.unpack?.(stored as never, quarantine) as Fields | undefined) ?? stored;
  }

  open(connection: Statements, quarantine: Quarantine): object {
    return new this.Repository(connection, this, quarantine);
  }
}

/** Checks of list elements by column type. */
const LISTS: Readonly<Record<string, (element: unknown) => boolean>> = {
  ids: Number.isSafeInteger,
  texts: (element) => typeof element === 'string',
};

const OWN = {
  realm: 'realm_id = ?',
  user: 'realm_id = ? AND user_id = ?',
} as const;

/** Maximum `integer` of PostgreSQL. */
const NO_LIMIT = 2 ** 31 - 1;

type Fields = Record<string, unknown>;
type Decode = (value: never, rowId: number, quarantine: Quarantine) => unknown;

/** Repository of a declared table. Parameters named `owner` are the realm's id and, for rows of users, the user's. */
export class SqlRows<Row extends RealmRow, Stored = Omit<Row, Owner>> {
  /** Columns under the names of their properties. */
  protected readonly selected: string;
  private readonly decoders: readonly (readonly [property: string, decode: Decode])[];
  private readonly owner: readonly string[];
  private readonly byId;
  private readonly byKey;
  private readonly ofOwner;
  private readonly countOfOwner;
  private readonly bytesOfOwner;
  private readonly insert;
  private readonly change;
  private readonly delete;
  private readonly deleteAll;
  private readonly messages;
  private readonly ofMessage;

  constructor(
    protected readonly connection: Statements,
    private readonly table: Table<Row, Stored>,
    private readonly quarantine: Quarantine,
  ) {
    const { name, columns, keyColumn, rules } = table;
    this.owner = rules.owner === 'user' ? ['realmId', 'userId'] : ['realmId'];
    this.decoders = columns.flatMap(({ property, name: column, type }): (readonly [string, Decode])[] => {
      if (type === 'flag') return [[property, (flag) => flag === 1]];
      const isElement = LISTS[type];
      return isElement ? [[property, listColumn(name, column, isElement)]] : [];
    });
    const own = OWN[rules.owner];
    const found = `${OWN[rules.foundBy ?? rules.owner]} AND id = ?`;
    const { hidden } = rules;
    const listed = hidden ? `${own} AND ${table.columnOf(hidden.property)} <> '${hidden.value}'` : own;
    const written = [...columns.map((column) => column.name), ...(rules.unique?.ignoresCase ? [keyColumn!] : [])];
    this.selected = ['id', ...this.owner, ...columns.map(({ property }) => property)]
      .map((property) => `${table.columnOf(property)} AS "${property}"`)
      .join(', ');
    const order = rules.order.map((by) => table.columnOf(by.replace('-', '')) + (by.startsWith('-') ? ' DESC' : ''));
    const sizes = (rules.texts ?? []).map((text) => `octet_length(${table.columnOf(text)})`);
    this.byId = this.select(found);
    const isTaken = rules.unique?.unless === undefined ? '' : ` AND ${table.columnOf(rules.unique.unless)} = 0`;
    this.byKey = keyColumn === null ? null : this.select(`${own} AND ${keyColumn} = ?${isTaken}`);
    this.ofOwner = this.select(`${listed} ORDER BY ${order.join(', ')} LIMIT ? + 0`);
    this.countOfOwner = connection.values<number>(`SELECT count(*) FROM ${name} WHERE ${listed}`);
    this.bytesOfOwner = connection.values<number>(
      `SELECT coalesce(sum(${sizes.join(' + ') || 0}), 0) FROM ${name} WHERE ${listed}`,
    );
    this.insert = connection.values<Row['id']>(
      `INSERT INTO ${name} (id, ${[...this.owner.map(snakeCase), ...written].join(', ')})
       VALUES (coalesce(?, ${connection.dialect.nextId(name)}), ${[...this.owner, ...written].map(() => '?').join(', ')})
       RETURNING id`,
    );
    this.change = connection.command(
      `UPDATE ${name} SET ${written.map((column) => `${column} = ?`).join(', ')} WHERE ${own} AND id = ?`,
    );
    this.delete = connection.command(`DELETE FROM ${name} WHERE ${found}`);
    this.deleteAll = connection.command(`DELETE FROM ${name} WHERE ${own}`);
    const about = rules.message === undefined ? null : table.columnOf(rules.message);
    const { inSet } = connection.dialect;
    this.messages =
      about === null
        ? null
        : connection.values<MessageId>(
            `SELECT DISTINCT ${about} FROM ${name} WHERE realm_id = ? AND ${about} ${inSet} ORDER BY ${about}`,
          );
    this.ofMessage =
      about === null ? null : this.select(`realm_id = ? AND ${about} = ? AND id > ? ORDER BY id LIMIT ? + 0`);
  }

  async find(...ownerAndId: readonly number[]): Promise<Row | null> {
    const row = await this.byId.get(...ownerAndId);
    return row ? this.toRow(row) : null;
  }

  async findByKey(realmId: number, value: string): Promise<Row | null> {
    const row = await this.byKey!.get(realmId, rowKey(this.table.rules.unique!, value));
    return row ? this.toRow(row) : null;
  }

  async list(...ownerAndLimit: readonly (number | undefined)[]): Promise<readonly Row[]> {
    const owner = ownerAndLimit.slice(0, this.owner.length) as number[];
    return (await this.ofOwner.all(...owner, ownerAndLimit[this.owner.length] ?? NO_LIMIT)).map(this.toRow);
  }

  async count(...owner: readonly number[]): Promise<number> {
    return await this.countOfOwner.one(...owner);
  }

  async countBytes(...owner: readonly number[]): Promise<number> {
    return await this.bytesOfOwner.one(...owner);
  }

  async add(row: NewRow<Row>, reserved: Row['id'] | null = null): Promise<Row> {
    await requireFreeKey(this.table.rules, this, row);
    const { place } = this.table.rules;
    const isUnplaced = place !== undefined && (row as Fields)[place] === undefined;
    const placed = isUnplaced ? { ...row, [place]: 0 } : row;
    const id = await this.insert.one(reserved ?? (await this.newId()), ...this.ownerOf(row), ...this.valuesOf(placed));
    const added = { ...row, id, ...(isUnplaced && { [place]: id }) } as Row;
    if (isUnplaced) this.change.defer(...this.valuesOf(added), ...this.ownerOf(added), id);
    return added;
  }

  async update(row: Row): Promise<void> {
    await requireFreeKey(this.table.rules, this, row);
    this.change.defer(...this.valuesOf(row), ...this.ownerOf(row), row.id);
  }

  async remove(...ownerAndId: readonly number[]): Promise<void> {
    this.delete.defer(...ownerAndId);
  }

  async removeAll(...owner: readonly number[]): Promise<void> {
    this.deleteAll.defer(...owner);
  }

  async filterMessages(realmId: number, ids: readonly MessageId[]): Promise<readonly MessageId[]> {
    return this.messages!.all(realmId, this.connection.dialect.set(ids));
  }

  async listOfMessage(...messageAndPage: readonly number[]): Promise<readonly Row[]> {
    return (await this.ofMessage!.all(...messageAndPage)).map(this.toRow);
  }

  /** Overridden if another table assigns the ids. */
  protected async newId(): Promise<number | null> {
    return null;
  }

  /** Returns the query for rows that meet a condition, if given with an index for SQLite. */
  protected select(condition: string, index?: string) {
    const from = `${this.table.name} ${index === undefined ? '' : this.connection.dialect.indexedBy(index)}`;
    return this.connection.rows<Fields>(`SELECT ${this.selected} FROM ${from} WHERE ${condition}`);
  }

  protected readonly toRow = (row: Fields): Row => {
    for (const [property, decode] of this.decoders) {
      const value = row[property];
      if (value !== null) row[property] = decode(value as never, row.id as number, this.quarantine);
    }
    return this.table.unpack(row, this.quarantine) as object as Row;
  };

  private ownerOf(row: NewRow<Row>): readonly number[] {
    return this.owner.map((property) => (row as Fields)[property] as number);
  }

  private valuesOf(row: NewRow<Row>): readonly Parameter[] {
    const { rules, columns, declaration } = this.table;
    const stored = (declaration.pack?.(row as never) ?? row) as Fields;
    const values = columns.map(({ property, type }) => {
      const value = stored[property];
      if (type === 'flag' && value !== null) return toFlag(value as boolean);
      return LISTS[type] && value !== null ? jsonList(value as readonly number[]) : (value as Parameter);
    });
    return rules.unique?.ignoresCase
      ? [...values, rowKey(rules.unique, stored[rules.unique.property] as string)]
      : values;
  }
}
