import type { UnixSeconds } from '@parley/domain/kernel';
import type { Anchor } from '@parley/domain/messages';
import { badParameter } from '../kernel/errors.js';
import { MAX_TEXT_LENGTH } from '../kernel/limits.js';
import { integer, type ParamType, text } from '../kernel/param-types.js';

/** As text or as a number: what is neither is refused when it is read. */
export function anchorText(): ParamType<string> {
  const asText = text({ max: MAX_TEXT_LENGTH });
  return { ...asText, schema: { anyOf: [integer().schema, asText.schema] } };
}

/** A message's number, or a word for one (messages §5.1). @throws HttpRefusal */
export function parseAnchor(anchor: string): Anchor {
  const text = anchor.trim();
  if (/^[+-]?\d+$/.test(text)) return { kind: 'id', id: Number(text) };
  if (text === 'oldest' || text === 'newest') return { kind: text };
  if (text === 'first_unread') return { kind: 'firstUnread' };
  throw badParameter('Invalid anchor');
}

const ISO_DATE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)\s*(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/**
 * The first whole second at or after a date or a time of ISO 8601: a date is its midnight, and what names no zone is in
 * UTC. @throws HttpRefusal
 */
export function parseAnchorDate(text: string | undefined): UnixSeconds {
  if (text === undefined) throw badParameter("Missing 'anchor_date' argument.");
  const [, date, time = '00:00', zone = 'Z'] = ISO_DATE.exec(text.trim()) ?? [];
  const milliseconds =
    date === undefined ? Number.NaN : Date.parse(`${date}T${time.replace(',', '.')}${fullZone(zone)}`);
  if (Number.isNaN(milliseconds) || !isDayOfMonth(date!)) throw badParameter('Invalid anchor_date');
  return Math.ceil(milliseconds / 1000);
}

/** `+02` and `+0200` as `+02:00`. */
const fullZone = (zone: string): string =>
  /^z$/i.test(zone) ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;

/** JavaScript takes the 30th of February for the first of March or so. */
function isDayOfMonth(date: string): boolean {
  const parsed = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(date);
}
