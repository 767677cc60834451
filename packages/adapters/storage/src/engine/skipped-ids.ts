import { encodeEvent } from '@parley/domain/composition';
import type { EventSeq } from '@parley/domain/kernel';

/** Ids skipped even if no time is known to be lost, since the last seconds before a failure leave no trace. */
const LEAST_SKIPPED = 4096;
/** Assumed maximum rate of one counter during the lost time. */
const IDS_PER_SECOND = 50;
/** Reached after a month. Restoring again and again leaves enough of the 2^36 event numbers of an organization. */
const MOST_SKIPPED = 2 ** 27;

const { payload, ...encoded } = encodeEvent({
  event: { type: 'forked', after: 0 as EventSeq },
  audience: { kind: 'nobody' },
});
const [start, end] = payload.split('0') as [string, string];
/** Event about skipped numbers. Its payload is the last number of the lost history, between `start` and `end`. */
export const FORK_EVENT = { ...encoded, start, end };

/** Name of the fact with the marks of `DatabaseHistory`. */
export const MARKS_FACT = 'history marks';
const MAX_MARKS = 100;
export const REMOVE_QUEUES = 'DELETE FROM event_queue RETURNING realm_id AS "realmId", id';

export const encodeMarks = (
  known: readonly string[],
  added: readonly string[],
  replaced: readonly string[] = [],
): string => JSON.stringify([...known.filter((mark) => !replaced.includes(mark)), ...added].slice(-MAX_MARKS));
export const decodeMarks = (fact: string | null): readonly string[] =>
  fact === null ? [] : (JSON.parse(fact) as readonly string[]);

/**
 * Returns the number of ids that each counter of a restored database skips, because lost rows may have had them.
 * `secondsLost`: time since the last known change; negative if a clock was wrong. `idsLost`: ids known to be lost.
 */
export const idsToSkip = (secondsLost: number, idsLost = 0): number =>
  Math.min(LEAST_SKIPPED + IDS_PER_SECOND * Math.max(0, Math.ceil(secondsLost)) + idsLost, MOST_SKIPPED);
