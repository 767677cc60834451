import type { CalendarEvent } from '@parley/domain/push';
import ICAL from 'ical.js';

/** Maximum length of a calendar to read; the file itself is attached anyway. */
const MAX_CALENDAR_LENGTH = 200_000;
const MAX_EVENTS = 5;
const MAX_TEXT_LENGTH = 300;

const KINDS: Readonly<Record<string, CalendarEvent['kind']>> = { CANCEL: 'cancellation', REPLY: 'reply' };

/** Reads the events of a calendar (RFC 5545). Returns none for an unreadable one. */
export function invitationsIn(calendar: string): readonly CalendarEvent[] {
  if (calendar.length > MAX_CALENDAR_LENGTH) return [];
  try {
    const root = new ICAL.Component(ICAL.parse(calendar));
    const kind = KINDS[textOf(root.getFirstPropertyValue('method')).toUpperCase()] ?? 'invitation';
    return root
      .getAllSubcomponents('vevent')
      .slice(0, MAX_EVENTS)
      .map((event) => invitationOf(event, kind));
  } catch {
    return [];
  }
}

function invitationOf(component: ICAL.Component, kind: CalendarEvent['kind']): CalendarEvent {
  const event = new ICAL.Event(component);
  const start = component.getFirstProperty('dtstart');
  return {
    kind,
    summary: textOf(event.summary),
    start: start === null ? null : timeOf(event.startDate, textOf(start.getFirstParameter('tzid'))),
    end: start === null ? null : timeOf(event.endDate, ''),
    location: textOf(event.location),
    organizer: textOf(event.organizer).replace(/^mailto:/i, ''),
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '').trim().slice(0, MAX_TEXT_LENGTH);

/** Times without a known time zone remain text. */
function timeOf(time: ICAL.Time, zone: string): CalendarEvent['start'] {
  if (time.zone !== ICAL.Timezone.localTimezone) return time.toUnixTime();
  const local = time
    .toString()
    .replace('T', ' ')
    .replace(/:\d\d$/, '');
  return zone === '' ? local : `${local} (${zone})`;
}
