import { isLongerThan, isShorterThan, parseJson, replaceFractionals, trim } from '@parley/domain/kernel';
import { ParamError, quotable, TooLong } from '../wire/reply.js';

/**
 * Maximum parameter sizes where the contract has none. Types without a maximum do not compile. If an operation enforces
 * its own limit, such as "Channel name too long …", the type allows more than that.
 */

/** Maximum text length in code points. */
export const MAX_TEXT_LENGTH = 10_000;
/** Maximum length of identifiers chosen by programs, such as a queue id or local message id. */
export const MAX_TOKEN_LENGTH = 100;
/** Maximum number of ids in one list. */
export const MAX_IDS = 10_000;
/** Maximum number of channels, addresses or words in one list. */
export const MAX_NAMES = 1000;

/** Maximum length of a number in text form. */
export const MAX_NUMBER_LENGTH = 1000;
/** Maximum length of a JSON field of any type, in UTF-16 units. */
export const MAX_JSON_LENGTH = 1_000_000;

/** Last second of the year 9999; later times have no standard ISO 8601 form. */
export const MAX_TIME = 253_402_300_799;

/** Conversion of field text to values, which types validate afterwards. Decoding never throws. */

/** Decoded value of text that is not valid JSON. */
export const NOT_JSON = Symbol('not JSON');

const INTEGER = /^-?(?:0|[1-9]\d*)$/;

/** Quick check, because bare words are common and JSON parse errors are slow. */
const MAY_BE_JSON = /^(?:[\s"[{\d-]|true|false|null)/;

/**
 * Whole number written like `10.0` or `1e3`, which the API accepts as a float but not as an integer. JavaScript cannot
 * distinguish them.
 */
class WholeFloat {
  constructor(readonly value: number) {}

  toJSON(): number {
    return this.value;
  }
}

/** Parses JSON with whole floats. */
function decodeJson(text: string): unknown {
  const value = parsePlainJson(text);
  if (value === NOT_JSON || !FRACTION.test(text)) return value;
  return withWholeFloats(parsePlainJson(replaceFractionals(text, marked)));
}

function parsePlainJson(text: string): unknown {
  if (!MAY_BE_JSON.test(text)) return NOT_JSON;
  try {
    return parseJson(text);
  } catch {
    return NOT_JSON;
  }
}

const FRACTION = /\d[.eE]/;
/** Member of an object that replaces a whole float in JSON. */
const WHOLE_FLOAT = '\0whole';
const marked = (number: string): string =>
  Number.isFinite(Number(number)) && !Number.isInteger(Number(number))
    ? number
    : JSON.stringify({ [WHOLE_FLOAT]: number });

function withWholeFloats(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withWholeFloats);
  if (typeof value !== 'object' || value === null) return value;
  if (WHOLE_FLOAT in value) return new WholeFloat(Number(value[WHOLE_FLOAT]));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withWholeFloats(member)]));
}

/** Skips decoding of text that exceeds any valid length. */
const unlessLonger = (limit: number, decode: (text: string) => unknown) => (text: string) =>
  text.length > limit ? new TooLong(limit) : decode(text);

const decodeInteger = unlessLonger(
  MAX_NUMBER_LENGTH,
  (text) => (INTEGER.test(text) ? Number(text) + 0 : decodeJson(text)), // adding 0 turns negative zero into zero
);

const decodeFloat = unlessLonger(MAX_NUMBER_LENGTH, parsePlainJson);
const decodeBoolean = unlessLonger(MAX_NUMBER_LENGTH, decodeJson);

/** Maximum insignificant white space in JSON. */
const JSON_SLACK = 1000;

/** Maximum field length in UTF-16 units for a given maximum JSON length. */
const fieldLength = (jsonLength: number): number => Math.min(jsonLength + JSON_SLACK, MAX_JSON_LENGTH);

/** Combinable parameter types: `listOf(object({ name: text({ max: 60 }) }), { max: 9 })`. */

