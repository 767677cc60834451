import { UnitRecord } from '@parley/domain/composition';
import type { Database, RunResult, Statement } from 'better-sqlite3';

/** Bound to `?` in order: the driver takes `?1` for a name. */
export type Parameter = string | number | null | Uint8Array;

/**
 * A limit that is a parameter. SQLite looks at the value behind a bare `LIMIT ?` to plan by it, and therefore plans such a
 * statement anew each time it runs, which costs ten times what most of ours take.
 */
export const LIMIT = 'LIMIT ? + 0';

/** The database refused a statement. Says which; never with what parameters, which may be secret. */
export class StatementFailed extends Error {
  /** SQLite's own name for it, such as `SQLITE_CONSTRAINT_UNIQUE`; absent where the driver refused. */
  readonly code: string | undefined;

  constructor(sql: string, cause: unknown) {
    super(`${(cause as Error).message}: ${sql.replace(/\s+/g, ' ')}`, { cause });
    this.name = 'StatementFailed';
    this.code = (cause as { code?: string }).code;
  }
}

/** Statements that see, or change, what a batch of units leaves to its end. */
const DEFERRED_TABLE = /\bmessage_search\b/;

/** A statement that answers rows. Prepared when first used: opening a database costs nothing for what is never asked. */
export class Query<Row> {
  private prepared: Statement<unknown[], Row> | null = null;
  private readonly isOfDeferredTable: boolean;

  constructor(
    private readonly connection: Connection,
    private readonly sql: string,
    private readonly shape: 'row' | 'value' | 'tuple',
  ) {
    this.isOfDeferredTable = DEFERRED_TABLE.test(sql);
  }

  get(...parameters: Parameter[]): Row | undefined {
    this.beginRun();
    try {
      return (this.prepared ?? this.prepare()).get(...parameters);
    } catch (error) {
      throw new StatementFailed(this.sql, error);
    }
  }

  all(...parameters: Parameter[]): Row[] {
    this.beginRun();
    try {
      return (this.prepared ?? this.prepare()).all(...parameters);
    } catch (error) {
      throw new StatementFailed(this.sql, error);
    }
  }

  /** Row by row, for who may not want all of them. No other statement of the connection may run in between. */
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
    if (this.isOfDeferredTable) this.connection.batchEnd.write();
  }

  private prepare(): Statement<unknown[], Row> {
    if (/LIMIT \?(?! \+)/i.test(this.sql)) throw new Error(`Use LIMIT of connection.ts: ${this.sql}`);
    const statement = this.connection.database.prepare<unknown[], Row>(this.sql);
    if (this.shape === 'value') statement.pluck();
    if (this.shape === 'tuple') statement.raw();
    this.prepared = statement;
    return statement;
  }
}

/** A statement that answers nothing but what it changed. */
export class Command {
  private prepared: Statement<unknown[], unknown> | null = null;
  private readonly isOfDeferredTable: boolean;

  constructor(
    private readonly connection: Connection,
    private readonly sql: string,
  ) {
    this.isOfDeferredTable = DEFERRED_TABLE.test(sql);
  }

  run(...parameters: Parameter[]): RunResult {
    this.connection.requireUnit();
    if (this.isOfDeferredTable) this.connection.batchEnd.write();
    try {
      this.prepared ??= this.connection.database.prepare<unknown[], unknown>(this.sql);
      return this.prepared.run(...parameters);
    } catch (error) {
      throw new StatementFailed(this.sql, error);
    }
  }
}

/**
 * Rows that the units of a batch leave to its end, in their transaction but outside of savepoints: at every savepoint
 * FTS5 writes what it has gathered to its tables, and merges that with what is there, which costs several times what a
 * message does otherwise. Statements that name the table see the rows all the same: they are written before.
 */
export class BatchEnd {
  /** By statement, then by id. */
  private readonly rows = new Map<string, Map<number, readonly unknown[]>>();
  private readonly statements = new Map<string, Statement>();

  constructor(private readonly database: Database) {}

  /**
   * Leaves a row to a statement whose one parameter is a JSON list of rows. It may be run several times, and for rows of units
   * that have failed: it passes over what is written already, and over what it belongs to but is not there.
   */
  add(sql: string, id: number, row: readonly unknown[]): void {
    const rows = this.rows.get(sql);
    if (rows) rows.set(id, row);
    else this.rows.set(sql, new Map([[id, row]]));
  }

  write(): void {
    for (const [sql, rows] of this.rows) this.statementOf(sql).run(JSON.stringify([...rows.values()]));
  }

  clear(): void {
    this.rows.clear();
  }

  private statementOf(sql: string): Statement {
    const known = this.statements.get(sql);
    if (known) return known;
    const statement = this.database.prepare(sql);
    this.statements.set(sql, statement);
    return statement;
  }
}

/**
 * One connection to the database, on which repositories make their statements: a prepared statement belongs to one
 * connection. Statements run only within a unit of work. A repository that somebody kept beyond its unit therefore fails,
 * instead of writing on its own or into somebody else's unit.
 */
export class Connection {
  private state: 'idle' | 'in unit' | 'suspended' | 'retired' = 'idle';
  private mayCache = true;
  /** Belongs to the unit that runs. */
  record = new UnitRecord();

  /** `yieldNow` lets the event loop turn if it was held for long. */
  constructor(
    readonly database: Database,
    private readonly yieldNow: (connection: Connection) => Promise<void>,
    /** Of whoever writes; for readers it stays empty. */
    readonly batchEnd = new BatchEnd(database),
  ) {}

  /** For repositories that work through a list which may be long: the unit's own `yield`. */
  yield(): Promise<void> {
    return this.yieldNow(this);
  }

  /** Answers objects, one member a column. */
  rows<Row>(sql: string): Query<Row> {
    return new Query<Row>(this, sql, 'row');
  }

  /** Answers the first column only. */
  values<Value>(sql: string): Query<Value> {
    return new Query<Value>(this, sql, 'value');
  }

  /** Answers arrays, one element a column: the quickest form for long lists. */
  tuples<Tuple extends readonly unknown[]>(sql: string): Query<Tuple> {
    return new Query<Tuple>(this, sql, 'tuple');
  }

  command(sql: string): Command {
    return new Command(this, sql);
  }

  enterUnit(): void {
    this.state = 'in unit';
  }

  /** For as long as the unit lets the event loop turn. */
  suspend(): void {
    this.state = 'suspended';
  }

  /** Ends a unit, or a batch of them. */
  leaveUnit(): void {
    if (this.state !== 'retired') this.state = 'idle';
    this.mayCache = true;
  }

  /** For good: repositories in the hands of a unit that was given up must not reach the database any more. */
  retire(): void {
    this.state = 'retired';
  }

  requireUnit(): void {
    if (this.state === 'suspended') throw new Error('A repository was used before its `yield` had answered');
    if (this.state !== 'in unit') throw new Error('A repository was used after its unit of work had ended');
  }

  /**
   * False from the first uncommitted change of something that caches hold until its batch has ended: what is read in
   * between may never become true, so it stays out of every cache.
   */
  get isCacheable(): boolean {
    return this.mayCache;
  }

  /** Called by whoever changes something that caches hold. */
  disableCaching(): void {
    this.mayCache = false;
  }
}
