import { performance } from 'node:perf_hooks';
import Sqlite, { type Database, type Statement } from 'better-sqlite3';
import { median } from '../harness/interleave.js';
import { answerCalls } from './answer-calls.js';

export interface LearnRowsCall {
  /** Database in which messages were sent. */
  readonly from: string;
  /** Database with the same tables for writing. */
  readonly to: string;
  /** Number of newest messages, with their events, that are written repeatedly. */
  readonly messages: number;
}

export interface GroupCommitCall {
  readonly perTransaction: number;
  readonly seconds: number;
}

type Row = Record<string, unknown>;

/** Raw SQLite: the limit for durable writes. */
let database: Database;
let messages: Row[] = [];
let events: Row[] = [];
let insertMessage: Statement;
let insertEvent: Statement;
let next = { id: 0, ordinal: 0, eventId: 0 };
let setOne: Statement;

answerCalls({
  learnRows({ from, to, messages: count }: LearnRowsCall) {
    const source = new Sqlite(from, { readonly: true });
    messages = source.prepare<[number], Row>('SELECT * FROM message ORDER BY id DESC LIMIT ?').all(count);
    events = source
      .prepare<[number], Row>(`SELECT id, at, message_id, audience, payload, format FROM event
         WHERE payload ->> 'type' = 'message.posted' ORDER BY id DESC LIMIT ?`)
      .all(count);
    source.close();
    open(to);
    dropTriggers();
    insertMessage = insertionOf('message', messages[0]!);
    insertEvent = insertionOf('event', events[0]!);
    next = { id: newest('id', 'message'), ordinal: newest('ordinal', 'message'), eventId: newest('id', 'event') };
  },

  /** Messages per second, each with its event. */
  groupCommit({ perTransaction, seconds }: GroupCommitCall): number {
    const commit = database.transaction(() => {
      for (let n = 0; n < perTransaction; n++) {
        insertMessage.run({ ...messages[n % messages.length]!, id: ++next.id, ordinal: ++next.ordinal });
        insertEvent.run({ ...events[n % events.length]!, id: ++next.eventId });
      }
    }).immediate;
    const startedAt = performance.now();
    let written = 0;
    while (performance.now() - startedAt < seconds * 1000) {
      commit();
      written += perTransaction;
    }
    return (written / (performance.now() - startedAt)) * 1000;
  },

  makeOneRow(path: string) {
    open(path);
    database.exec('CREATE TABLE one (id INTEGER PRIMARY KEY, value INTEGER NOT NULL); INSERT INTO one VALUES (1, 0)');
    setOne = database.prepare('UPDATE one SET value = value + 1 WHERE id = 1');
  },

  /** Median duration of a transaction that changes one row, in milliseconds. */
  commitOneRow(times: number): number {
    const took: number[] = [];
    for (let n = 0; n < times; n++) {
      const startedAt = performance.now();
      setOne.run();
      took.push(performance.now() - startedAt);
    }
    return median(took);
  },
});

/** Opens a database with Parley's write settings. */
function open(path: string): void {
  database = new Sqlite(path);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma('cache_size = -65536');
}

/** Drops triggers, so that only the rows themselves are written. */
function dropTriggers(): void {
  const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").pluck().all() as string[];
  for (const name of names) database.exec(`DROP TRIGGER ${name}`);
}

function insertionOf(table: string, row: Row): Statement {
  const columns = Object.keys(row);
  return database.prepare(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((column) => `@${column}`).join(', ')})`,
  );
}

const newest = (column: string, table: string): number =>
  database.prepare(`SELECT coalesce(max(${column}), 0) FROM ${table}`).pluck().get() as number;
