import { encodeEvent } from '@parley/domain/composition';
import type { EventSeq } from '@parley/domain/kernel';
import { counterSkips } from '@parley/storage';
import type { Database } from 'better-sqlite3';
import { eventId, LAST_SEQ } from './events.js';

const { format, audience, payload } = encodeEvent({
  event: { type: 'forked', after: 0 as EventSeq },
  audience: { kind: 'nobody' },
});
const [PAYLOAD_START, PAYLOAD_END] = payload.split('0') as [string, string];

/** Starts the sequences of tables that never had a row. */
const BEGIN_SEQUENCES = `
  INSERT INTO sqlite_sequence (name, seq) SELECT name, 0 FROM sqlite_schema
  WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%' AND name NOT IN (SELECT name FROM sqlite_sequence)`;

/** Appends an event to each log. Values are texts, so that the driver's floating-point numbers stay integers. */
const FORK = `
  INSERT INTO event (id, at, message_id, format, audience, payload, total)
  SELECT ${eventId('realm_id', 'last_seq + CAST(:skipped AS INTEGER)')}, unixepoch(), NULL, :format, :audience,
    payload, total + octet_length(:audience) + octet_length(payload)
  FROM (
    SELECT realm_id, last_seq, :start || last_seq || :end AS payload,
      coalesce((SELECT total FROM event WHERE id = ${eventId('realm_id', 'last_seq')}), 0) AS total
    FROM (SELECT s.realm_id, ${LAST_SEQ} AS last_seq FROM event_log_start s))`;

/**
 * Lets ids and event numbers of a restored database continue `count` higher, because clients may know ids of lost rows.
 * Appends an event about the gap to each log. Returns the count.
 */
export function skipIds(database: Database, count: number): number {
  database.transaction(() => {
    database.exec(BEGIN_SEQUENCES);
    database.exec(`UPDATE sqlite_sequence SET seq = seq + ${count}`);
    for (const statement of counterSkips(count)) database.exec(statement);
    database.prepare(FORK).run({ skipped: count, format, audience, start: PAYLOAD_START, end: PAYLOAD_END });
  })();
  return count;
}