export interface ParamType<T> {
  /** Decodes form field text; never throws. Types inside lists and objects receive JSON values instead. */
  decode(text: string): unknown;
  /** Brings a decoded value into its final form, such as trimmed text. Keeps values that `check` rejects. */
  normalize(value: unknown): unknown;
  /** Returns the error of a normalized value, or undefined for a `T`. */
  check(value: unknown): ParamError | undefined;
  /** Length of the longest valid value in UTF-16 units, as JSON without white space; limits the enclosing field. */
  readonly jsonLength: number;
  /** True if the field text is JSON; absent for bare text and numbers. */
  readonly holdsJson?: true;
  /** OpenAPI schema with all limits. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Never present; tells the compiler the type of valid values. */
  readonly validValue?: T;
}

export type ValueOf<P> = P extends ParamType<infer T> ? T : never;

export const asIs = (value: unknown): unknown => value;

const not = (what: string) => new ParamError((position) => `${position} is not ${what}`);

/** Returns the error for a value other than `what`; keeps length errors. */
function paramErrorOf(value: unknown, what: string): ParamError {
  if (value instanceof TooLong) return value;
  return not(value === NOT_JSON ? 'valid JSON' : what);
}

export interface TextRules {
  /** Maximum length in code points; fails with `{p} is too long (limit: {max} characters)`. */
  readonly max: number;
  /** True to trim white space before other checks. */
  readonly strip?: boolean;
  /** Minimum in code points; fails with `{p} is too short.` */
  readonly min?: number;
  /** Fails with `{p} cannot be blank`. */
  readonly notBlank?: boolean;
  /** Fails with `{p} has invalid format`. Applied only to text within the maximum. */
  readonly pattern?: RegExp;
}

/** Field text as is, including quotes; a JSON string inside lists and objects. */
export function text(rules: TextRules): ParamType<string> {
  const { strip, min = 0, max, notBlank, pattern } = rules;
  return {
    decode: asIs,
    normalize: (value) => (strip && typeof value === 'string' ? trim(value) : value),
    check(value) {
      if (typeof value !== 'string') return paramErrorOf(value, 'a string');
      if (notBlank && trim(value) === '') return new ParamError((p) => `${p} cannot be blank`);
      if (isShorterThan(value, min)) return new ParamError((p) => `${p} is too short.`);
      if (isLongerThan(value, max)) return new TooLong(max);
      return pattern && !pattern.test(value) ? new ParamError((p) => `${p} has invalid format`) : undefined;
    },
    jsonLength: textJsonLength(max),
    schema: { type: 'string', minLength: rules.min, maxLength: max, pattern: pattern?.source },
  };
}

/** Quoted, with two escapes per code point. */
const textJsonLength = (codePoints: number): number => 2 + 12 * codePoints;

/** JSON of `type` as text of at most `max` UTF-16 units, for operations that parse it in steps. */
export const unparsed = (type: ParamType<unknown>, max: number): ParamType<string> => ({
  decode: unlessLonger(max, asIs),
  normalize: asIs,
  check: (value) => (typeof value === 'string' ? undefined : paramErrorOf(value, 'a string')),
  holdsJson: true,
  jsonLength: max,
  schema: type.schema,
});

type ListError = (position: string) => string;
const INVALID: ListError = (position) => `Invalid ${position}`;
/** Error of most lists in the reference server; literal types and enumerations of organization settings give no reason. */
export const NOT_LISTED: ListError = (position) =>
  `Invalid ${position}: Value error, Not in the list of possible values`;

/** Text from a fixed list. */
export function oneOf<const W extends string>(words: readonly W[], says = INVALID): ParamType<W> {
  const allowed: ReadonlySet<unknown> = new Set(words);
  return {
    decode: asIs,
    normalize: asIs,
    check(value) {
      if (allowed.has(value)) return undefined;
      // Overlong values are not in the list either.
      return value === NOT_JSON ? not('valid JSON') : new ParamError(says);
    },
    jsonLength: textJsonLength(Math.max(...words.map((word) => word.length))),
    schema: { type: 'string', enum: words },
  };
}

