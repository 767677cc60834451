import 'reflect-metadata';
import { plainToInstance, Transform } from 'class-transformer';
import { IsBoolean, IsIn, IsInt, Max, Min } from 'class-validator';
import { badParameter, confusingArguments, missingArgument } from '../wire/reply.js';
import type { Parameters, PathParameters } from '../wire/request.js';
import { constrain, HasParamType, invalidProperties } from './param-constraints.js';
import {
  boolean,
  integer,
  integerOneOf,
  type ListRules,
  listOf,
  NOT_JSON,
  NOT_LISTED,
  type NumberRules,
  nullable,
  oneOf,
  type ParamType,
  type TextRules,
  text,
} from './param-types.js';

type DefinedFields<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Drops properties absent from the request, because absence means no change. */
export const definedFields = <T extends object>(members: T): DefinedFields<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as DefinedFields<T>;

/** Class with decorated members that describe a request, in contract order and under wire names. */
export type Dto<T extends object = object> = new () => T;

export interface ParamOptions {
  /** True if the parameter may be absent and is then undefined. Properties with an initializer are always optional. */
  readonly optional?: boolean;
  /** Alternative names; error messages use the property name. */
  readonly aliases?: readonly string[];
  /** Text for the OpenAPI document; common names are described in `openapi/parameters.ts`. */
  readonly description?: string;
}

/** Decorated property of one class. */
interface Declaration {
  readonly name: string;
  readonly type: ParamType<unknown>;
  readonly options: ParamOptions;
}

/** Declarations of each class in their order, without inherited ones. */
const declarations = new Map<object, Declaration[]>();

/**
 * Declares a parameter: class-transformer decodes its field, class-validator checks the value, by these decorators or
 * otherwise by the type.
 */
export function param(
  type: ParamType<unknown>,
  options: ParamOptions = {},
  constraints: readonly PropertyDecorator[] = [HasParamType(type)],
): PropertyDecorator {
  const decodes = Transform(({ value }) => (typeof value === 'string' ? type.normalize(type.decode(value)) : value), {
    toClassOnly: true,
  });
  const constrains = constrain(...constraints);
  return (prototype, key) => {
    const dto = prototype.constructor;
    const declaration: Declaration = { name: String(key), type, options };
    declarations.set(dto, [...(declarations.get(dto) ?? []), declaration]);
    decodes(prototype, key);
    constrains(prototype, key);
  };
}

const within = ({ min, max }: NumberRules): readonly PropertyDecorator[] => [
  ...(min === undefined ? [] : [Min(min)]),
  ...(max === undefined ? [] : [Max(max)]),
];

// Decorators of common types. For other types, write `@param(listOf(object({ … })))` in the DTO.

export const TextParam = (options: TextRules & ParamOptions) => param(text(options), options);
export const WordParam = (
  words: readonly string[],
  { says, ...options }: ParamOptions & { readonly says?: typeof NOT_LISTED } = {},
) => param(oneOf(words, says), options, [IsIn(words)]);
export const IntegerParam = (options: NumberRules & ParamOptions = {}) =>
  param(integer(options), options, [IsInt(), ...within(options)]);
export const NullableIntegerParam = (options: NumberRules & ParamOptions = {}) =>
  param(nullable(integer(options)), options);
export const IntegerOneOfParam = (numbers: readonly number[], options?: ParamOptions) =>
  param(integerOneOf(numbers, NOT_LISTED), options, [IsIn(numbers)]);
export const BooleanParam = (options?: ParamOptions) => param(boolean(), options, [IsBoolean()]);
export const NullableBooleanParam = (options?: ParamOptions) => param(nullable(boolean()), options);
/** JSON list of integers in a form field: `principals=[7,8]`. */
export const IntegerListParam = (options: ListRules & ParamOptions) => param(listOf(integer(), options), options);
/** JSON list of strings in a form field: `alert_words=["tea"]`. */
export const TextListParam = ({ each, ...options }: ListRules & ParamOptions & { readonly each: TextRules }) =>
  param(listOf(text(each), options), options);

