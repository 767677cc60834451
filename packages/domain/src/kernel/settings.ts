import { DomainError } from './errors.js';
import { isLongerThan } from './text.js';

/**
 * Settings are data: a registry holds one row a setting, and everything else is read from the rows: types, what a value may
 * be, defaults, who may change it, parameters, events and lists. Adding a setting is adding a row, and its name on the wire
 * to the table of the HTTP adapter, which does not compile without it.
 */
export type SettingValue = boolean | number | string | null;

/** What every row says of its values. Registries add who may change them, and what else follows from a change. */
export type SettingDefinition<T extends SettingValue = SettingValue> = {
  readonly default: T;
  /** Whether null is a value of its own. */
  readonly nullable: boolean;
} & (
  | { readonly kind: 'boolean' }
  /** Both bounds belong to the values. */
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  | {
      readonly kind: 'text';
      /** In code points. */
      readonly max: number;
      readonly isValid?: (text: string) => boolean;
    }
  /** One of a few numbers or words. */
  | { readonly kind: 'choice'; readonly values: readonly T[] }
  /** An amount above zero; null: no limit. */
  | { readonly kind: 'limit' }
  /** A channel id; null: none. */
  | { readonly kind: 'channel' }
);

/** The values of all settings of a registry, keyed by the setting's name. */
export type SettingValues<R> = { readonly [K in keyof R]: R[K] extends { readonly default: infer T } ? T : never };

/** What somebody asks to change: values of any kind, which `isSettingValue` judges. Absent: as it is. */
export type SettingChanges<R> = { readonly [K in keyof R]?: SettingValue };

export type Registry = Readonly<Record<string, SettingDefinition>>;

const MAX_INTEGER = 2_147_483_647;

export const flag = (initial: boolean): SettingDefinition<boolean> => ({
  kind: 'boolean',
  default: initial,
  nullable: false,
});

export const flagOrNull = (initial: boolean | null): SettingDefinition<boolean | null> => ({
  kind: 'boolean',
  default: initial,
  nullable: true,
});

export const integer = (
  initial: number,
  { min = -MAX_INTEGER, max = MAX_INTEGER } = {},
): SettingDefinition<number> => ({
  kind: 'integer',
  default: initial,
  nullable: false,
  min,
  max,
});

/** `max`: in code points. `isValid`: what is more to be said of it than its length. */
export const text = (
  initial: string,
  rules: { readonly max: number; readonly isValid?: (text: string) => boolean },
): SettingDefinition<string> => ({ kind: 'text', default: initial, nullable: false, ...rules });

export const textOrNull = (
  initial: string | null,
  rules: { readonly max: number; readonly isValid?: (text: string) => boolean },
): SettingDefinition<string | null> => ({ kind: 'text', default: initial, nullable: true, ...rules });

export const oneOf = <const T extends number | string>(
  initial: NoInfer<T>,
  values: readonly T[],
): SettingDefinition<T> => ({ kind: 'choice', default: initial, nullable: false, values });

/** Null: there is no limit. */
export const limitOrNull = (initial: number | null): SettingDefinition<number | null> => ({
  kind: 'limit',
  default: initial,
  nullable: true,
});

export const channelOrNull = (): SettingDefinition<number | null> => ({
  kind: 'channel',
  default: null,
  nullable: true,
});

/** Whether the setting can have this value. Whether a channel exists is for the use case to find out. */
export function isSettingValue(definition: SettingDefinition, value: unknown): value is SettingValue {
  if (value === null) return definition.nullable;
  switch (definition.kind) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
      return Number.isSafeInteger(value) && (value as number) >= definition.min && (value as number) <= definition.max;
    case 'text':
      return typeof value === 'string' && !isLongerThan(value, definition.max) && (definition.isValid?.(value) ?? true);
    case 'choice':
      return definition.values.includes(value as SettingValue);
    case 'limit':
    case 'channel':
      return Number.isSafeInteger(value) && (value as number) > 0;
  }
}

/** All settings at their defaults, except where `stored` says otherwise. Names the registry lacks are dropped. */
export function settingValues<R extends object>(
  registry: R,
  stored: Readonly<Record<string, SettingValue>>,
): SettingValues<R> {
  const values: Record<string, SettingValue> = {};
  for (const [name, definition] of Object.entries(registry) as [string, SettingDefinition][]) {
    const own = stored[name];
    values[name] = own === undefined ? definition.default : own;
  }
  return values as SettingValues<R>;
}

/** Whose settings a registry is of: both have a `defaultLanguage`. */
export type SettingOwner = 'user' | 'realm';

/** A setting that gets another value than it had. */
export interface SettingChange<R> {
  readonly name: keyof R & string;
  readonly value: SettingValue;
}

/**
 * What of a request really changes, in the order of the registry.
 * @throws DomainError BAD_SETTING_VALUE for the first setting that cannot have the value; those in `first` are looked at
 * before the others.
 */
export function settingChanges<R extends Registry>(
  of: SettingOwner,
  registry: R,
  current: SettingValues<R>,
  requested: SettingChanges<R>,
  first: readonly (keyof R & string)[] = [],
): readonly SettingChange<R>[] {
  const names = (Object.keys(registry) as (keyof R & string)[]).filter((name) => requested[name] !== undefined);
  checkSettingValues(of, registry, requested, [...first, ...names]);
  return names
    .map((name) => ({ name, value: requested[name] as SettingValue }))
    .filter(({ name, value }) => value !== (current[name] as SettingValue));
}

/** Of those settings that are named and requested. @throws DomainError BAD_SETTING_VALUE for the first one in `names` */
export function checkSettingValues<R extends Registry>(
  of: SettingOwner,
  registry: R,
  requested: SettingChanges<R>,
  names: readonly (keyof R & string)[],
): void {
  for (const name of names) {
    const value = requested[name];
    if (value !== undefined && !isSettingValue(registry[name]!, value)) throw badSettingValue(of, name, value);
  }
}

declare module './errors.js' {
  interface ErrorDetails {
    BAD_SETTING_VALUE: {
      readonly of: SettingOwner;
      /** Its name in the registry. */
      readonly setting: string;
      readonly value: SettingValue;
    };
  }
}

export const badSettingValue = (of: SettingOwner, setting: string, value: SettingValue) =>
  new DomainError('BAD_SETTING_VALUE', `'${setting}' cannot be ${JSON.stringify(value)}`, { of, setting, value });

/** The values after the changes. */
export const changed = <R>(current: SettingValues<R>, changes: readonly SettingChange<R>[]): SettingValues<R> => ({
  ...current,
  ...Object.fromEntries(changes.map(({ name, value }) => [name, value])),
});
