import type { CalendarEvent } from '@parley/domain/push';
import ICAL from 'ical.js';

/** Maximum length of a calendar to read; the file itself is attached anyway. */
const MAX_CALENDAR_LENGTH = 200_000;
const MAX_EVENTS = 5;
const MAX_TEXT_LENGTH = 300;
/** Years between the start of a time zone's rule and the last event, for all rules together. Outlook's begin in 1601. */
const MAX_RULE_YEARS = 3000;
/** The library adds durations month by month. */
const MAX_DURATION_SECONDS = 366 * 86_400;

const KINDS: Readonly<Record<string, CalendarEvent['kind']>> = { CANCEL: 'cancellation', REPLY: 'reply' };

/** Reads the events of a calendar (RFC 5545). Returns null for one that is unreadable or takes long to compute. */
export function invitationsIn(calendar: string): readonly CalendarEvent[] | null {
  if (calendar.length > MAX_CALENDAR_LENGTH) return null;
  try {
    const root = new ICAL.Component(ICAL.parse(calendar));
    const kind = KINDS[textOf(root.getFirstPropertyValue('method')).toUpperCase()] ?? 'invitation';
    const events = root.getAllSubcomponents('vevent').slice(0, MAX_EVENTS);
    if (!boundZones(root, events)) return null;
    return events.map((event) => invitationOf(event, kind));
  } catch {
    return null;
  }
}

/**
 * Ends the rules of time zones after the last event, because the library expands them on the first use of a zone. Returns
 * false if that would take long.
 */
function boundZones(root: ICAL.Component, events: readonly ICAL.Component[]): boolean {
  const durations = events.map((event) => event.getFirstPropertyValue('duration'));
  if (durations.some((it) => it instanceof ICAL.Duration && Math.abs(it.toSeconds()) > MAX_DURATION_SECONDS))
    return false;
  const times = events.flatMap((event) => ['dtstart', 'dtend'].map((name) => event.getFirstPropertyValue(name)));
  const years = times.map((time) => (time instanceof ICAL.Time ? time.year : 0));
  const year = Math.max(...years, ICAL.Time.now().year) + 1;
  const until = new ICAL.Time({ year, month: 12, day: 31 }, ICAL.Timezone.localTimezone);
  let ruleYears = 0;
  for (const change of root.getAllSubcomponents('vtimezone').flatMap((zone) => zone.getAllSubcomponents())) {
    const rule = change.getFirstPropertyValue('rrule');
    const start = change.getFirstPropertyValue('dtstart');
    if (rule === null) continue;
    if (!(rule instanceof ICAL.Recur && start instanceof ICAL.Time && isYearly(rule))) return false;
    ruleYears += Math.max(1, year - start.year);
    if (!rule.until || rule.until.year > year) rule.until = until.clone();
  }
  return ruleYears <= MAX_RULE_YEARS;
}

/** True for rules like "the second Sunday in March" or "the Sunday from 8 to 14 March". */
const isYearly = ({ freq, interval, parts }: ICAL.Recur): boolean =>
  freq === 'YEARLY' &&
  interval === 1 &&
  Object.entries(parts).every(([name, values]) => (values?.length ?? 0) <= (MAX_VALUES[name] ?? 0)) &&
  ('BYMONTH' in parts || Object.keys(parts).length === 0);

const MAX_VALUES: Readonly<Record<string, number>> = { BYMONTH: 1, BYDAY: 1, BYMONTHDAY: 7 };

function invitationOf(component: ICAL.Component, kind: CalendarEvent['kind']): CalendarEvent {
  const event = new ICAL.Event(component, { exceptions: [] });
  const start = component.getFirstProperty('dtstart');
  return {
    kind,
    summary: textOf(event.summary),
    start: start === null ? null : timeOf(event.startDate, textOf(start.getFirstParameter('tzid'))),
    end: start === null ? null : timeOf(lastOf(event), ''),
    location: textOf(event.location),
    organizer: textOf(event.organizer).replace(/^mailto:/i, ''),
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '').trim().slice(0, MAX_TEXT_LENGTH);

/** The end of whole days is the day after the last one (RFC 5545, section 3.6.1). */
function lastOf({ startDate, endDate }: ICAL.Event): ICAL.Time {
  if (!endDate.isDate || endDate.compare(startDate) <= 0) return endDate;
  const day = endDate.clone();
  day.adjust(-1, 0, 0, 0);
  return day;
}

/** Times without a known time zone remain text. */
function timeOf(time: ICAL.Time, zone: string): CalendarEvent['start'] {
  if (time.zone !== ICAL.Timezone.localTimezone) return time.toUnixTime();
  const local = time
    .toString()
    .replace('T', ' ')
    .replace(/:\d\d$/, '');
  return zone === '' ? local : `${local} (${zone})`;
}
