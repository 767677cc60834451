import type { UnitRecord } from '@parley/domain/composition';
import type { TimeSlices } from './time-slices.js';
import type { Cacheability } from './versioned-cache.js';

/** Bound to `?` in order. */
export type Parameter = string | number | null | Uint8Array | readonly (string | number | null | Uint8Array)[];

/** Value that SQLite returns synchronously and PostgreSQL asynchronously. */
export type MaybePromise<T> = T | Promise<T>;

/** Statement that returns rows: SQLite synchronously, PostgreSQL asynchronously. */
export interface Query<Row> {
  get(...parameters: Parameter[]): MaybePromise<Row | undefined>;
  /** Returns the row of a query that always has one, such as an aggregate or an insertion. */
  one(...parameters: Parameter[]): MaybePromise<Row>;
  all(...parameters: Parameter[]): MaybePromise<Row[]>;
  /** Returns rows for callers that may stop early and that run no other statement before. */
  each(...parameters: Parameter[]): MaybePromise<Iterable<Row>>;
}

/** Statement that returns no rows. */
export interface Command {
  run(...parameters: Parameter[]): MaybePromise<Changes>;
  /** Runs the statement before the next one, or before the commit. */
  defer(...parameters: Parameter[]): void;
}

export interface Changes {
  readonly changes: number;
}

/** Connection to either database, for repositories with statements valid in both. */
export interface Statements extends Cacheability, TimeSlices {
  /** Query returning objects with a member per column. */
  rows<Row>(sql: string): Query<Row>;
  /** Query returning the first column. */
  values<Value>(sql: string): Query<Value>;
  /** Query returning arrays with an element per column. */
  tuples<Tuple extends readonly unknown[]>(sql: string): Query<Tuple>;
  command(sql: string): Command;
  readonly dialect: Dialect;
  /** Called by code that changes cached data. */
  disableCaching(): void;
  /** Yields between the slices of a long list within one repository call. */
  yield(): Promise<void>;
  /** Changes of the running unit that are published to others. */
  readonly record: UnitRecord;
  /** Called by operations that must not share an organization with other units. SQLite runs one unit at a time. */
  requireAlone(): void;
}

/** SQL fragments that differ between the databases. */
export interface Dialect {
  /** Condition on a column with a `set` as its parameter. */
  readonly inSet: string;
  set(values: Iterable<number | string | null>): Parameter;
  /** Parameter with the bytes of a text that may contain NUL, which PostgreSQL stores as bytes. */
  readonly anyText: string;
  /** Condition on such a column with a `set` of texts in hexadecimal as its parameter. */
  readonly inAnyTexts: string;
  /** Table of a `set` parameter with the columns `key`, ascending, and `value`. */
  elements(type: 'bigint' | 'text'): string;
  /** Aggregate of an expression as the JSON text of a list. */
  list(expression: string): string;
  /** Table of the elements of a list in a JSON column, with the column `value`. */
  elementsOf(column: string, member: string): string;
  /** Makes SQLite, which has no statistics, use an index of the preceding table. */
  indexedBy(index: string): string;
  /** Clause that skips rows locked by other units. */
  readonly skipLocked: string;
  /** Expression for the next id of a table. */
  nextId(table: string): string;
  /** Id above those of all rows of a table, and at most that of the next one. */
  aboveAllIds(table: string): string;
}

/** @throws Error for a missing row of a query that always has one */
export function present<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new Error('The query returned no row');
  return row;
}

/** Rejected statement. Contains its text but never its parameters, which may be secret. */
export class StatementFailed extends Error {
  /** The database's error code; absent for errors of the driver. */
  readonly code: string | undefined;

  constructor(sql: string, cause: unknown) {
    super(`${(cause as Error).message}: ${sql.replace(/\s+/g, ' ')}`, { cause });
    this.name = 'StatementFailed';
    this.code = (cause as { code?: string }).code;
  }
}
