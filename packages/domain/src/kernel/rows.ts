import type { DomainError } from './errors.js';
import type { CoveredIds, IdKind, ImportIds } from './export-parts.js';
import type { MessageId, RealmId, UserId } from './ids.js';
import type { Shape } from './shape.js';
import { foldCase } from './text.js';
import type { Transaction } from './unit-of-work.js';

/** Row of an organization's list, such as a playground. */
export interface RealmRow {
  readonly id: number;
  readonly realmId: RealmId;
}

/** Row that belongs to one user, such as a draft. */
export interface UserRow extends RealmRow {
  readonly userId: UserId;
}

export type NewRow<Row extends RealmRow> = Omit<Row, 'id'> & Pick<Row, 'realmId'>;

/** Changes of rows of either owner. Every implementation passes rows.contract.ts. */
interface RowWrites<Row extends RealmRow, New> {
  /**
   * `id` is unused and was reserved by `copies.raiseIds`.
   * @throws DomainError of the unique rule
   */
  add(row: New, id?: Row['id'] | null): Promise<Row>;
  /**
   * Replaces all properties except id and owner. Has no effect on a missing row.
   * @throws DomainError of the unique rule
   */
  update(row: Row): Promise<void>;
}

export interface RealmRowReads<Row extends RealmRow> {
  /** Returns null for rows of other realms. */
  find(realmId: RealmId, id: Row['id']): Promise<Row | null>;
  /** Returns the row with this value of the unique property, or null. Ignores rows that free their value. */
  findByKey(realmId: RealmId, key: string): Promise<Row | null>;
  /** Returns the realm's rows in the order of `RowRules`. */
  list(realmId: RealmId): Promise<readonly Row[]>;
  count(realmId: RealmId): Promise<number>;
}

/** `Optional`: the property of `RowRules.place`. */
export interface RealmRows<Row extends RealmRow, Optional extends keyof Row = never>
  extends RealmRowReads<Row>,
    RowWrites<Row, Omit<NewRow<Row>, Optional> & Partial<Pick<Row, Optional>>> {
  /** Has no effect on a missing row. */
  remove(realmId: RealmId, id: Row['id']): Promise<void>;
}

export interface UserRowReads<Row extends UserRow> {
  /** Returns null for rows of other realms and users. */
  find(realmId: RealmId, userId: UserId, id: Row['id']): Promise<Row | null>;
  /** Returns at most `limit` rows of the user in the order of `RowRules`; all by default. */
  list(realmId: RealmId, userId: UserId, limit?: number): Promise<readonly Row[]>;
  count(realmId: RealmId, userId: UserId): Promise<number>;
  /** Total size of the user's `texts` in UTF-8 bytes. */
  countBytes(realmId: RealmId, userId: UserId): Promise<number>;
}

export interface UserRows<Row extends UserRow> extends UserRowReads<Row>, RowWrites<Row, NewRow<Row>> {
  /** Has no effect on a missing row. */
  remove(realmId: RealmId, userId: UserId, id: Row['id']): Promise<void>;
  /** Removes all rows of the user. */
  removeAll(realmId: RealmId, userId: UserId): Promise<void>;
}

/** Rows of users that also jobs find, by their id alone. */
export type FoundUserRowReads<Row extends UserRow> = Omit<UserRowReads<Row>, 'find'> & Pick<RealmRowReads<Row>, 'find'>;
export type FoundUserRows<Row extends UserRow> = Omit<UserRows<Row>, 'find' | 'remove'> &
  Pick<RealmRows<Row>, 'find' | 'remove'>;

/** Any text for `RowRules` of any row. */
type PropertyOf<Row extends RealmRow> = RealmRow extends Row ? string : keyof Row & string;

/** Rows about messages, of all owners. */
export interface RowsOfMessages<Row extends RealmRow> {
  /** Returns those of the messages that have rows, ascending. */
  filterMessages(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]>;
  /** Returns the oldest `limit` rows about the message, with ids above `after`. */
  listOfMessage(realmId: RealmId, id: MessageId, after: number, limit: number): Promise<readonly Row[]>;
}

/** Rules that all storages follow for the rows of one feature. */
export interface RowRules<Row extends RealmRow = RealmRow> {
  /** Kind of id. The SQL table has the same name in snake case. */
  readonly kind: string;
  readonly owner: 'realm' | 'user';
  /** Owner that finds and removes rows, if not `owner`. */
  readonly foundBy?: 'realm';
  /** Properties by which `list` sorts; `-` means descending. Texts sort by code points. */
  readonly order: readonly `${'' | '-'}${PropertyOf<Row>}`[];
  /** Properties that `countBytes` counts. */
  readonly texts?: readonly PropertyOf<Row>[];
  /** Value of rows that lists and counts omit. */
  readonly hidden?: { readonly property: PropertyOf<Row>; readonly value: string };
  readonly unique?: UniqueRule<PropertyOf<Row>>;
  /** Property that new rows without it get from their id. */
  readonly place?: PropertyOf<Row>;
  /** Property with the id of a message, by which `RowsOfMessages` finds the rows. */
  readonly message?: PropertyOf<Row>;
  /** Present if exports contain the rows. */
  readonly exported?: ExportedRows<Row>;
}

/** Form of rows in exports, from which their part is derived. */
export interface ExportedRows<Row extends RealmRow> {
  /** Kind of the ids, if not that of `RowRules`. */
  readonly idKind?: IdKind;
  /** Name of a row in errors. */
  readonly noun: string;
  readonly shape: { readonly [K in Exclude<keyof Row, keyof UserRow>]: Shape<unknown> };
  /** Maximum number of rows in a copy. */
  readonly max: number;
  /** True if the rows name channels, so that they are added after them. */
  readonly namesChannels?: true;
  /** Returns the part of a row that exports of this scope contain, or null; the whole row by default. */
  covered?(row: Row, covered: CoveredIds): Row | null;
  /** Returns properties with ids and texts of this server. */
  imported?(row: Row, ids: ImportIds): Partial<Row>;
  /** Called after an import added the row. */
  added?(tx: Transaction, row: Row): Promise<void>;
  /** Returns texts of this server once it has all objects that they name, or null without a change. */
  rewritten?(row: Row, rewriter: ImportIds['rewriter']): Partial<Row> | null;
}

/** Property with a different value in each row of a realm. */
export interface UniqueRule<Property extends string> {
  readonly property: Property;
  readonly ignoresCase?: true;
  /** Flag of rows that free their value for others. */
  readonly unless?: Property;
  taken(value: string): DomainError;
}

/** Returns the value under which a row with this value of the unique property is found. */
export const rowKey = ({ ignoresCase }: UniqueRule<string>, value: string): string =>
  ignoresCase ? foldCase(value) : value;

/** Called by all storages before a row is added or updated, in units that exclude each other. */
export async function requireFreeKey(
  { unique }: RowRules,
  rows: Pick<RealmRowReads<RealmRow>, 'findByKey'>,
  row: Omit<RealmRow, 'id'> & { readonly id?: number },
): Promise<void> {
  const fields = row as object as Readonly<Record<string, unknown>>;
  if (!unique || (unique.unless !== undefined && fields[unique.unless])) return;
  const value = fields[unique.property] as string;
  const holder = await rows.findByKey(row.realmId, value);
  if (holder && holder.id !== row.id) throw unique.taken(value);
}
