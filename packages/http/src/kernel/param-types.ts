import {
  isLongerThan,
  isShorterThan,
  parseJson,
  replaceFractionals,
  takeCodePoints,
  trim,
} from '@parley/domain/kernel';

/**
 * What parameters hold at most where the contract does not say. A type without a maximum does not compile; one whose
 * maximum the contract leaves to the operation ("Channel name too long …", a topic that is cut) takes more than that.
 */

/** Of a text in code points. */
export const MAX_TEXT_LENGTH = 10_000;
/** Of what programs call things by: a queue, a message that was not sent yet. */
export const MAX_TOKEN_LENGTH = 100;
/** In one list. */
export const MAX_IDS = 10_000;
/** In one list: channels, addresses, words. */
export const MAX_NAMES = 1000;

/** Of a number as it is written. */
export const MAX_NUMBER_LENGTH = 1000;
/** Of a field that holds JSON, in UTF-16 units, whatever its type would let it hold. */
export const MAX_JSON_LENGTH = 1_000_000;

/** The last second of the year 9999: later times have no usual spelling. */
export const MAX_TIME = 253_402_300_799;

/**
 * A value that does not fit, found somewhere inside a parameter. `say` gets the position as messages write it:
 * `principals[0]`, `subscriptions[0]["name"]`. Thrown by checks, and only within this package.
 */
export class ParamError {
  private readonly steps: (string | number)[] = [];

  constructor(
    private readonly formatMessage: (position: string) => string,
    readonly code: 'BAD_REQUEST' | 'REQUEST_VARIABLE_INVALID' = 'BAD_REQUEST',
    /** Present exactly for REQUEST_VARIABLE_INVALID. */
    readonly badValue?: string,
  ) {}

  /** Called from the inside out. */
  within(step: string | number): this {
    this.steps.unshift(step);
    return this;
  }

  messageFor(parameter: string): string {
    const position = this.steps.map((step) => `[${JSON.stringify(typeof step === 'string' ? quotable(step) : step)}]`);
    return this.formatMessage(parameter + position.join(''));
  }
}

/** More than a parameter may hold. Also what the text of a field becomes that is too long to be looked at. */
export class TooLong extends ParamError {
  constructor(limit: number, unit: 'characters' | 'items' = 'characters') {
    super((position) => `${position} is too long (limit: ${limit} ${unit})`);
  }
}

const MAX_QUOTED_LENGTH = 100;

/** Keys that nobody knows are quoted in refusals, and may be as long as a request. */
export const quotable = (key: string): string =>
  isLongerThan(key, MAX_QUOTED_LENGTH) ? `${takeCodePoints(key, MAX_QUOTED_LENGTH)}…` : key;

/** How the text of a field becomes a value, which the check of its type then judges: nothing here throws. */

/** What text becomes that should be JSON and is not. */
export const NOT_JSON = Symbol('not JSON');

const INTEGER = /^-?(?:0|[1-9]\d*)$/;

