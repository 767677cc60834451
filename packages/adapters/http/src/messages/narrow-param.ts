import type { ChannelId, UnixSeconds, UserId } from '@parley/domain/kernel';
import {
  type Anchor,
  findNarrowOperator,
  type NarrowTerm,
  narrowOperatorNames,
  type OperandForm,
} from '@parley/domain/messages';
import type { Addressee } from '@parley/domain/writing';
import {
  anyOf,
  asIs,
  integer,
  jsonOrText,
  listOf,
  MAX_IDS,
  MAX_NAMES,
  MAX_TEXT_LENGTH,
  named,
  type ParamType,
  text,
} from '../params/param-types.js';
import { badParameter, ParamError, TooLong } from '../wire/reply.js';

/** Loose limit: the use case rejects long channel names and unknown addresses with its own error message. */
const name = text({ max: MAX_TEXT_LENGTH });
const forms = named(
  'Addressee',
  anyOf([name, integer(), listOf(named('AddresseeEntry', anyOf([name, integer()])), { max: MAX_IDS })]),
);

/** Parses JSON, or else bare text (messages §3.1). Checks only sizes; `parseAddressee` validates the format. */
export const addressee: ParamType<unknown> = jsonOrText({
  ...forms,
  normalize: asIs,
  check(value) {
    if (value instanceof TooLong) return value;
    if (typeof value === 'string') return name.check(value);
    if (!Array.isArray(value)) return undefined;
    if (value.length > MAX_IDS) return new TooLong(MAX_IDS, 'items');
    for (let index = 0; index < value.length; index++) {
      const error = typeof value[index] === 'string' ? name.check(value[index]) : undefined;
      if (error) return error.within(index);
    }
    return undefined;
  },
});

/** Resolves a value of `addressee` (messages §3.1). @throws HttpRefusal */
export function parseAddressee(type: 'channel' | 'direct', to: unknown): Addressee {
  return type === 'channel' ? parseChannel(to) : parsePeople(to);
}

function parseChannel(to: unknown): Addressee {
  if (to === undefined) return { kind: 'defaultChannel' };
  if (Array.isArray(to) && to.length !== 1) throw badParameter('Expected exactly one channel');
  const channel: unknown = Array.isArray(to) ? to[0] : to;
  if (typeof channel === 'string') return { kind: 'channelName', name: channel };
  if (Number.isInteger(channel)) return { kind: 'channelId', id: channel as ChannelId };
  throw badParameter('Invalid data type for channel');
}

function parsePeople(to: unknown = []): Addressee {
  const people: unknown = typeof to === 'string' ? to.split(',') : to;
  if (!Array.isArray(people)) throw badParameter('Invalid data type for recipients');
  if (people.length === 0) return { kind: 'userIds', ids: [] };
  if (typeof people[0] === 'string') {
    if (people.length > MAX_NAMES) throw badParameter(new TooLong(MAX_NAMES, 'items').messageFor('to'));
    if (people.some((person) => typeof person !== 'string')) throw mixed();
    const emails = (people as string[]).map((email) => email.trim()).filter((email) => email !== '');
    return { kind: 'emails', emails: [...new Set(emails)] };
  }
  if (!Number.isInteger(people[0])) throw badParameter('Invalid data type for recipients');
  if (people.some((person) => !Number.isInteger(person))) throw mixed();
  return { kind: 'userIds', ids: [...new Set(people as UserId[])] };
}

const mixed = () => badParameter('Recipient lists may contain emails or user IDs, but not both.');

/** Accepts text or a number; `parseAnchor` rejects invalid values. */
export function anchorText(): ParamType<string> {
  const asText = text({ max: MAX_TEXT_LENGTH });
  return { ...asText, schema: { anyOf: [integer().schema, asText.schema] } };
}

/** Parses a message id or a named anchor (messages §5.1). @throws HttpRefusal */
export function parseAnchor(anchor: string): Anchor {
  const text = anchor.trim();
  if (/^[+-]?\d+$/.test(text)) return { kind: 'id', id: Number(text) };
  if (text === 'oldest' || text === 'newest') return { kind: text };
  if (text === 'first_unread') return { kind: 'firstUnread' };
  throw badParameter('Invalid anchor');
}

