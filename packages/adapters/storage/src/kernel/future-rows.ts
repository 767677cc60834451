import type { FutureRows, UnixSeconds } from '@parley/domain/kernel';

/** Tolerates the different clocks of machines. */
const SLACK_SECONDS = 60;
/** Reading all messages would take long. */
const NEWEST_MESSAGES = '(SELECT sent_at FROM message ORDER BY id DESC LIMIT 100000) AS newest';

/** Times at which rows were written, by the name that an operator reads. */
const WRITTEN_AT: readonly (readonly [name: FutureRows['name'], time: string, from: string])[] = [
  ['messages', 'sent_at', NEWEST_MESSAGES],
  ['events', 'at', 'event'],
  ['event queues', 'last_polled_at', 'event_queue'],
  ['jobs', 'due_at - delay', 'job'],
  ['presences', 'last_connected', 'presence'],
  ['sessions', 'last_used_at', 'session'],
  ['files', 'created_at', 'file'],
];

/** Query of the rows that were written after `now`. */
export const futureRowsSql = (now: UnixSeconds): string =>
  WRITTEN_AT.map(
    ([name, time, from]) =>
      `SELECT '${name}' AS name, count(*) AS count, max(${time}) AS latest FROM ${from}
       WHERE ${time} > ${now + SLACK_SECONDS} HAVING count(*) > 0`,
  ).join(' UNION ALL ');
