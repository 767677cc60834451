import { ROLES } from '@parley/domain/access';
import { EVENT_FORMATS } from '@parley/domain/composition';
import { DomainError, type JsonObject, MAX_DATA_KEY_LENGTH, MAX_DATA_KEYS } from '@parley/domain/kernel';
import type { ParamType } from '@parley/http';
import {
  anyOf,
  arrayOr,
  boolean,
  described,
  integer,
  listOf,
  MAX_IDS,
  MAX_JSON_LENGTH,
  oneOf,
  optional,
  problemOf,
  recordOf,
  text,
  valueType,
} from '../kernel/values.js';

/** Types of arguments, for callers without a type checker. Unchecked mistakes would surface far from the call. */

/** Text of any length; the domain's rule checks the length. */
export const TEXT = text({ max: MAX_JSON_LENGTH });
/** Number checked by its use, with a separate error. */
export const CHECKED_BY_USE = valueType<number>('', () => true);
export const FLAG = boolean();
/** Values of data by declared key, see `filtersOf`. */
export const WHERE = recordOf(
  valueType<string | number | boolean>('text, a number, true or false', (value) =>
    ['string', 'number', 'boolean'].includes(typeof value),
  ),
  { max: MAX_DATA_KEYS, maxKeyLength: 'data.'.length + MAX_DATA_KEY_LENGTH },
);
export const FUNCTION = valueType('a function', (value) => typeof value === 'function');
export const ID = described(integer(), "an integer: Parley's id");
export const IDS = described(listOf(ID, { max: MAX_IDS }), 'an array of ids');
export const EXTERNAL_ID = valueType<string>(
  'a nonblank string',
  (value) => typeof value === 'string' && value.trim() !== '',
);
const PERSON_EXPECTED = "an external id, or Parley's id as a number";
export const PERSON = described(anyOf([EXTERNAL_ID, ID]), PERSON_EXPECTED);
const EVENT_TYPES = Object.keys(EVENT_FORMATS).filter((type) => type !== 'blank');
export const EVENT_TYPE = described(oneOf(EVENT_TYPES), 'the name of an event');
export const PEOPLE = arrayOr(listOf(PERSON, { max: MAX_IDS }), PERSON, PERSON_EXPECTED);
export const CHANNEL = described(anyOf([TEXT, integer()]), 'the name or the number of a channel');

/** Value that its use validates with a more specific error. */
export const HOST_DATA = valueType<JsonObject>('', () => true);
/** Properties of a user that the application creates or updates. */
export const USER_PROPERTIES = {
  realm: TEXT,
  externalId: EXTERNAL_ID,
  name: TEXT,
  email: optional(TEXT),
  role: optional(oneOf(ROLES)),
  data: optional(HOST_DATA),
};

export const invalidArgument = (message: string): DomainError => new DomainError('INVALID_ARGUMENT', message);

/** @throws DomainError INVALID_ARGUMENT naming the argument */
export function argument<T>(name: string, type: ParamType<T>, value: unknown): T {
  const problem = problemOf(type, value, { name });
  if (problem !== null) throw invalidArgument(problem);
  return type.normalize(value) as T;
}

/** Checks the properties of one argument. @throws DomainError INVALID_ARGUMENT naming the property */
export function properties<T>(subject: string, type: ParamType<T>, value: unknown): T {
  const problem = problemOf(type, value, { name: subject, isSubject: true });
  if (problem !== null) throw invalidArgument(problem);
  return type.normalize(value) as T;
}
