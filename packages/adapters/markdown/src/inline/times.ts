import { Element } from '../html/html.js';
import type { InlineRule } from './rule.js';

const TIME = /<time:([^>]*)>/g;
const ISO_8601 =
  /^(\d{4})-?(\d\d)-?(\d\d)(?:(?:\s*T|\s+)(\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?(?:\s*(?:(Z)|([+-])(\d\d):?(\d\d)?))?)?$/i;
const UNIX_SECONDS = /^(\d{9,11})(?:\.(\d+))?$/;

/** Renders `<time:2024-03-07T15:00:00+01:00>`, a time that readers see in their own time zone. */
export const times: InlineRule = (text, { stash }) => {
  if (!text.includes('<time:')) return text;
  // Excludes text after the last closing character, where each opening one would cause a scan to the end.
  const end = text.lastIndexOf('>') + 1;
  const replaced = text.slice(0, end).replace(TIME, (typed, value: string) => {
    const datetime = toUtc(value.trim());
    if (datetime === null) return typed;
    const element = new Element('time', { datetime });
    element.text = value;
    element.isTextFinal = true;
    return stash(element);
  });
  return replaced + text.slice(end);
};

function toUtc(value: string): string | null {
  const unix = UNIX_SECONDS.exec(value);
  if (unix) return format(Number(unix[1]) * 1000, unix[2]);
  const match = ISO_8601.exec(value);
  if (!match) return null;
  const [year, month, day, hours, minutes, seconds] = match.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [, , , , , , , fraction, , sign, offsetHours, offsetMinutes] = match;
  if (hours > 23 || minutes > 59 || seconds > 59 || year === 0) return null;
  const moment = new Date(0);
  moment.setUTCFullYear(year, month - 1, day);
  moment.setUTCHours(hours, minutes, seconds);
  // Rejects days that do not exist in the month, which JavaScript moves to the next one.
  if (moment.getUTCMonth() !== month - 1 || moment.getUTCDate() !== day) return null;
  const offset = Number(offsetHours ?? 0) * 60 + Number(offsetMinutes ?? 0);
  if (offset >= 24 * 60) return null;
  return format(moment.getTime() - (sign === '-' ? -offset : offset) * 60_000, fraction);
}

function format(unixMs: number, fraction: string | undefined): string | null {
  const text = new Date(unixMs).toISOString();
  if (text.length !== 24 || text.startsWith('0000')) return null;
  const microseconds = (fraction ?? '').slice(0, 6).padEnd(6, '0');
  return `${text.slice(0, 19)}${microseconds === '000000' ? '' : `.${microseconds}`}Z`;
}
