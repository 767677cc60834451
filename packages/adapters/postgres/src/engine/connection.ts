import { createHash } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { UnitRecord } from '@parley/domain/composition';
import type { RealmId, SharedUnit } from '@parley/domain/kernel';
import { type Dialect, type Parameter, present, SLICE_MS, StatementFailed, type Statements } from '@parley/storage';
import type { Client, ClientBase, QueryArrayResult, QueryResult } from 'pg';

const DIALECT: Dialect = {
  inSet: '= ANY(?)',
  set: (values) => [...values],
  anyText: '?',
  inAnyTexts: "= ANY(ARRAY(SELECT decode(value, 'hex') FROM unnest(?::text[]) value))",
  elements: (type) => `unnest(?::${type}[]) WITH ORDINALITY AS elements (value, key)`,
  list: (expression) => `coalesce(json_agg(${expression})::text, '[]')`,
  elementsOf: (column, member) => `json_array_elements(${column}::json -> '${member}')`,
  indexedBy: () => '',
  skipLocked: 'FOR UPDATE SKIP LOCKED',
  nextId: (table) => `nextval(pg_get_serial_sequence('${table}', 'id'))`,
  aboveAllIds: (table) => `(SELECT CASE WHEN is_called THEN last_value + 1 ELSE last_value END FROM ${table}_id_seq)`,
};

/** Replaces each `?` by a numbered parameter. */
function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll('?', () => `$${++count}`);
}

/**
 * Called with each sent statement, without its parameters. `isFirst` is true if no other statement is pending; counting
 * these gives the round trips for which units wait.
 */
export type StatementTrace = (sql: string, isFirst: boolean) => void;

/** Ends a shared unit that must run exclusively. */
export class MustBeAlone extends Error {
  constructor() {
    super('The unit has to be alone in its organization');
    this.name = 'MustBeAlone';
  }
}

type Shape = 'row' | 'tuple';
type AnyResult = QueryResult | QueryArrayResult;

/** Statement that returns rows. */
export class Query<Row> {
  private readonly sql: string;

  constructor(
    private readonly connection: Connection,
    sql: string,
    private readonly shape: 'row' | 'value' | 'tuple',
  ) {
    this.sql = numbered(sql);
  }

  async get(...parameters: Parameter[]): Promise<Row | undefined> {
    return (await this.all(...parameters))[0];
  }

  async one(...parameters: Parameter[]): Promise<Row> {
    return present((await this.all(...parameters))[0]);
  }

  async all(...parameters: Parameter[]): Promise<Row[]> {
    const { rows } = await this.connection.send(this.sql, parameters, this.shape === 'row' ? 'row' : 'tuple');
    return (this.shape === 'value' ? rows.map((row) => (row as unknown[])[0]) : rows) as Row[];
  }

  each(...parameters: Parameter[]): Promise<Row[]> {
    return this.all(...parameters);
  }
}

/** Statement that returns the number of changes instead of rows. */
export class Command {
  private readonly sql: string;

  constructor(
    private readonly connection: Connection,
    sql: string,
  ) {
    this.sql = numbered(sql);
  }

  async run(...parameters: Parameter[]): Promise<{ readonly changes: number }> {
    const { rowCount } = await this.connection.send(this.sql, parameters, 'row');
    return { changes: rowCount ?? 0 };
  }

  /** Sends the statement in one packet with the next one or the commit. */
  defer(...parameters: Parameter[]): void {
    this.connection.defer(this.sql, parameters);
  }
}

interface Deferred {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
  readonly onTuples: ((tuples: readonly unknown[][]) => void) | undefined;
}

/** Data cached by servers, with a stamp per kind. Subscriptions change more often than entities. */
export type CachedKind = 'entities' | 'subscriptions';

/** Stamp row of units across realms, which may change data of any realm. */
const ALL_REALMS = 0;
/** Stamp ids of entities equal the realm id; those of subscriptions are its negative. */
const STAMPS = `
  SELECT coalesce(sum(stamp) FILTER (WHERE realm_id >= 0), 0)::bigint,
    coalesce(sum(stamp) FILTER (WHERE realm_id <= 0), 0)::bigint
  FROM cache_stamp WHERE realm_id = ANY($1::bigint[])`;
const RAISE_STAMP = `
  INSERT INTO cache_stamp (realm_id, stamp) VALUES ($1, 1)
  ON CONFLICT (realm_id) DO UPDATE SET stamp = cache_stamp.stamp + 1`;