export interface NumberRules {
  readonly min?: number;
  readonly max?: number;
}

function boundsError(value: number, { min, max }: NumberRules): ParamError | undefined {
  if (min !== undefined && value < min) return new ParamError((p) => `${p} is too small`);
  return max !== undefined && value > max ? new ParamError((p) => `${p} is too large`) : undefined;
}

/** Room for more digits than any id, plus a comma. */
const NUMBER_JSON_LENGTH = 24;

/** Integer; values beyond exact representation are rounded, because no id is that large. */
export function integer(rules: NumberRules = {}): ParamType<number> {
  return {
    decode: decodeInteger,
    // Numbers of hundreds of digits decode to infinity but are integers.
    normalize: (value) =>
      Number.isInteger(value) || value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY
        ? Math.max(Number.MIN_SAFE_INTEGER, Math.min(value as number, Number.MAX_SAFE_INTEGER))
        : value,
    check: (value) =>
      Number.isInteger(value) ? boundsError(value as number, rules) : paramErrorOf(value, 'an integer'),
    jsonLength: NUMBER_JSON_LENGTH,
    schema: { type: 'integer', format: 'int64', minimum: rules.min, maximum: rules.max },
  };
}

/** Integer from a fixed list. */
export function integerOneOf<const N extends number>(numbers: readonly N[], says = INVALID): ParamType<N> {
  const allowed: ReadonlySet<unknown> = new Set(numbers);
  const { decode, normalize, check, jsonLength } = integer();
  return {
    decode,
    normalize,
    check: (value) => check(value) ?? (allowed.has(value) ? undefined : new ParamError(says)),
    jsonLength,
    schema: { type: 'integer', enum: numbers },
  };
}

export function float(rules: NumberRules = {}): ParamType<number> {
  return {
    decode: decodeFloat,
    normalize: (value) => (value instanceof WholeFloat ? value.value : value),
    check: (value) => (Number.isFinite(value) ? boundsError(value as number, rules) : paramErrorOf(value, 'a float')),
    jsonLength: NUMBER_JSON_LENGTH,
    schema: { type: 'number', minimum: rules.min, maximum: rules.max },
  };
}

export function boolean(): ParamType<boolean> {
  return {
    decode: decodeBoolean,
    normalize: asIs,
    check: (value) => (typeof value === 'boolean' ? undefined : paramErrorOf(value, 'a boolean')),
    jsonLength: 5,
    schema: { type: 'boolean' },
  };
}

/** Maximum or exact amount; one of them is required. */
type Amount =
  | { readonly max: number; readonly length?: undefined }
  | { readonly length: number; readonly max?: undefined };

/**
 * Number of elements. `max` fails with `{p} is too long (limit: {max} items)`, `length` with `{p} should have exactly
 * {length} items`.
 */
export type ListRules = Amount & {
  /** Fails with `{p} cannot be blank`. */
  readonly notEmpty?: boolean;
  /** Maximum JSON length of the whole list in UTF-16 units, if less than the sum of its elements' maxima. */
  readonly jsonLength?: number;
};

/** Invalid elements are named by index: `principals[0] is not an integer`. */
export function listOf<T>(element: ParamType<T>, rules: ListRules): ParamType<T[]> {
  const { max, length, notEmpty } = rules;
  const most = (max ?? length)!;
  return json({
    normalize: (value) =>
      Array.isArray(value) && value.length <= most ? value.map((each) => element.normalize(each)) : value,
    check(value) {
      if (!Array.isArray(value)) return paramErrorOf(value, 'a list');
      if (notEmpty && value.length === 0) return new ParamError((p) => `${p} cannot be blank`);
      if (length !== undefined && value.length !== length) {
        return new ParamError((p) => `${p} should have exactly ${length} items`);
      }
      if (value.length > most) return new TooLong(most, 'items');
      for (let index = 0; index < value.length; index++) {
        const error = element.check(value[index]);
        if (error) return error.within(index);
      }
      return undefined;
    },
    jsonLength: rules.jsonLength ?? 2 + most * (element.jsonLength + 1),
    schema: { type: 'array', items: element.schema, minItems: length ?? (notEmpty ? 1 : undefined), maxItems: most },
  });
}

