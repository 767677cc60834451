import type { DatabaseHistory, QueueKey, UnixSeconds } from '@parley/domain/kernel';
import {
  counterSkips,
  decodeMarks,
  encodeMarks,
  FORK_EVENT,
  idsToSkip,
  MARKS_FACT,
  REMOVE_QUEUES,
} from '@parley/storage';
import type { Database } from 'better-sqlite3';
import { eventId, LAST_SEQ } from './events.js';

/** Starts the sequences of tables that never had a row. */
const BEGIN_SEQUENCES = `
  INSERT INTO sqlite_sequence (name, seq) SELECT name, 0 FROM sqlite_schema
  WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%' AND name NOT IN (SELECT name FROM sqlite_sequence)`;

/** Appends an event to each log. Values are texts, so that the driver's floating-point numbers stay integers. */
const FORK = `
  INSERT INTO event (id, at, message_id, format, audience, payload, total)
  SELECT ${eventId('realm_id', 'last_seq + CAST(:skipped AS INTEGER)')}, CAST(:now AS INTEGER), NULL, :format, :audience,
    payload, total + octet_length(:audience) + octet_length(payload)
  FROM (
    SELECT realm_id, last_seq, :start || last_seq || :end AS payload,
      coalesce((SELECT total FROM event WHERE id = ${eventId('realm_id', 'last_seq')}), 0) AS total
    FROM (SELECT s.realm_id, ${LAST_SEQ} AS last_seq FROM event_log_start s))`;

/**
 * Lets ids and event numbers of a restored database continue `count` higher, because clients may know ids of lost rows.
 * Appends an event about the gap to each log, and drops the marks of the lost history. Returns the count.
 */
export function skipIds(database: Database, count: number, now: UnixSeconds): number {
  database.transaction(() => {
    database.exec(BEGIN_SEQUENCES);
    database.exec(`UPDATE sqlite_sequence SET seq = seq + ${count}`);
    for (const statement of counterSkips(count)) database.exec(statement);
    database.prepare(FORK).run({ skipped: count, now, ...FORK_EVENT });
    database.prepare('DELETE FROM server_fact WHERE name = ?').run(MARKS_FACT);
  })();
  return count;
}

const HISTORY = `
  SELECT (SELECT value FROM server_fact WHERE name = ?) AS marks,
    coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'message'), 0) AS messages,
    coalesce((SELECT sum(last_seq) FROM (SELECT ${LAST_SEQ} AS last_seq FROM event_log_start s)), 0) AS events`;

export function readHistory(database: Database): DatabaseHistory {
  const { marks, ...numbers } = database
    .prepare<[string], Omit<DatabaseHistory, 'marks'> & { readonly marks: string | null }>(HISTORY)
    .get(MARKS_FACT)!;
  return { ...numbers, marks: decodeMarks(marks) };
}

/** See `StorageHistory`. */
export const addMarks = (database: Database, marks: readonly string[], replaced?: readonly string[]): void =>
  database
    .transaction(() => {
      const fact = encodeMarks(readHistory(database).marks, marks, replaced);
      database.prepare('INSERT OR REPLACE INTO server_fact VALUES (?, ?)').run(MARKS_FACT, fact);
    })
    .immediate();

/** See `StorageHistory`. */
export const continueHistory = (
  database: Database,
  from: DatabaseHistory,
  marks: readonly string[],
  lost: number,
  now: UnixSeconds,
): readonly QueueKey[] | null =>
  database
    .transaction(() => {
      if (readHistory(database).marks.at(-1) !== from.marks.at(-1)) return null;
      const secondsLost = database.prepare('SELECT ? - max(at) FROM event').pluck().get(now) as number | null;
      skipIds(database, idsToSkip(secondsLost ?? 0, lost), now);
      const removed = database.prepare<[], QueueKey>(REMOVE_QUEUES).all();
      addMarks(database, [...from.marks, ...marks]);
      return removed;
    })
    .immediate();
