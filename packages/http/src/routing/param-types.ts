import { parseJson, replaceFractionals, trim } from '@parley/domain';

/** The kinds of values parameters have, as values to combine: `listOf(object({ name: text() }))`. */

/**
 * A value that does not fit, found somewhere inside a parameter. `say` gets the position as messages write it:
 * `principals[0]`, `subscriptions[0]["name"]`. Thrown by checks, and only within this package.
 */
export class Misfit {
  private readonly steps: (string | number)[] = [];

  constructor(
    private readonly say: (position: string) => string,
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
    return this.say(parameter + this.steps.map((step) => `[${JSON.stringify(step)}]`).join(''));
  }
}

/** What text becomes that should be JSON and is not. */
const NOT_JSON = Symbol('not JSON');

export interface ParamType<T> {
  /** From the text of a form field; never throws. Types inside lists and objects get JSON values instead. */
  decode(text: string): unknown;
  /** @throws Misfit */
  check(value: unknown): T;
  /** For the OpenAPI document. */
  readonly schema: Readonly<Record<string, unknown>>;
}

export type ValueOf<P> = P extends ParamType<infer T> ? T : never;

const INTEGER = /^-?(?:0|[1-9]\d*)$/;
const asText = (text: string): unknown => text;

/** Being refused by the parser costs more than everything else about a parameter, and bare words are common. */
const MAY_BE_JSON = /^(?:[\s"[{\d-]|true|false|null)/;

/** `10.0` and `1e3` are no integers to the API, although JavaScript cannot tell them from `10` and `1000`. */
export function decodeJson(text: string): unknown {
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
  INTEGER.test(number) || (Number.isFinite(Number(number)) && !Number.isInteger(Number(number))) ? number : '0.5';

function decodeInteger(text: string): unknown {
  return INTEGER.test(text) ? Number(text) + 0 : decodeJson(text); // + 0: no negative zero
}

function decodeBoolean(text: string): unknown {
  return text === 'true' ? true : text === 'false' ? false : decodeJson(text);
}

const not = (what: string) => new Misfit((position) => `${position} is not ${what}`);

/** Every check of a JSON value begins with it. */
function refuseMalformed(value: unknown): void {
  if (value === NOT_JSON) throw not('valid JSON');
}

const hasFewerThan = (length: number, text: string) => text.length < length * 2 && codePoints(text) < length;
const hasMoreThan = (length: number, text: string) => text.length > length && codePoints(text) > length;

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

export interface TextRules {
  /** Surrounding white space is removed, before anything else is checked. */
  readonly strip?: boolean;
  /** In Unicode code points: `{p} is too short.` */
  readonly min?: number;
  /** In Unicode code points: `{p} is too long (limit: …)`. */
  readonly max?: number;
  /** In Unicode code points: `{p} is not length …`. */
  readonly length?: number;
  /** `{p} cannot be blank`. */
  readonly notBlank?: boolean;
  /** `{p} has invalid format`. */
  readonly pattern?: RegExp;
}

/** The text of the field as it stands, quotes included; a JSON string inside lists and objects. */
export function text(rules: TextRules = {}): ParamType<string> {
  const { strip, min, max, length, notBlank, pattern } = rules;
  return {
    decode: asText,
    check(value) {
      refuseMalformed(value);
      if (typeof value !== 'string') throw not('a string');
      const result = strip ? trim(value) : value;
      if (notBlank && trim(result) === '') throw new Misfit((p) => `${p} cannot be blank`);
      if (length !== undefined && codePoints(result) !== length) throw not(`length ${length}`);
      if (min !== undefined && hasFewerThan(min, result)) throw new Misfit((p) => `${p} is too short.`);
      if (max !== undefined && hasMoreThan(max, result)) {
        throw new Misfit((p) => `${p} is too long (limit: ${max} characters)`);
      }
      if (pattern && !pattern.test(result)) throw new Misfit((p) => `${p} has invalid format`);
      return result;
    },
    schema: { type: 'string', minLength: min, maxLength: max, pattern: pattern?.source },
  };
}

/** A text from a fixed list: `Invalid {p}`. */
export function oneOf<const W extends string>(...words: readonly W[]): ParamType<W> {
  const allowed: ReadonlySet<unknown> = new Set(words);
  return {
    decode: asText,
    check(value) {
      refuseMalformed(value);
      if (!allowed.has(value)) throw new Misfit((p) => `Invalid ${p}`);
      return value as W;
    },
    schema: { type: 'string', enum: words },
  };
}

export interface NumberRules {
  readonly min?: number;
  readonly max?: number;
}

/** What no number holds exactly becomes the nearest that one does: ids as large as that are nobody's. */
export function integer(rules: NumberRules = {}): ParamType<number> {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = rules;
  return {
    decode: decodeInteger,
    check(value) {
      // Hundreds of digits are an integer too.
      if (!Number.isInteger(value) && value !== Number.POSITIVE_INFINITY && value !== Number.NEGATIVE_INFINITY) {
        refuseMalformed(value);
        throw not('an integer');
      }
      if ((value as number) < min) throw new Misfit((p) => `${p} is too small`);
      if ((value as number) > max) throw new Misfit((p) => `${p} is too large`);
      return Math.max(Number.MIN_SAFE_INTEGER, Math.min(value as number, Number.MAX_SAFE_INTEGER));
    },
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
      if (!allowed.has(number)) throw new Misfit((p) => `Invalid ${p}`);
      return number as N;
    },
    schema: { type: 'integer', enum: numbers },
  };
}

export function float(rules: NumberRules = {}): ParamType<number> {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = rules;
  return {
    decode: parsePlainJson,
    check(value) {
      refuseMalformed(value);
      if (!Number.isFinite(value)) throw not('a float');
      if ((value as number) < min) throw new Misfit((p) => `${p} is too small`);
      if ((value as number) > max) throw new Misfit((p) => `${p} is too large`);
      return value as number;
    },
    schema: { type: 'number', minimum: rules.min, maximum: rules.max },
  };
}

export function boolean(): ParamType<boolean> {
  return {
    decode: decodeBoolean,
    check(value) {
      if (typeof value !== 'boolean') {
        refuseMalformed(value);
        throw not('a boolean');
      }
      return value;
    },
    schema: { type: 'boolean' },
  };
}

export interface ListRules {
  /** `{p} cannot be blank`. */
  readonly notEmpty?: boolean;
}

/** A bad element is named by its index: `principals[0] is not an integer`. */
export function listOf<T>(element: ParamType<T>, { notEmpty }: ListRules = {}): ParamType<T[]> {
  return {
    decode: decodeJson,
    check(value) {
      refuseMalformed(value);
      if (!Array.isArray(value)) throw not('a list');
      if (notEmpty && value.length === 0) throw new Misfit((p) => `${p} cannot be blank`);
      const checked: T[] = [];
      let index = 0;
      try {
        for (; index < value.length; index++) checked.push(element.check(value[index]));
      } catch (error) {
        throw error instanceof Misfit ? error.within(index) : error;
      }
      return checked;
    },
    schema: { type: 'array', items: element.schema },
  };
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

/** Values in the order of `shape`, then keys it does not know, which an open object ignores. */
export function object<S extends Shape>(shape: S, rules: { readonly open?: boolean } = {}): ParamType<ObjectOf<S>> {
  const members = Object.entries(shape).map(([key, member]) =>
    'optional' in member ? { key, type: member.optional, isRequired: false } : { key, type: member, isRequired: true },
  );
  return {
    decode: decodeJson,
    check(value) {
      refuseMalformed(value);
      if (!isDictionary(value)) throw not('a dict');
      const checked: Record<string, unknown> = {};
      for (const { key, type, isRequired } of members) {
        if (Object.hasOwn(value, key)) checked[key] = checkMember(type, value, key);
        else if (isRequired) throw new Misfit((p) => `${key} key is missing from ${p}`);
      }
      if (!rules.open) {
        const stray = Object.keys(value).find((key) => !Object.hasOwn(shape, key));
        if (stray !== undefined) throw new Misfit((p) => `Argument "${stray}" at ${p} is unexpected`).within(stray);
      }
      return checked as ObjectOf<S>;
    },
    schema: {
      type: 'object',
      properties: Object.fromEntries(members.map(({ key, type }) => [key, type.schema])),
      required: members.filter(({ isRequired }) => isRequired).map(({ key }) => key),
      additionalProperties: rules.open ?? false,
    },
  };
}

/** A dictionary with any keys. The result has no prototype to trip over: a key may be called `__proto__`. */
export function recordOf<T>(type: ParamType<T>): ParamType<Record<string, T>> {
  return {
    decode: decodeJson,
    check(value) {
      refuseMalformed(value);
      if (!isDictionary(value)) throw not('a dict');
      const checked: Record<string, T> = Object.create(null);
      for (const key of Object.keys(value)) checked[key] = checkMember(type, value, key);
      return checked;
    },
    schema: { type: 'object', additionalProperties: type.schema },
  };
}

function checkMember<T>(type: ParamType<T>, value: Readonly<Record<string, unknown>>, key: string): T {
  try {
    return type.check(value[key]);
  } catch (error) {
    throw error instanceof Misfit ? error.within(key) : error;
  }
}

function isDictionary(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON `null` too. Of a plain text it makes no difference: there `null` is four letters. */
export function nullable<T>(type: ParamType<T>): ParamType<T | null> {
  return {
    decode: type.decode,
    check: (value) => (value === null ? null : type.check(value)),
    schema: { anyOf: [type.schema, { type: 'null' }] },
  };
}

/** The first alternative that fits; when none does, what the first one says. `says`: another text, in full. */
export function anyOf<const P extends readonly ParamType<unknown>[]>(
  alternatives: P,
  says?: (position: string) => string,
): ParamType<ValueOf<P[number]>> {
  return {
    decode: decodeJson,
    check(value) {
      refuseMalformed(value);
      let first: unknown;
      for (const alternative of alternatives) {
        try {
          return alternative.check(value) as ValueOf<P[number]>;
        } catch (error) {
          if (!(error instanceof Misfit)) throw error;
          first ??= error;
        }
      }
      throw says ? new Misfit(says) : first;
    },
    schema: { anyOf: alternatives.map(({ schema }) => schema) },
  };
}

/** The field holds JSON even where the type is text: `idle_queue_timeout="mobile"`, quotes and all. */
export function json<T>(type: ParamType<T>): ParamType<T> {
  return { ...type, decode: decodeJson };
}

/** JSON if the field holds JSON, else its bare text: `to=[7,8]`, `to="general"`, `to=general`. */
export function jsonOrText<T>(type: ParamType<T>): ParamType<T> {
  return { ...type, decode: decodeJsonOrText };
}

export function decodeJsonOrText(text: string): unknown {
  const value = decodeJson(text);
  return value === NOT_JSON ? text : value;
}

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
      if (template !== undefined) throw new Misfit((p) => template.replaceAll('{p}', p));
      return value;
    },
  };
}

/** Refuses what `type` refuses, and what does not `fit`, in the older words: `Bad value for '{p}': …`. */
export function legacy<T>(type: ParamType<T>, fits: (value: T) => boolean = () => true): ParamType<T> {
  const refused = (value: unknown) => {
    const bad = typeof value === 'string' ? value : JSON.stringify(value);
    return new Misfit((p) => `Bad value for '${p}': ${bad}`, 'REQUEST_VARIABLE_INVALID', bad);
  };
  return {
    ...type,
    // Keeps the text, which the refusal quotes, when it means nothing to the type.
    decode(text) {
      const value = type.decode(text);
      try {
        type.check(value);
        return value;
      } catch {
        return text;
      }
    },
    check(raw) {
      let value: T;
      try {
        value = type.check(raw);
      } catch (error) {
        throw error instanceof Misfit ? refused(raw) : error;
      }
      if (!fits(value)) throw refused(raw);
      return value;
    },
  };
}

/** Who has a permission: a group by id, or people and groups one by one. */
export type GroupSettingValue = number | { direct_members: number[]; direct_subgroups: number[] };

export function groupSetting(): ParamType<GroupSettingValue> {
  return anyOf([
    integer(),
    object({ direct_members: listOf(integer()), direct_subgroups: listOf(integer()) }),
  ]) as ParamType<GroupSettingValue>;
}

/** A change of such a setting; `old` guards against somebody else's change in between. */
export function groupSettingChange(): ParamType<{ new: GroupSettingValue; old?: GroupSettingValue }> {
  return object({ new: groupSetting(), old: optional(groupSetting()) }) as ParamType<{
    new: GroupSettingValue;
    old?: GroupSettingValue;
  }>;
}