/** Optional key; see `object`. */
export interface OptionalKey<T> {
  readonly optional: ParamType<T>;
}

export const optional = <T>(type: ParamType<T>): OptionalKey<T> => ({ optional: type });

type Shape = Readonly<Record<string, ParamType<unknown> | OptionalKey<unknown>>>;
type OptionalKeysOf<S extends Shape> = { [K in keyof S]: S[K] extends OptionalKey<unknown> ? K : never }[keyof S];

export type ObjectOf<S extends Shape> = {
  [K in Exclude<keyof S, OptionalKeysOf<S>>]: S[K] extends ParamType<infer T> ? T : never;
} & { [K in OptionalKeysOf<S>]?: S[K] extends OptionalKey<infer T> ? T : never };

/** Room for ignored keys of an open object, which newer clients may send. */
const IGNORED_JSON_LENGTH = 10_000;

/**
 * Checks values in the order of `shape`, then unknown keys, which an open object ignores. Undefined values, which only
 * programs pass, count as absent.
 */
export function object<S extends Shape>(shape: S, rules: { readonly open?: boolean } = {}): ParamType<ObjectOf<S>> {
  const members = Object.entries(shape).map(([key, member]) =>
    'optional' in member ? { key, type: member.optional, isRequired: false } : { key, type: member, isRequired: true },
  );
  const strayKeyOf = (value: Dictionary): string | undefined =>
    rules.open ? undefined : Object.keys(value).find((key) => !Object.hasOwn(shape, key));
  return json({
    normalize(value) {
      if (!isDictionary(value)) return value;
      const listed: Record<string, unknown> = {};
      for (const { key, type } of members) {
        if (value[key] !== undefined) listed[key] = type.normalize(value[key]);
      }
      const stray = strayKeyOf(value);
      return stray === undefined ? listed : { ...listed, [stray]: value[stray] };
    },
    check(value) {
      if (!isDictionary(value)) return paramErrorOf(value, 'a dict');
      for (const { key, type, isRequired } of members) {
        if (value[key] !== undefined) {
          const error = type.check(value[key]);
          if (error) return error.within(key);
        } else if (isRequired) return new ParamError((p) => `${key} key is missing from ${p}`);
      }
      const stray = strayKeyOf(value);
      return stray === undefined
        ? undefined
        : new ParamError((p) => `Argument "${quotable(stray)}" at ${p} is unexpected`).within(stray);
    },
    jsonLength: members.reduce(
      (sum, { key, type }) => sum + key.length + 4 + type.jsonLength,
      2 + (rules.open ? IGNORED_JSON_LENGTH : 0),
    ),
    schema: {
      type: 'object',
      properties: Object.fromEntries(members.map(({ key, type }) => [key, type.schema])),
      required: members.filter(({ isRequired }) => isRequired).map(({ key }) => key),
      additionalProperties: rules.open ?? false,
    },
  });
}

export interface RecordRules {
  /** Maximum number of entries of any kind; fails with `{p} is too long (limit: {max} items)`. */
  readonly max: number;
  /** Maximum key length in code points; fails with `{p}["{key}"] is too long (limit: {maxKeyLength} characters)`. */
  readonly maxKeyLength: number;
}

