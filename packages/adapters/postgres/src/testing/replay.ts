import { firstOf } from '@parley/domain/kernel';
import pg from 'pg';

/** Sent statement, and whether no other one was pending. */
interface SentStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly isFirst: boolean;
}

/** Statements of one operation and the id of the added message. */
export interface Recording {
  readonly statements: readonly SentStatement[];
  readonly messageId: number;
}

interface NamedQuery {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Records the statements sent by an operation while nothing else runs in the process. */
export async function recordStatements(operation: () => Promise<{ readonly id: number }>): Promise<Recording> {
  const original = pg.Client.prototype.query;
  const statements: SentStatement[] = [];
  let underWay = 0;
  pg.Client.prototype.query = function query(this: pg.Client, ...args: unknown[]) {
    const { text, values } = args[0] as NamedQuery;
    statements.push({ text, values, isFirst: underWay++ === 0 });
    const result = original.apply(this, args as never) as unknown as Promise<unknown>;
    const done = () => {
      underWay--;
    };
    result.then(done, done);
    return result;
  } as never;
  try {
    const { id } = await operation();
    return { statements, messageId: id };
  } finally {
    pg.Client.prototype.query = original;
  }
}

const APPEND_WITHOUT_HEAD = `
  INSERT INTO event (realm_id, seq, at, message_id, format, audience, payload, total)
  VALUES ($1, nextval('unordered_seq'), $2, $3, $4, $5, $6, 0) RETURNING seq`;

/** Runs an operation without organization locks and without changing the log's head row. */
export async function withoutOrder<T>(operation: () => Promise<T>): Promise<T> {
  const original = pg.Client.prototype.query;
  pg.Client.prototype.query = function query(this: pg.Client, config: NamedQuery, ...others: unknown[]) {
    const { text, values } = config;
    let sent: NamedQuery & { readonly name?: string } = config;
    if (text.includes('pg_advisory_xact_lock')) {
      const numbers = values.map((_, n) => `$${n + 1}::bigint`);
      sent = { ...config, name: `unlocked_${values.length}`, text: `SELECT ${numbers}, pg_current_xact_id()::text` };
    } else if (text.includes('WITH head AS')) sent = { ...config, name: 'unordered', text: APPEND_WITHOUT_HEAD };
    return original.apply(this, [sent, ...others] as never);
  } as never;
  try {
    return await operation();
  } finally {
    pg.Client.prototype.query = original;
  }
}

/** Repeats a recorded send without organization locks and the log's head row. */
export class UnorderedSends {
  private readonly pool: pg.Pool;

  constructor(url: string, connections: number) {
    this.pool = new pg.Pool({ connectionString: url, max: connections, pipeline: true } as pg.PoolConfig);
  }

  /** Called once per database. */
  async prepare(): Promise<void> {
    await this.pool.query('CREATE SEQUENCE IF NOT EXISTS unordered_seq START 1000000000');
  }

  async send({ statements, messageId }: Recording): Promise<void> {
    const client = await this.pool.connect();
    let id = messageId;
    const withId = (value: unknown): unknown =>
      value === messageId ? id : Array.isArray(value) ? value.map(withId) : value;
    try {
      const packet: Promise<pg.QueryArrayResult>[] = [];
      for (const { text, values, isFirst } of statements) {
        if (text.includes('pg_advisory_xact_lock')) continue;
        if (isFirst) await Promise.all(packet.splice(0));
        const sent = text.includes('WITH head AS') ? APPEND_WITHOUT_HEAD : text;
        const result = client.query({ name: nameOf(sent), text: sent, values: values.map(withId), rowMode: 'array' });
        packet.push(result);
        if (sent.includes('INSERT INTO message (')) id = Number(firstOf((await result).rows)[0]);
      }
      await Promise.all(packet);
    } finally {
      client.release();
    }
  }

  /** Returns the bytes of the write-ahead log since the server was created. */
  async walBytes(): Promise<number> {
    return Number((await this.pool.query("SELECT pg_current_wal_insert_lsn() - '0/0' AS bytes")).rows[0].bytes);
  }

  /** Returns the number of log row lookups since the database was created. */
  async logReads(): Promise<number> {
    const { rows } = await this.pool.query(
      "SELECT seq_scan + coalesce(idx_scan, 0) AS reads FROM pg_stat_user_tables WHERE relname = 'event'",
    );
    return Number(rows[0].reads);
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}

const names = new Map<string, string>();

function nameOf(text: string): string {
  const existing = names.get(text);
  if (existing !== undefined) return existing;
  const name = `unordered_${names.size}`;
  names.set(text, name);
  return name;
}
