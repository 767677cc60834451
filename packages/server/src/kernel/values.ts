import { isLongerThan } from '@parley/domain/kernel';
import { type OptionalKey, ParamError, type ParamType, paramTypes } from '@parley/http';
import { hint } from './did-you-mean.js';
import { UsageError } from './startup-error.js';

/**
 * Checks of values that do not come by HTTP: arguments and options of programs, and settings as text. They use the
 * parameter types of the HTTP adapter; only the error texts differ.
 */

export const {
  anyOf,
  asIs,
  boolean,
  integer,
  listOf,
  MAX_IDS,
  MAX_JSON_LENGTH,
  object,
  oneOf,
  optional,
  recordOf,
  refine,
  text,
} = paramTypes;

/** Error that says what is allowed, for types that a schema cannot describe. */
export class Mismatch extends ParamError {
  constructor(readonly expected: string) {
    super((position) => `${position} must be ${expected}`);
  }
}

/** Words of an error message. */
export interface Naming {
  /** Name of the value: an argument, an option, or a subject such as `The user`. */
  readonly name: string;
  /** True if members are named without the value: `role must be …`. */
  readonly isSubject?: boolean;
  /** Word for a member of the subject; default: `property`. */
  readonly member?: string;
  /** Values of a boolean; default: `true or false`. */
  readonly flag?: string;
  /** Text from which the value was decoded; null if it must not be shown. Default: the value itself is shown. */
  readonly text?: string | null;
}

type Schema = Readonly<Record<string, unknown>>;

/** Pattern of values that error messages must not repeat. */
const PASSWORD_IN_URL = /:\/\/[^/]*:[^/]*@|password=/i;

/** Returns why a value is not of the type, in one sentence; null for a valid value. */
export function problemOf(type: ParamType<unknown>, value: unknown, naming: Naming): string | null {
  const error = type.check(value);
  if (!error) return null;
  let { schema } = type;
  let found = value;
  let position = naming.isSubject ? '' : naming.name;
  let isSecret = schema.writeOnly === true;
  const enter = (step: string | number) => {
    position +=
      typeof step === 'string' && /^\w+$/.test(step) ? `${position && '.'}${step}` : `[${JSON.stringify(step)}]`;
    found = (found as Readonly<Record<string | number, unknown>>)[step];
    schema = schemaAt(schema, step);
    isSecret ||= schema.writeOnly === true;
  };
  for (const step of error.steps) {
    const names = Object.keys((schema.properties as object | undefined) ?? {});
    if (typeof step === 'string' && names.length > 0 && !names.includes(step)) {
      const member = (position === '' && naming.member) || 'property';
      return unknownMember(position || naming.name, member, step, names);
    }
    const { maxLength } = (schema.propertyNames ?? {}) as { readonly maxLength?: number };
    if (typeof step === 'string' && maxLength !== undefined && isLongerThan(step, maxLength)) {
      return `Names in ${position || naming.name} must have at most ${maxLength} characters.`;
    }
    enter(step);
  }
  const missing = missingKey(schema, found);
  if (missing !== undefined && !(error instanceof Mismatch)) enter(missing);
  // The words of the operator stand for the value as a whole.
  const isWhole = error.steps.length === 0;
  const flag = (isWhole && naming.flag) || 'true or false';
  const expected = error instanceof Mismatch ? error.expected : expectedOf(schema, found, flag);
  const given = isWhole && typeof naming.text === 'string' ? JSON.stringify(naming.text) : shown(found);
  const isHidden = isSecret || naming.text === null || PASSWORD_IN_URL.test(given);
  const names = error instanceof Mismatch ? ((schema.enum as readonly string[] | undefined) ?? []) : [];
  const suggestion = typeof found === 'string' ? hint(found, names) : '';
  return `${position || naming.name} must be ${expected}${isHidden ? '' : `, not ${given}`}${suggestion || '.'}`;
}

function schemaAt(schema: Schema, step: string | number): Schema {
  const alternatives = (schema.anyOf as readonly Schema[] | undefined) ?? [schema];
  for (const { items, properties = {}, additionalProperties } of alternatives) {
    const member = typeof step === 'number' ? items : ((properties as Schema)[step] ?? additionalProperties);
    if (typeof member === 'object') return member as Schema;
  }
  return {};
}

function missingKey({ required = [] }: Schema, value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return (required as readonly string[]).find((key) => (value as Schema)[key] === undefined);
}

function unknownMember(subject: string, member: string, name: string, names: readonly string[]): string {
  const plural = member.replace(/y$/, 'ie');
  const list = names.length > MAX_LISTED ? '.' : `. Its ${plural}s are ${names.join(', ')}.`;
  return `${subject} has no ${member} ${name.slice(0, MAX_SHOWN)}${hint(name, names) || list}`;
}