/** Dictionary with arbitrary keys. A valid value has no prototype, so the key `__proto__` is safe. */
export function recordOf<T>(type: ParamType<T>, { max, maxKeyLength }: RecordRules): ParamType<Record<string, T>> {
  return json({
    normalize(value) {
      if (!isDictionary(value)) return value;
      const keys = Object.keys(value);
      if (keys.length > max) return value;
      const entries: Record<string, unknown> = Object.create(null);
      for (const key of keys) entries[key] = type.normalize(value[key]);
      return entries;
    },
    check(value) {
      if (!isDictionary(value)) return paramErrorOf(value, 'a dict');
      const keys = Object.keys(value);
      if (keys.length > max) return new TooLong(max, 'items');
      for (const key of keys) {
        const error = isLongerThan(key, maxKeyLength) ? new TooLong(maxKeyLength) : type.check(value[key]);
        if (error) return error.within(key);
      }
      return undefined;
    },
    jsonLength: 2 + max * (textJsonLength(maxKeyLength) + 2 + type.jsonLength),
    schema: {
      type: 'object',
      additionalProperties: type.schema,
      propertyNames: { maxLength: maxKeyLength },
      maxProperties: max,
    },
  });
}

type Dictionary = Readonly<Record<string, unknown>>;

function isDictionary(value: unknown): value is Dictionary {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof TooLong);
}

/** Accepts JSON `null` too. Plain text is unaffected, because `null` is ordinary text there. */
export function nullable<T>(type: ParamType<T>): ParamType<T | null> {
  return {
    decode: type.decode,
    ...(type.holdsJson && { holdsJson: true as const }),
    normalize: (value) => (value === null ? null : type.normalize(value)),
    check: (value) => (value === null ? undefined : type.check(value)),
    jsonLength: Math.max(type.jsonLength, 4),
    schema: { anyOf: [type.schema, { type: 'null' }] },
  };
}

/**
 * Accepts values of any alternative; the first match normalizes. Without a match, a length error takes precedence over
 * the first alternative's error. `says` replaces the text of errors other than length errors.
 */
export function anyOf<const P extends readonly ParamType<unknown>[]>(
  alternatives: P,
  says?: (position: string) => string,
): ParamType<ValueOf<P[number]>> {
  return json({
    normalize(value) {
      for (const alternative of alternatives) {
        const normalized = alternative.normalize(value);
        if (!alternative.check(normalized)) return normalized;
      }
      return value;
    },
    check(value) {
      let first: ParamError | undefined;
      let tooLong: TooLong | undefined;
      for (const alternative of alternatives) {
        const error = alternative.check(value);
        if (!error) return undefined;
        first ??= error;
        if (error instanceof TooLong) tooLong ??= error;
      }
      return tooLong ?? (says && value !== NOT_JSON ? new ParamError(says) : first);
    },
    jsonLength: Math.max(...alternatives.map(({ jsonLength }) => jsonLength)),
    schema: { anyOf: alternatives.map(({ schema }) => schema) },
  });
}

/** Lists the type's schema in the OpenAPI document under this name, and replaces it by a reference elsewhere. */
export const named = <T>(title: string, type: ParamType<T>): ParamType<T> => ({
  ...type,
  schema: { title, ...type.schema },
});

/** Requires JSON even for text, for example `idle_queue_timeout="mobile"` with quotes. */
export const json = <T>(type: Omit<ParamType<T>, 'decode'>): ParamType<T> => ({
  ...type,
  decode: unlessLonger(fieldLength(type.jsonLength), decodeJson),
  holdsJson: true,
});

/** Accepts JSON or bare text, for example `to=[7,8]`, `to="general"` or `to=general`. */
export const jsonOrText = <T>(type: ParamType<T>): ParamType<T> => ({
  ...type,
  decode: unlessLonger(fieldLength(type.jsonLength), (text) => {
    const value = decodeJson(text);
    return value === NOT_JSON ? text : value;
  }),
  holdsJson: true,
});

/**
 * Adds a rule of one operation. `problem` returns the full text with `{p}` for the position, or undefined for a valid
 * value: `Invalid {p}: Value error, …`.
 */
export function refine<T>(type: ParamType<T>, problem: (value: T) => string | undefined): ParamType<T> {
  return {
    ...type,
    check(value) {
      const error = type.check(value);
      if (error) return error;
      const template = problem(value as T);
      return template === undefined ? undefined : new ParamError((p) => template.replaceAll('{p}', p));
    },
  };
}