/** DTO of operations without parameters. */
export class NoParameters {}

export interface Parsed<T> {
  readonly dto: T;
  /** Names of unused parameters in ascending order. */
  readonly ignored: readonly string[];
}

/** Parameter of a DTO class. */
export interface Member {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly type: ParamType<unknown>;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  /** Value of the initializer, used if absent. */
  readonly byDefault: unknown;
}

const NOTHING_IGNORED: readonly string[] = [];
const membersByDto = new Map<Dto, readonly Member[]>();

/** Returns members in declaration order, inherited ones last. */
export function membersOfDto(dto: Dto): readonly Member[] {
  let members = membersByDto.get(dto);
  if (!members) {
    const defaults = new dto() as Record<string, unknown>;
    members = declarationsOf(dto).map(({ name, type, options }): Member => {
      const byDefault = defaults[name];
      return {
        name,
        aliases: options.aliases ?? [],
        type,
        description: options.description,
        isRequired: byDefault === undefined && !options.optional,
        byDefault,
      };
    });
    membersByDto.set(dto, members);
  }
  return members;
}

function declarationsOf(dto: object | null): readonly Declaration[] {
  if (dto === null) return [];
  const own = declarations.get(dto) ?? [];
  const names = new Set(own.map(({ name }) => name));
  return [...own, ...declarationsOf(Object.getPrototypeOf(dto)).filter(({ name }) => !names.has(name))];
}

/** Reports the first error in declaration order, in the contract's words. @throws HttpRefusal */
function requireValid(members: readonly Member[], dto: object): void {
  const values = dto as Readonly<Record<string, unknown>>;
  const invalid = invalidProperties(dto);
  for (const { name, type, isRequired } of members) {
    const value = values[name];
    if (value === undefined) {
      if (isRequired) throw missingArgument(name);
    } else if (isUnderTwoNames(value)) throw confusingArguments(name, value.description!);
    else if (invalid.has(name)) checkedParam(name, type, value);
  }
}

/**
 * Parses parameters and reports the first error in declaration order. Path parameters take precedence; form fields of
 * the same name count as ignored.
 * @throws HttpRefusal
 */
export function parse<T extends object>(dto: Dto<T>, path: PathParameters, parameters: Parameters): Parsed<T> {
  const members = membersOfDto(dto);
  const fields: Record<string, Field> = {};
  let read = parameters.get('client') === undefined ? 0 : 1;
  for (const member of members) {
    let field: Field | undefined = path[member.name];
    if (field === undefined) {
      field = readParameter(member, parameters);
      if (field !== undefined) read++;
    }
    if (field !== undefined) fields[member.name] = field;
  }
  const instance = plainToInstance(dto, fields);
  if (members.length > 0) requireValid(members, instance);
  return { dto: instance, ignored: read === parameters.size ? NOTHING_IGNORED : unread(members, path, parameters) };
}

/** Text of a parameter, or a symbol with its second name if both names are present. */
type Field = string | symbol;

const isUnderTwoNames = (value: unknown): value is symbol => typeof value === 'symbol' && value !== NOT_JSON;

function readParameter({ name, aliases }: Member, parameters: Parameters): Field | undefined {
  let text = parameters.get(name);
  for (const alias of aliases) {
    const other = parameters.get(alias);
    if (other === undefined) continue;
    if (text !== undefined) return Symbol(alias);
    text = other;
  }
  return text;
}

/** Checks a value that the operation decodes itself against its type, and returns it. @throws HttpRefusal */
export function checkedParam<T>(name: string, type: ParamType<T>, value: unknown): T {
  const error = type.check(value);
  if (error) throw badParameter(error.messageFor(name));
  return value as T;
}

function unread(members: readonly Member[], path: PathParameters, parameters: Parameters): readonly string[] {
  const names = new Set(parameters.names());
  names.delete('client');
  for (const { name, aliases } of members) {
    if (path[name] !== undefined) continue;
    names.delete(name);
    for (const alias of aliases) names.delete(alias);
  }
  return [...names].sort();
}
