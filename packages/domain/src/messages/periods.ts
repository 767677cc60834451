import type { UnixSeconds } from '../kernel/ids.js';
import { getOrThrow } from '../kernel/work.js';

/** Period from its first second to the first second after it. */
export interface Period {
  readonly start: UnixSeconds;
  readonly end: UnixSeconds;
}

const PERIOD = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?$/;

/** Parses a year, month or day such as `2026`, `2026-11` or `2026-11-25`. Returns null if there is none such. */
export function parsePeriod(text: string, timeZone: string): Period | null {
  const [, ...digits] = PERIOD.exec(text.trim()) ?? [];
  const [year, month, day] = digits.map((each) => (each === undefined ? undefined : Number(each)));
  if (year === undefined || year < 1970 || (month !== undefined && (month < 1 || month > 12))) return null;
  const startOf = (y: number, m = 1, d = 1) => startOfDay(Date.UTC(y, m - 1, d), timeZone);
  if (month === undefined) return { start: startOf(year), end: startOf(year + 1) };
  if (day === undefined) return { start: startOf(year, month), end: startOf(year, month + 1) };
  const isDayOfMonth = day >= 1 && new Date(Date.UTC(year, month - 1, day)).getUTCMonth() === month - 1;
  return isDayOfMonth ? { start: startOf(year, month, day), end: startOf(year, month, day + 1) } : null;
}

/** Returns the first second of a day, which is given as midnight in UTC in milliseconds. */
function startOfDay(midnightMs: number, timeZone: string): UnixSeconds {
  // The zone's offset may change between both midnights.
  const near = midnightMs - offsetMs(midnightMs, timeZone);
  return (midnightMs - offsetMs(near, timeZone)) / 1000;
}

/** Returns the milliseconds by which clocks of the zone are ahead of UTC. */
function offsetMs(atMs: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
  const [year, month, day] = (['year', 'month', 'day'] as const).map((type) => getOrThrow(parts, type));
  const [hour, minute, second] = (['hour', 'minute', 'second'] as const).map((type) => getOrThrow(parts, type));
  return Date.UTC(year!, month! - 1, day!, hour!, minute!, second!) - atMs;
}