/** Maximum number of prepared statements per connection, since narrows have arbitrarily many forms. */
const MAX_PREPARED = 2000;
const NAMES = new Map<string, string>();

/** PostgreSQL cannot store NUL characters, so the replacement character takes their place. */
export function storable(parameter: Parameter): unknown {
  if (typeof parameter === 'string') return parameter.includes('\0') ? parameter.replaceAll('\0', '\ufffd') : parameter;
  return Array.isArray(parameter) ? parameter.map(storable) : parameter;
}

/** Returns the name of a prepared statement; undefined for statements prepared each time. */
function nameOf(sql: string): string | undefined {
  let name = NAMES.get(sql);
  if (name === undefined && NAMES.size < MAX_PREPARED) {
    name = createHash('sha256').update(sql).digest('base64url');
    NAMES.set(sql, name);
  }
  return name;
}

/**
 * Database connection on which repositories prepare their statements. Statements run only inside a unit of work. A
 * repository kept beyond its unit fails instead of writing outside of it or into another unit.
 */
export class Connection implements Statements {
  readonly dialect = DIALECT;
  private isInUnit = false;
  /** Number of statements without a response. */
  private underWay = 0;
  private readonly changed = new Set<CachedKind>();
  /** Realm of the unit. */
  private realmId: RealmId | null = null;
  private stamps: Readonly<Record<CachedKind, number>> | null = null;
  private sentStamps: Promise<void> | null = null;
  /** False until the unit sends a statement; a unit without statements needs no transaction. */
  private sent = false;
  private sentAtMs = 0;
  private deferred: Deferred[] = [];
  /** Statements sent only with the commit. */
  private last: Deferred[] = [];
  private unitSharing: SharedUnit | null = null;
  private mustBeAlone = false;
  private failure: StatementFailed | null = null;
  private sliceStartedAt = 0;
  /** Belongs to the unit that runs. */
  record = new UnitRecord();

  constructor(
    private readonly client: ClientBase,
    private readonly trace: StatementTrace | undefined,
  ) {}

  /** Query returning objects with a member per column. */
  rows<Row>(sql: string): Query<Row> {
    return new Query<Row>(this, sql, 'row');
  }

  /** Query returning the first column. */
  values<Value>(sql: string): Query<Value> {
    return new Query<Value>(this, sql, 'value');
  }

  /** Query returning arrays with an element per column. */
  tuples<Tuple extends readonly unknown[]>(sql: string): Query<Tuple> {
    return new Query<Tuple>(this, sql, 'tuple');
  }

  command(sql: string): Command {
    return new Command(this, sql);
  }

  /** A slice begins when the database has responded. Calls outside of a unit fail by themselves. */
  nextSlice(): Promise<void> | null {
    if (!this.isInUnit || performance.now() - this.sliceStartedAt < SLICE_MS) return null;
    return yieldToEventLoop().then(() => {
      this.sliceStartedAt = performance.now();
    });
  }

  /** Yields between the slices of a long list within one repository call. */
  async yield(): Promise<void> {
    this.requireUnit();
    await this.nextSlice();
  }