/** Describes the values that a schema allows. */
function expectedOf(schema: Schema, value: unknown, flag: string): string {
  if (schema.description !== undefined) return schema.description as string;
  if (schema.anyOf) {
    return (schema.anyOf as readonly Schema[]).map((each) => expectedOf(each, value, flag)).join(' or ');
  }
  if (schema.enum) {
    const words = schema.enum as readonly unknown[];
    return words.length === 2 ? words.join(' or ') : `one of ${words.join(', ')}`;
  }
  switch (schema.type) {
    case 'boolean':
      return flag;
    case 'integer':
    case 'number':
      return `${schema.type === 'integer' ? 'an integer' : 'a number'}${rangeOf(schema)}`;
    case 'array':
      return Array.isArray(value) ? `an array of at most ${schema.maxItems} values` : 'an array';
    case 'object':
      return `an object${schema.maxProperties === undefined ? '' : ` of at most ${schema.maxProperties} properties`}`;
    case 'null':
      return 'null';
    default:
      return typeof value === 'string' ? `a string of at most ${schema.maxLength} characters` : 'a string';
  }
}

function rangeOf({ minimum, maximum }: Schema): string {
  if (minimum === undefined) return maximum === undefined ? '' : ` of at most ${maximum}`;
  return maximum === undefined ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`;
}

const MAX_SHOWN = 60;
/** Longer lists of names do not help. */
const MAX_LISTED = 40;

/** Formats an invalid value for an error message. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, MAX_SHOWN));
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'an array';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date' : value.toISOString();
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** Replaces the description of allowed values in error messages about the value itself. */
export const described = <T>(type: ParamType<T>, expected: string): ParamType<T> => ({
  ...type,
  check(value) {
    const error = type.check(value);
    return error?.steps.length === 0 ? new Mismatch(expected) : error;
  },
  schema: { ...type.schema, description: expected },
});

/** Array or another value. Errors in the array name its element. */
export function arrayOr<T, U>(list: ParamType<T[]>, other: ParamType<U>, expected: string): ParamType<T[] | U> {
  const typeOf = (value: unknown) => (Array.isArray(value) ? list : other);
  const either: ParamType<T[] | U> = {
    ...list,
    normalize: (value) => typeOf(value).normalize(value),
    check: (value) => typeOf(value).check(value),
    schema: { items: list.schema.items },
  };
  return described(either, expected);
}

/** Types of all members of an object, for `object`. */
export type ShapeOf<T> = { readonly [K in keyof T]-?: ParamType<unknown> | OptionalKey<unknown> };

/** Keeps values out of error messages. */
export const secret = <P extends ParamType<unknown>>(type: P): P => ({
  ...type,
  schema: { ...type.schema, writeOnly: true },
});

/** Type of values that JSON cannot hold, such as functions and dates. */
export const valueType = <T>(expected: string, isValid: (value: unknown) => boolean): ParamType<T> => ({
  decode: asIs,
  normalize: asIs,
  check: (value) => (isValid(value) ? undefined : new Mismatch(expected)),
  jsonLength: 0,
  schema: { description: expected },
});

/** Object with these functions. */
export const withFunctions = <T>(...names: readonly string[]): ParamType<T> =>
  valueType(`an object with the function${names.length > 1 ? 's' : ''} ${names.join(', ')}`, (value) =>
    names.every((name) => typeof (Object(value) as Schema)[name] === 'function'),
  );

/** Adds the text form of a value. `parse` throws an error that describes valid texts. */
export const fromText = <T>(type: ParamType<T>, parse: (text: string) => unknown): ParamType<T> => ({
  ...type,
  decode(text) {
    try {
      return parse(text);
    } catch (error) {
      return new Mismatch((error as Error).message);
    }
  },
  normalize: (value) => (value instanceof Mismatch ? value : type.normalize(value)),
  check: (value) => (value instanceof Mismatch ? value : type.check(value)),
});

/** Parses a JSON object or array. `example` completes the error message. */
export const jsonIn =
  (example: string) =>
  (text: string): unknown => {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null) return value;
    } catch {
      // The error below has an example.
    }
    throw new Error(`JSON such as ${example}`);
  };

/** Type of a setting: a value, or text from which it is decoded, and its converted form. */
export interface SettingType<T> extends ParamType<unknown> {
  /** Converts a valid value. */
  convert(value: unknown): T;
}

/** Decodes, checks and converts the text of a setting. @throws UsageError */
export function readSetting<T>(type: SettingType<T>, text: string, naming: Omit<Naming, 'flag'>): T {
  const value = type.normalize(type.decode(text));
  const problem = problemOf(type, value, { text, ...naming, flag: 'on or off' });
  if (problem !== null) throw new UsageError(problem);
  return type.convert(value);
}

export const unconverted = <T>(type: ParamType<T>): SettingType<T> => ({ ...type, convert: (value) => value as T });

/** Text with a format. `parse` throws an error that describes valid values. */
export function format<T>(parse: (text: string) => T): SettingType<T> {
  const problem = (text: string): string | undefined => {
    try {
      parse(text);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const description = problem('');
  return {
    decode: asIs,
    normalize: asIs,
    check(value) {
      const expected = typeof value === 'string' ? problem(value) : description;
      return expected === undefined ? undefined : new Mismatch(expected);
    },
    convert: (value) => parse(value as string),
    jsonLength: 0,
    schema: { type: 'string', description },
  };
}
