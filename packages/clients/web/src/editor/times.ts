import type { I18n } from '@lingui/core';

/** Hour at which suggested days begin. */
const MORNING = 9;

interface SuggestedTimes {
  readonly hour: number;
  readonly tomorrow: number;
  /** Null if Monday is tomorrow. */
  readonly monday: number | null;
}

/** Suggested times in Unix seconds: an hour from now, and mornings in the browser's time zone. */
export function suggestedTimes(now: Date): SuggestedTimes {
  const morningIn = (days: number) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, MORNING).getTime() / 1000;
  const daysToMonday = (8 - now.getDay()) % 7 || 7;
  return {
    hour: Math.floor(now.getTime() / 1000) + 3600,
    tomorrow: morningIn(1),
    monday: daysToMonday === 1 ? null : morningIn(daysToMonday),
  };
}

/** Value of a date and time field, such as `2026-05-10T11:00`. */
export function fieldValueOf(time: number): string {
  const date = new Date(time * 1000);
  const two = (part: number) => String(part).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** Unix seconds of a field value; null if it is incomplete. */
export function timeOfField(value: string): number | null {
  const time = new Date(value).getTime();
  return Number.isNaN(time) ? null : time / 1000;
}

/** Formats Unix seconds briefly. */
export const timeText = (i18n: I18n, time: number): string =>
  i18n.date(new Date(time * 1000), {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
  });

/** Day of a message: "Today", "Yesterday", or its date. */
export function dayText(i18n: I18n, time: number, now: Date): string {
  const date = new Date(time * 1000);
  const dayNumber = (day: Date) => Date.UTC(day.getFullYear(), day.getMonth(), day.getDate()) / MS_PER_DAY;
  const days = dayNumber(date) - dayNumber(now);
  if (days !== 0 && days !== -1)
    return i18n.date(date, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
  const name = new Intl.RelativeTimeFormat(i18n.locale, { numeric: 'auto' }).format(days, 'day');
  const [first = ''] = name;
  return first.toLocaleUpperCase(i18n.locale) + name.slice(first.length);
}

const MS_PER_DAY = 86_400_000;
