import { UnitRecord } from '@parley/domain/composition';
import {
  type Dialect,
  jsonList,
  present,
  type Query as SharedQuery,
  StatementFailed,
  type Statements,
} from '@parley/storage';
import type { Database, RunResult, Statement } from 'better-sqlite3';
import { type DeferredTerms, TermsMissing } from './deferred-terms.js';

/** Bound to `?` in order, because the driver treats `?1` as a named parameter. */
export type Parameter = string | number | null | Uint8Array;

/**
 * Parameter for a limit. SQLite plans by the value of a bare `LIMIT ?` and therefore recompiles the statement on each
 * run, which is far slower.
 */
export const LIMIT = 'LIMIT ? + 0';

const DIALECT: Dialect = {
  inSet: 'IN (SELECT value FROM json_each(?))',
  set: jsonList,
  anyText: 'CAST(? AS TEXT)',
  inAnyTexts: 'IN (SELECT CAST(unhex(value) AS TEXT) FROM json_each(?))',
  elements: () => 'json_each(?)',
  list: (expression) => `json_group_array(${expression})`,
  elementsOf: (column, member) => `json_each(${column}, '$.${member}')`,
  indexedBy: (index) => `INDEXED BY ${index}`,
  skipLocked: '',
  nextId: () => 'NULL',
  aboveAllIds: (table) => `(SELECT 1 + coalesce(max(id), 0) FROM ${table})`,
};

/** Name of the search index, which lacks the terms of newer messages. */
const TERMS_TABLE = /\bmessage_search\b/;

/**
 * Hides values of parameters from the query planner by a unary plus, which changes no value. SQLite 3.54 recompiles a
 * statement for each bound value of a table with a partial index.
 */
const withStablePlan = (sql: string): string => sql.replaceAll('?', '+?');

/** Statement that returns rows. Prepared on first use to keep opening a database cheap. */
export class Query<Row> implements SharedQuery<Row> {
  private prepared: Statement<unknown[], Row> | null = null;
  private readonly needsTerms: boolean;

  constructor(
    private readonly connection: Connection,
    private readonly sql: string,
    private readonly shape: 'row' | 'value' | 'tuple',
  ) {
    this.needsTerms = TERMS_TABLE.test(sql);
  }

  get(...parameters: Parameter[]): Row | undefined {
    this.beginRun();
    try {
      return (this.prepared ?? this.prepare()).get(...parameters);
    } catch (error) {
      throw new StatementFailed(this.sql, error);
    }
  }

  one(...parameters: Parameter[]): Row {
    return present(this.get(...parameters));
  }

  all(...parameters: Parameter[]): Row[] {
    this.beginRun();
    try {
      return (this.prepared ?? this.prepare()).all(...parameters);
    } catch (error) {
      throw new StatementFailed(this.sql, error);
    }
  }

  /**
   * Iterates over rows for callers that may stop early. No other statement may run on the connection during the
   * iteration.
   */
  *each(...parameters: Parameter[]): Generator<Row> {
    this.beginRun();
    try {
      yield* (this.prepared ?? this.prepare()).iterate(...parameters);
    } catch (error) {
      throw new StatementFailed(this.sql, error);
    }
  }

  private beginRun(): void {
    this.connection.requireUnit();
    if (this.needsTerms) this.connection.requireTerms();
  }

  private prepare(): Statement<unknown[], Row> {
    if (/LIMIT \?(?! \+)/i.test(this.sql)) throw new Error(`Use LIMIT of connection.ts: ${this.sql}`);
    const statement = this.connection.database.prepare<unknown[], Row>(withStablePlan(this.sql));
    if (this.shape === 'value') statement.pluck();
    if (this.shape === 'tuple') statement.raw();
    this.prepared = statement;
    return statement;
  }
}

/** Statement that returns the number of changes instead of rows. */
export class Command {
  private prepared: Statement<unknown[], unknown> | null = null;

  constructor(
    private readonly connection: Connection,
    private readonly sql: string,
  ) {}

  run(...parameters: Parameter[]): RunResult {
    this.connection.requireUnit();
    try {
      this.prepared ??= this.connection.database.prepare<unknown[], unknown>(withStablePlan(this.sql));
      return this.prepared.run(...parameters);
    } catch (error) {
      throw new StatementFailed(this.sql, error);
    }
  }

  defer(...parameters: Parameter[]): void {
    this.run(...parameters);
  }
}