/** Being refused by the parser costs more than everything else about a parameter, and bare words are common. */
const MAY_BE_JSON = /^(?:[\s"[{\d-]|true|false|null)/;

/** `10.0` and `1e3` are no integers to the API, although JavaScript cannot tell them from `10` and `1000`. */
function decodeJson(text: string): unknown {
  const value = parsePlainJson(text);
  if (value === NOT_JSON || !FRACTION.test(text)) return value;
  return parsePlainJson(replaceFractionals(text, unlikeInteger));
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
/** Itself, or where only its value is an integer something that is none. */
const unlikeInteger = (number: string): string =>
  Number.isFinite(Number(number)) && !Number.isInteger(Number(number)) ? number : '0.5';

/** What is longer than anything that fits is not looked at. */
const unlessLonger = (limit: number, decode: (text: string) => unknown) => (text: string) =>
  text.length > limit ? new TooLong(limit) : decode(text);

export const decodeInteger = unlessLonger(
  MAX_NUMBER_LENGTH,
  (text) => (INTEGER.test(text) ? Number(text) + 0 : decodeJson(text)), // + 0: no negative zero
);

export const decodeFloat = unlessLonger(MAX_NUMBER_LENGTH, parsePlainJson);

export const decodeBoolean = unlessLonger(MAX_NUMBER_LENGTH, (text) =>
  text === 'true' ? true : text === 'false' ? false : decodeJson(text),
);

/** White space that JSON may have beside what is counted. */
const JSON_SLACK = 1000;

/** UTF-16 units that a field holds at most, where the longest JSON that fits has so many. */
const fieldLength = (jsonLength: number): number => Math.min(jsonLength + JSON_SLACK, MAX_JSON_LENGTH);

export const jsonDecoder = (jsonLength: number) => unlessLonger(fieldLength(jsonLength), decodeJson);

export const jsonOrTextDecoder = (jsonLength: number) =>
  unlessLonger(fieldLength(jsonLength), (text) => {
    const value = decodeJson(text);
    return value === NOT_JSON ? text : value;
  });

/** The kinds of values parameters have, as values to combine: `listOf(object({ name: text({ max: 60 }) }), { max: 9 })`. */

export interface ParamType<T> {
  /** From the text of a form field; never throws. Types inside lists and objects get JSON values instead. */
  decode(text: string): unknown;
  /** @throws Misfit */
  check(value: unknown): T;
  /** UTF-16 units of the longest value that fits, as JSON without white space. Whatever holds it is bounded by that. */
  readonly jsonLength: number;
  /** Whether a field's text is JSON; absent: texts and numbers as they are. */
  readonly holdsJson?: true;
  /** For the OpenAPI document, with every maximum. */
  readonly schema: Readonly<Record<string, unknown>>;
}

export type ValueOf<P> = P extends ParamType<infer T> ? T : never;

const asText = (field: string): unknown => field;

const not = (what: string) => new ParamError((position) => `${position} is not ${what}`);

/** Why a value is not `what`, if it is a value at all. */
function paramErrorOf(value: unknown, what: string): ParamError {
  if (value instanceof TooLong) return value;
  return not(value === NOT_JSON ? 'valid JSON' : what);
}

/** At most so much, or exactly so much; without either it would be any amount. */
type Amount =
  | { readonly max: number; readonly length?: undefined }
  | { readonly length: number; readonly max?: undefined };

/**
 * In Unicode code points `max`: `{p} is too long (limit: {max} characters)`, or `length`: `{p} is not length {length}`.
 */
export type TextRules = Amount & {
  /** Surrounding white space is removed, before anything else is checked. */
  readonly strip?: boolean;
  /** In Unicode code points: `{p} is too short.` */
  readonly min?: number;
  /** `{p} cannot be blank`. */
  readonly notBlank?: boolean;
  /** `{p} has invalid format`. Sees no more than the maximum. */
  readonly pattern?: RegExp;
};

/** The text of the field as it stands, quotes included; a JSON string inside lists and objects. */
export function text(rules: TextRules): ParamType<string> {
  const { strip, min = 0, max, length, notBlank, pattern } = rules;
  return {
    decode: asText,
    check(value) {
      if (typeof value !== 'string') throw paramErrorOf(value, 'a string');
      const result = strip ? trim(value) : value;
      if (notBlank && trim(result) === '') throw new ParamError((p) => `${p} cannot be blank`);
      if (length !== undefined && (isShorterThan(result, length) || isLongerThan(result, length))) {
        throw not(`length ${length}`);
      }
      if (isShorterThan(result, min)) throw new ParamError((p) => `${p} is too short.`);
      if (max !== undefined && isLongerThan(result, max)) throw new TooLong(max);
      if (pattern && !pattern.test(result)) throw new ParamError((p) => `${p} has invalid format`);
      return result;
    },
    jsonLength: textJsonLength((max ?? length)!),
    schema: { type: 'string', minLength: length ?? rules.min, maxLength: length ?? max, pattern: pattern?.source },
  };
}

/** In quotes, each code point as two escapes. */
const textJsonLength = (codePoints: number): number => 2 + 12 * codePoints;

/** A text from a fixed list: `Invalid {p}`. */
export function oneOf<const W extends string>(...words: readonly W[]): ParamType<W> {
  const allowed: ReadonlySet<unknown> = new Set(words);
  return {
    decode: asText,
    check(value) {
      // What is too long to be read is none of them either.
      if (!allowed.has(value)) throw value === NOT_JSON ? not('valid JSON') : new ParamError((p) => `Invalid ${p}`);
      return value as W;
    },
    jsonLength: textJsonLength(Math.max(...words.map((word) => word.length))),
    schema: { type: 'string', enum: words },
  };
}

export interface NumberRules {
  readonly min?: number;
  readonly max?: number;
}

/** More digits than any id has, and the comma after them. */
const NUMBER_JSON_LENGTH = 24;

/** What no number holds exactly becomes the nearest that one does: ids as large as that are nobody's. */
export function integer(rules: NumberRules = {}): ParamType<number> {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = rules;
  return {
    decode: decodeInteger,
    check(value) {
      // Hundreds of digits are an integer too.
      if (!Number.isInteger(value) && value !== Number.POSITIVE_INFINITY && value !== Number.NEGATIVE_INFINITY) {
        throw paramErrorOf(value, 'an integer');
      }
      if ((value as number) < min) throw new ParamError((p) => `${p} is too small`);
      if ((value as number) > max) throw new ParamError((p) => `${p} is too large`);
      return Math.max(Number.MIN_SAFE_INTEGER, Math.min(value as number, Number.MAX_SAFE_INTEGER));
    },
    jsonLength: NUMBER_JSON_LENGTH,
    schema: { type: 'integer', minimum: rules.min, maximum: rules.max },
  };
}

/** An integer from a fixed list: `Invalid {p}`. */
export function integerOneOf<const N extends number>(...numbers: readonly N[]): ParamType<N> {
  const allowed: ReadonlySet<number> = new Set(numbers);
  const any = integer();
  return {
    decode: decodeInteger,
    check(value) {
      const number = any.check(value);
      if (!allowed.has(number)) throw new ParamError((p) => `Invalid ${p}`);
      return number as N;
    },
    jsonLength: any.jsonLength,
    schema: { type: 'integer', enum: numbers },
  };
}

export function float(rules: NumberRules = {}): ParamType<number> {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = rules;
  return {
    decode: decodeFloat,
    check(value) {
      if (!Number.isFinite(value)) throw paramErrorOf(value, 'a float');
      if ((value as number) < min) throw new ParamError((p) => `${p} is too small`);
      if ((value as number) > max) throw new ParamError((p) => `${p} is too large`);
      return value as number;
    },
    jsonLength: NUMBER_JSON_LENGTH,
    schema: { type: 'number', minimum: rules.min, maximum: rules.max },
  };
}

export function boolean(): ParamType<boolean> {
  return {
    decode: decodeBoolean,
    check(value) {
      if (typeof value !== 'boolean') throw paramErrorOf(value, 'a boolean');
      return value;
    },
    jsonLength: 5,
    schema: { type: 'boolean' },
  };
}

/**
 * In elements, whatever they are, `max`: `{p} is too long (limit: {max} items)`, or `length`: `{p} should have exactly
 * {length} items`.
 */
export type ListRules = Amount & {
  /** `{p} cannot be blank`. */
  readonly notEmpty?: boolean;
  /** UTF-16 units of the whole list as JSON, where its elements together may not fill what each of them may. */
  readonly jsonLength?: number;
};

/** A bad element is named by its index: `principals[0] is not an integer`. */
export function listOf<T>(element: ParamType<T>, rules: ListRules): ParamType<T[]> {
  const { max, length, notEmpty } = rules;
  const most = (max ?? length)!;
  return jsonType({
    check(value) {
      if (!Array.isArray(value)) throw paramErrorOf(value, 'a list');
      if (notEmpty && value.length === 0) throw new ParamError((p) => `${p} cannot be blank`);
      if (length !== undefined && value.length !== length) {
        throw new ParamError((p) => `${p} should have exactly ${length} items`);
      }
      if (value.length > most) throw new TooLong(most, 'items');
      const checked: T[] = [];
      let index = 0;
      try {
        for (; index < value.length; index++) checked.push(element.check(value[index]));
      } catch (error) {
        throw error instanceof ParamError ? error.within(index) : error;
      }
      return checked;
    },
    jsonLength: rules.jsonLength ?? 2 + most * (element.jsonLength + 1),
    schema: { type: 'array', items: element.schema, minItems: length ?? (notEmpty ? 1 : undefined), maxItems: most },
  });
}

/** A type whose field holds JSON. */
function jsonType<T>(type: Omit<ParamType<T>, 'decode'>): ParamType<T> {
  return { ...type, decode: jsonDecoder(type.jsonLength), holdsJson: true };
}

/** Marks a key that may be absent; see `object`. */
export interface OptionalKey<T> {
  readonly optional: ParamType<T>;
}

export const optional = <T>(type: ParamType<T>): OptionalKey<T> => ({ optional: type });

type Shape = Readonly<Record<string, ParamType<unknown> | OptionalKey<unknown>>>;
type OptionalKeysOf<S extends Shape> = { [K in keyof S]: S[K] extends OptionalKey<unknown> ? K : never }[keyof S];

export type ObjectOf<S extends Shape> = {
  [K in Exclude<keyof S, OptionalKeysOf<S>>]: S[K] extends ParamType<infer T> ? T : never;
} & { [K in OptionalKeysOf<S>]?: S[K] extends OptionalKey<infer T> ? T : never };

/** Room for keys that an open object ignores, which newer clients may send. */
const IGNORED_JSON_LENGTH = 10_000;

/** Values in the order of `shape`, then keys it does not know, which an open object ignores. */
export function object<S extends Shape>(shape: S, rules: { readonly open?: boolean } = {}): ParamType<ObjectOf<S>> {
  const members = Object.entries(shape).map(([key, member]) =>
    'optional' in member ? { key, type: member.optional, isRequired: false } : { key, type: member, isRequired: true },
  );
  return jsonType({
    check(value) {
      if (!isDictionary(value)) throw paramErrorOf(value, 'a dict');
      const checked: Record<string, unknown> = {};
      for (const { key, type, isRequired } of members) {
        if (Object.hasOwn(value, key)) checked[key] = checkMember(type, value, key);
        else if (isRequired) throw new ParamError((p) => `${key} key is missing from ${p}`);
      }
      if (!rules.open) {
        const stray = Object.keys(value).find((key) => !Object.hasOwn(shape, key));
        if (stray !== undefined) {
          throw new ParamError((p) => `Argument "${quotable(stray)}" at ${p} is unexpected`).within(stray);
        }
      }
      return checked as ObjectOf<S>;
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
  /** Entries: `{p} is too long (limit: {max} items)`, whatever they are. */
  readonly max: number;
  /** Of a key, in Unicode code points: `{p}["{key}"] is too long (limit: {maxKeyLength} characters)`. */
  readonly maxKeyLength: number;
}

/** A dictionary with any keys. The result has no prototype to trip over: a key may be called `__proto__`. */
export function recordOf<T>(type: ParamType<T>, { max, maxKeyLength }: RecordRules): ParamType<Record<string, T>> {
  return jsonType({
    check(value) {
      if (!isDictionary(value)) throw paramErrorOf(value, 'a dict');
      const keys = Object.keys(value);
      if (keys.length > max) throw new TooLong(max, 'items');
      const checked: Record<string, T> = Object.create(null);
      for (const key of keys) {
        if (isLongerThan(key, maxKeyLength)) throw new TooLong(maxKeyLength).within(key);
        checked[key] = checkMember(type, value, key);
      }
      return checked;
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

/** @throws Misfit that says at which key or index */
export function checkMember<T, K extends string | number>(
  type: ParamType<T>,
  value: Readonly<Record<K, unknown>>,
  key: K,
): T {
  try {
    return type.check(value[key]);
  } catch (error) {
    throw error instanceof ParamError ? error.within(key) : error;
  }
}

function isDictionary(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof TooLong);
}

/** JSON `null` too. Of a plain text it makes no difference: there `null` is four letters. */
export function nullable<T>(type: ParamType<T>): ParamType<T | null> {
  return {
    decode: type.decode,
    ...(type.holdsJson && { holdsJson: true as const }),
    check: (value) => (value === null ? null : type.check(value)),
    jsonLength: Math.max(type.jsonLength, 4),
    schema: { anyOf: [type.schema, { type: 'null' }] },
  };
}

/**
 * The first alternative that fits. When none does, what the first one says, unless one says that it is too long: then that
 * is what was meant. `says`: another text, in full, for what is not too long.
 */
export function anyOf<const P extends readonly ParamType<unknown>[]>(
  alternatives: P,
  says?: (position: string) => string,
): ParamType<ValueOf<P[number]>> {
  return jsonType({
    check(value) {
      let first: ParamError | undefined;
      let tooLong: TooLong | undefined;
      for (const alternative of alternatives) {
        try {
          return alternative.check(value) as ValueOf<P[number]>;
        } catch (error) {
          if (!(error instanceof ParamError)) throw error;
          first ??= error;
          if (error instanceof TooLong) tooLong ??= error;
        }
      }
      throw tooLong ?? (says && value !== NOT_JSON ? new ParamError(says) : first);
    },
    jsonLength: Math.max(...alternatives.map(({ jsonLength }) => jsonLength)),
    schema: { anyOf: alternatives.map(({ schema }) => schema) },
  });
}

/** The field holds JSON even where the type is text: `idle_queue_timeout="mobile"`, quotes and all. */
export const json = <T>(type: ParamType<T>): ParamType<T> => jsonType(type);

/** JSON if the field holds JSON, else its bare text: `to=[7,8]`, `to="general"`, `to=general`. */
export const jsonOrText = <T>(type: ParamType<T>): ParamType<T> => ({
  ...type,
  decode: jsonOrTextDecoder(type.jsonLength),
  holdsJson: true,
});

/**
 * A rule of one operation. `problem` answers the text in full, with `{p}` for the position, or nothing when the value
 * fits: `Invalid {p}: Value error, …`.
 */
export function refine<T>(type: ParamType<T>, problem: (value: T) => string | undefined): ParamType<T> {
  return {
    ...type,
    check(raw) {
      const value = type.check(raw);
      const template = problem(value);
      if (template !== undefined) throw new ParamError((p) => template.replaceAll('{p}', p));
      return value;
    },
  };
}

/** Refuses what `type` refuses, and what does not `fit`, in the older words: `Bad value for '{p}': …`. */
export function legacy<T>(type: ParamType<T>, fits: (value: T) => boolean = () => true): ParamType<T> {
  const refused = (value: unknown) => {
    const bad = typeof value === 'string' ? value : JSON.stringify(value);
    return new ParamError((p) => `Bad value for '${p}': ${bad}`, 'REQUEST_VARIABLE_INVALID', bad);
  };
  return {
    ...type,
    // Keeps the text, which the refusal quotes, when it means nothing to the type.
    decode(text) {
      const value = type.decode(text);
      try {
        type.check(value);
        return value;
      } catch (error) {
        return error instanceof TooLong ? value : text;
      }
    },
    check(raw) {
      let value: T;
      try {
        value = type.check(raw);
      } catch (error) {
        throw error instanceof ParamError && !(error instanceof TooLong) ? refused(raw) : error;
      }
      if (!fits(value)) throw refused(raw);
      return value;
    },
  };
}

/** Who has a permission: a group by id, or people and groups one by one. */
export type WireGroupSetting = number | { direct_members: number[]; direct_subgroups: number[] };

export function groupSetting(): ParamType<WireGroupSetting> {
  const ids = listOf(integer(), { max: MAX_IDS });
  return anyOf([integer(), object({ direct_members: ids, direct_subgroups: ids })]) as ParamType<WireGroupSetting>;
}

/** A change of such a setting; `old` guards against somebody else's change in between. */
export function groupSettingChange(): ParamType<{ new: WireGroupSetting; old?: WireGroupSetting }> {
  return object({ new: groupSetting(), old: optional(groupSetting()) }) as ParamType<{
    new: WireGroupSetting;
    old?: WireGroupSetting;
  }>;
}