const ISO_DATE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)\s*(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/**
 * Returns the first whole second at or after an ISO 8601 date or time. A date means midnight; the default zone is UTC.
 * @throws HttpRefusal
 */
export function parseAnchorDate(text: string | undefined): UnixSeconds {
  if (text === undefined) throw badParameter("Missing 'anchor_date' argument.");
  const [, date, time = '00:00', zone = 'Z'] = ISO_DATE.exec(text.trim()) ?? [];
  const milliseconds =
    date === undefined ? Number.NaN : Date.parse(`${date}T${time.replace(',', '.')}${fullZone(zone)}`);
  if (Number.isNaN(milliseconds) || !isDayOfMonth(date!)) throw badParameter('Invalid anchor_date');
  return Math.ceil(milliseconds / 1000);
}

/** Normalizes `+02` and `+0200` to `+02:00`. */
const fullZone = (zone: string): string =>
  /^z$/i.test(zone) ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;

/** Rejects days that JavaScript would move to the next month, such as February 30. */
const isDayOfMonth = (date: string): boolean => new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);

const MAX_TERMS = 100;
/** Maximum length of the whole narrow, which also bounds the total of its user lists. */
const JSON_LENGTH = 100_000;

const words = text({ max: MAX_TEXT_LENGTH });
const people = listOf(integer(), { max: MAX_IDS });

const termSchema = (operator: ParamType<unknown>['schema'], operand: ParamType<unknown>['schema']) => ({
  type: 'object',
  properties: { operator: { type: 'string', ...operator }, operand, negated: { type: 'boolean' } },
  required: ['operator', 'operand'],
  additionalProperties: true,
});

/** Generators of clients derive the same constant from `pm-with` and `pm_with`, unless it is given. */
function namesOf(form: OperandForm) {
  const names = narrowOperatorNames(form);
  const constantOf = (name: string) => name.replaceAll('-', '_').toUpperCase();
  const isSecond = (name: string) => name.includes('_') && names.includes(name.replaceAll('_', '-'));
  return {
    enum: [...names],
    'x-enum-varnames': names.map((name) => constantOf(name) + (isSecond(name) ? '_UNDERSCORE' : '')),
  };
}

/** `{operator, operand, negated?}`, possibly with extra fields, or the older pair of strings. */
const term: ParamType<NarrowTerm> = {
  decode: people.decode,
  normalize(value) {
    if (isPair(value)) return { operator: value[0], operand: value[1], negated: false };
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const { operator, operand, negated = false } = value as Partial<NarrowTerm>;
    return { operator, operand, negated };
  },
  check(value) {
    if (Array.isArray(value)) return wrong('element is not a string pair');
    if (typeof value !== 'object' || value === null) return wrong('dict or list required');
    const { operator, operand, negated } = value as Readonly<Record<keyof NarrowTerm, unknown>>;
    if (operand === undefined || operand === null) return wrong('operand is missing');
    if (operator === undefined || operator === null) return wrong('operator is missing');
    const error = words.check(operator);
    if (error) return error.within('operator');
    if (typeof negated !== 'boolean') return new ParamError((p) => `${p}["negated"] is not a boolean`);
    return checkOperand(operator as string, operand);
  },
  jsonLength: people.jsonLength + words.jsonLength,
  schema: {
    title: 'NarrowTerm',
    anyOf: [
      termSchema(namesOf('textOrIntegers'), named('NarrowUsers', anyOf([words, people])).schema),
      termSchema(namesOf('textOrInteger'), named('NarrowNameOrId', anyOf([words, integer()])).schema),
      termSchema(words.schema, words.schema),
      { type: 'array', items: words.schema, minItems: 2, maxItems: 2 },
    ],
  },
};

/** Narrow in wire form; the use case interprets its terms. */
export const narrow = (): ParamType<NarrowTerm[]> => listOf(term, { max: MAX_TERMS, jsonLength: JSON_LENGTH });

const isPair = (value: unknown): value is readonly [string, string] =>
  Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');

/** Checks the operand type of an operator (messages §7.1). Unknown operators accept text. */
function checkOperand(operator: string, operand: unknown): ParamError | undefined {
  const form = findNarrowOperator(operator)?.operand ?? 'text';
  if (typeof operand === 'string') {
    if (form === 'nonBlankText' && operand.trim() === '') return new ParamError(() => 'operand cannot be blank.');
    return words.check(operand)?.within('operand');
  }
  switch (form) {
    case 'textOrInteger':
      return Number.isSafeInteger(operand) ? undefined : new ParamError(() => 'operand is not a string or integer');
    case 'textOrIntegers': {
      if (!Array.isArray(operand)) return new ParamError(() => 'operand is not a string or an integer list');
      if (operand.length > MAX_IDS) return new TooLong(MAX_IDS, 'items').within('operand');
      const index = operand.findIndex((item) => !Number.isSafeInteger(item));
      return index === -1 ? undefined : new ParamError(() => `operand[${index}] is not an integer`);
    }
    default:
      return new ParamError(() => 'operand is not a string');
  }
}

const wrong = (what: string): ParamError => new ParamError((p) => `Invalid ${p}: Value error, ${what}`);