  /**
   * Sends a statement after the deferred ones, in one packet.
   * @throws StatementFailed for the first failed statement
   */
  async send(sql: string, parameters: readonly Parameter[], shape: Shape): Promise<AnyResult> {
    this.requireUnit();
    // One write costs the process far less than one per statement.
    const { stream } = (this.client as Client).connection;
    stream.cork();
    const sent = [...this.sendDeferred(), this.query(sql, parameters, shape)];
    stream.uncork();
    // After the first failure, the others fail as well.
    const outcomes = await Promise.allSettled(sent);
    this.sliceStartedAt = performance.now();
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) {
      this.failure ??= failed.reason as StatementFailed;
      throw failed.reason;
    }
    return (outcomes.at(-1) as PromiseFulfilledResult<AnyResult>).value;
  }

  /** @param onTuples receives the rows after the statement was executed */
  defer(sql: string, parameters: readonly Parameter[], onTuples?: Deferred['onTuples']): void {
    this.requireUnit();
    this.deferred.push({ sql, parameters, onTuples });
  }

  /**
   * Sends the statement with the commit, so that its locks are held only for the duration of the commit. An exclusive
   * unit may read its own changes, so it sends the statement before the next one.
   */
  deferToCommit(sql: string, parameters: readonly Parameter[], onTuples?: Deferred['onTuples']): void {
    this.requireUnit();
    (this.unitSharing ? this.last : this.deferred).push({ sql, parameters, onTuples });
  }

  commit(): Promise<AnyResult> {
    this.deferred.push(...this.last.splice(0));
    return this.send('COMMIT', [], 'row');
  }

  /** Entry of `SHARED_UNITS` under which the unit runs; null if it runs exclusively in its organization. */
  get sharing(): SharedUnit | null {
    return this.unitSharing;
  }

  /**
   * Called by operations that only exclusive units may perform. A shared unit is then rerun exclusively. @throws
   * MustBeAlone
   */
  requireAlone(): void {
    if (!this.unitSharing) return;
    this.mustBeAlone = true;
    throw new MustBeAlone();
  }

  /** True if `requireAlone` has failed, even if the work has caught the error. */
  get hasToBeAlone(): boolean {
    return this.mustBeAlone;
  }

  /** Begins a unit. Its initial statements are sent together with the first repository statement. */
  enterUnit(record: UnitRecord, realmId: RealmId | null, sharing?: SharedUnit): void {
    this.isInUnit = true;
    this.unitSharing = sharing ?? null;
    this.mustBeAlone = false;
    this.record = record;
    this.realmId = realmId;
    this.stamps = null;
    this.sentStamps = null;
    this.changed.clear();
    this.sent = false;
    this.sliceStartedAt = performance.now();
    this.deferred = [];
    this.last = [];
    this.failure = null;
  }

  /** Called if the unit's transaction has begun outside of it. */
  continueTransaction(): void {
    this.sent = true;
  }

  leaveUnit(): void {
    this.isInUnit = false;
    this.deferred = [];
    this.last = [];
  }

  /** Ends the unit without deferred statements, and without waiting for the response. */
  leaveUnitBy(command: 'COMMIT' | 'ROLLBACK'): void {
    this.deferred = [];
    // Failures surface when the next unit uses the connection.
    if (this.sent) {
      this.trace?.(command, false);
      this.client.query({ name: nameOf(command), text: command, values: [] }).catch(() => {});
    }
    this.leaveUnit();
  }

  requireUnit(): void {
    if (!this.isInUnit) throw new Error('A repository was used after its unit of work ended');
  }

  /** Time since the unit sent its first statement. */
  get elapsedMs(): number {
    return performance.now() - this.sentAtMs;
  }

  /** First failed statement of the unit; PostgreSQL then commits nothing. */
  get failedStatement(): StatementFailed | null {
    return this.failure;
  }

  /** False from the unit's first change of cached entities, which may never be committed. */
  get isCacheable(): boolean {
    return !this.hasChanged('entities');
  }

  hasChanged(kind: CachedKind): boolean {
    return this.changed.has(kind);
  }

  /** Called by code that changes cached data, so that other units read versions again. */
  disableCaching(kind: CachedKind = 'entities'): void {
    if (this.changed.has(kind)) return;
    this.requireAlone();
    this.changed.add(kind);
    this.defer(RAISE_STAMP, [(kind === 'entities' ? 1 : -1) * (this.realmId ?? ALL_REALMS)]);
  }

  /**
   * Returns a number that changes with cached data of the realm. Null if the unit has no realm or another one, or has
   * changed such data. Read once, with the first statements of the unit.
   */
  async stampOf(realmId: RealmId, kind: CachedKind): Promise<number | null> {
    if (this.changed.has(kind) || realmId !== this.realmId) return null;
    this.sentStamps ??= this.send(STAMPS, [[ALL_REALMS, realmId, -realmId]], 'tuple').then(({ rows }) => {
      const [entities, subscriptions] = rows[0] as unknown as readonly [number, number];
      this.stamps = { entities, subscriptions };
    });
    await this.sentStamps;
    return this.changed.has(kind) ? null : (this.stamps?.[kind] ?? null);
  }

  private sendDeferred(): Promise<AnyResult>[] {
    return this.deferred.splice(0).map(async ({ sql, parameters, onTuples }) => {
      const result = await this.query(sql, parameters, 'tuple');
      onTuples?.(result.rows as unknown[][]);
      return result;
    });
  }

  private async query(sql: string, parameters: readonly Parameter[], shape: Shape): Promise<AnyResult> {
    if (!this.sent) this.sentAtMs = performance.now();
    this.sent = true;
    this.trace?.(sql, this.underWay++ === 0);
    const name = nameOf(sql);
    const text = { text: sql, values: parameters.map(storable), ...(name !== undefined && { name }) };
    try {
      return shape === 'row' ? await this.client.query(text) : await this.client.query({ ...text, rowMode: 'array' });
    } catch (error) {
      throw new StatementFailed(sql, error);
    } finally {
      this.underWay--;
    }
  }
}
