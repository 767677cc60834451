import type { EventSeq } from '@parley/domain/kernel';

/** An event's id is its realm's, followed by so many bits of its seq: one key, and neither a counter nor an index beside it. */
const SEQ_BITS = 36;
/** At a thousand events a second it lasts two years, at ten two centuries. */
const MAX_SEQ = 2 ** SEQ_BITS - 1;

/** The id of an event, in SQL. The operators make integers of what the driver binds as floating-point numbers. */
export const eventId = (realmId: string, seq: string): string => `(${realmId} << ${SEQ_BITS} | ${seq})`;

/** All ids that a realm's events can have after a seq, ascending: `id > ? AND id <= ?`. */
export const eventIdsAfter = (realmId: string, seq: string): string =>
  `id > ${eventId(realmId, seq)} AND id <= ${eventId(realmId, String(MAX_SEQ))}`;

/**
 * The seq of a realm's newest event, in SQL, over `event_log_start s`: what is pruned is the oldest, and where nothing is left
 * that went last.
 */
export const LAST_SEQ = `max(s.pruned_up_to, coalesce(
  (SELECT max(id) FROM event WHERE ${eventIdsAfter('s.realm_id', '0')}) & ${MAX_SEQ}, 0))`;

/** The same by itself. */
export const lastSeqOf = (realmId: string): string =>
  `(SELECT ${LAST_SEQ} FROM event_log_start s WHERE s.realm_id = ${realmId})`;

/** @throws Error when there are no more */
export function seqAfter(last: EventSeq): EventSeq {
  if (last >= MAX_SEQ) throw new Error('An organization has had more events than can be numbered');
  return (last + 1) as EventSeq;
}