/**
 * Database connection on which repositories prepare their statements. Statements run only inside a unit of work. A
 * repository kept beyond its unit fails instead of writing outside of it or into another unit.
 */
export class Connection implements Omit<Statements, 'rows' | 'values' | 'tuples'> {
  readonly dialect = DIALECT;
  private state: 'idle' | 'in unit' | 'suspended' | 'retired' = 'idle';
  private mayCache = true;
  private readonly commitsOfOthers: Query<number>;
  /** Value of `PRAGMA data_version` in the current transaction; null if not read yet. */
  private dataVersion: number | null = null;
  private lastDataVersion = 0;
  private lastEpoch = 1;
  private pause: Promise<void> | null = null;
  /** Belongs to the running unit. */
  record = new UnitRecord();
  /** True once the snapshot of a read is known to have all terms, or does without those of the newest messages. */
  hasTerms = false;

  /** @param startSlice yields to the event loop after a long time slice; null within the slice */
  constructor(
    readonly database: Database,
    private readonly startSlice: (connection: Connection) => Promise<void> | null,
    readonly terms: DeferredTerms,
    private readonly isReader: boolean,
  ) {
    this.commitsOfOthers = this.values<number>('PRAGMA data_version');
  }

  /** Concurrent calls of a unit wait for the same turn. Calls outside of a unit fail by themselves. */
  nextSlice(): Promise<void> | null {
    if (this.state === 'in unit') this.pause = this.startSlice(this);
    return this.state === 'in unit' || this.state === 'suspended' ? this.pause : null;
  }

  /** Yields between the slices of a long list within one repository call. */
  async yield(): Promise<void> {
    this.requireUnit();
    await this.nextSlice();
  }

  /** Query returning objects with a member per column. */
  rows<Row>(sql: string): Query<Row> {
    return new Query<Row>(this, sql, 'row');
  }

  /** Query returning the first column. */
  values<Value>(sql: string): Query<Value> {
    return new Query<Value>(this, sql, 'value');
  }

  /** Query returning arrays with an element per column, the fastest form for long lists. */
  tuples<Tuple extends readonly unknown[]>(sql: string): Query<Tuple> {
    return new Query<Tuple>(this, sql, 'tuple');
  }

  command(sql: string): Command {
    return new Command(this, sql);
  }

  enterUnit(): void {
    this.state = 'in unit';
  }

  /** Suspends the connection while the unit yields to the event loop. */
  suspend(): void {
    this.state = 'suspended';
  }

  /** Ends a unit or a batch of units. */
  leaveUnit(): void {
    if (this.state !== 'retired') this.state = 'idle';
    if (!this.mayCache) this.lastEpoch++;
    this.mayCache = true;
    this.dataVersion = null;
  }

  /** Disables the connection permanently, so that repositories of an aborted unit cannot reach the database. */
  retire(): void {
    this.state = 'retired';
  }

  /**
   * Called before the search index is read. A writer adds what is missing.
   * @throws TermsMissing from a reader
   */
  requireTerms(): void {
    if (!this.isReader) this.terms.addAll();
    else if (!this.hasTerms) {
      if (this.terms.areMissing()) throw new TermsMissing();
      this.hasTerms = true;
    }
  }

  /** True if this reader read the search index although newer messages have no terms. */
  get lacksTerms(): boolean {
    return this.isReader && this.hasTerms && this.terms.areMissing();
  }

  requireUnit(): void {
    if (this.state === 'suspended') throw new Error('A repository was used before `yield` resolved');
    if (this.state !== 'in unit') throw new Error('A repository was used after its unit of work ended');
  }

  /**
   * False from the first uncommitted change of cached data until the end of the batch. Data read in between may never
   * be committed and must not be cached.
   */
  get isCacheable(): boolean {
    return this.mayCache;
  }

  /** Changes if values read by earlier transactions may be stale. */
  get epoch(): number {
    if (this.dataVersion === null) {
      this.dataVersion = this.commitsOfOthers.one();
      if (this.dataVersion !== this.lastDataVersion) this.lastEpoch++;
      this.lastDataVersion = this.dataVersion;
    }
    return this.lastEpoch;
  }

  requireAlone(): void {}

  /** Called by code that changes cached data. */
  disableCaching(): void {
    this.mayCache = false;
  }
}

/** Passes a connection to shared repositories. The compiler cannot compare generic methods. */
export const asStatements = (connection: Connection): Statements => connection as object as Statements;
