import { DomainError } from './errors.js';
import { isLongerThan } from './text.js';

/**
 * Settings are defined as data, with one registry row per setting. Types, valid values, defaults, permissions,
 * parameters, events and lists derive from the rows. A new setting needs a row, and one in the HTTP adapter if its wire
 * form differs from the row.
 */
export type SettingValue = boolean | number | string | null;

/** Common part of all registry rows. Registries add the permission to change a setting and the effects of a change. */
export type SettingDefinition<T extends SettingValue = SettingValue> = {
  readonly default: T;
  /** True if null is a valid value. */
  readonly nullable: boolean;
} & (
  | { readonly kind: 'boolean' }
  /** Both bounds are inclusive. */
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  | {
      readonly kind: 'text';
      /** Length in code points. */
      readonly max: number;
      readonly isValid?: (text: string) => boolean;
      /** Describes valid texts in errors. */
      readonly expected?: string;
    }
  /** One of several numbers or strings. */
  | { readonly kind: 'choice'; readonly values: readonly T[] }
  /** Positive number; null means unlimited. */
  | { readonly kind: 'limit' }
  /** Channel id; null means none. */
  | { readonly kind: 'channel' }
);

/** Values of all settings of a registry, keyed by name. */
export type SettingValues<R> = { readonly [K in keyof R]: R[K] extends { readonly default: infer T } ? T : never };

/** Requested changes; values from outside are validated by `checkSettingValues`. Absent settings are unchanged. */
export type SettingChanges<R> = Partial<SettingValues<R>>;

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

interface TextRules {
  readonly max: number;
  readonly isValid?: (text: string) => boolean;
  readonly expected?: string;
}

/** Text setting. `max`: length in code points. `isValid`: additional validation. */
export const text = (initial: string, rules: TextRules): SettingDefinition<string> => ({
  kind: 'text',
  default: initial,
  nullable: false,
  ...rules,
});

export const textOrNull = (initial: string | null, rules: TextRules): SettingDefinition<string | null> => ({
  kind: 'text',
  default: initial,
  nullable: true,
  ...rules,
});

export const oneOf = <const T extends number | string>(
  initial: NoInfer<T>,
  values: readonly T[],
): SettingDefinition<T> => ({ kind: 'choice', default: initial, nullable: false, values });

/** Limit setting; null means unlimited. */
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

/** Returns true if the value is valid for the setting. The use case checks that channels exist. */
export function isSettingValue(definition: SettingDefinition, value: unknown): value is SettingValue {
  if (value === null) return definition.nullable;
  switch (definition.kind) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
      return Number.isSafeInteger(value) && (value as number) >= definition.min && (value as number) <= definition.max;
    case 'text':
      // PostgreSQL cannot store a null character.
      if (typeof value !== 'string' || value.includes('\0') || isLongerThan(value, definition.max)) return false;
      return definition.isValid?.(value) ?? true;
    case 'choice':
      return definition.values.includes(value as SettingValue);
    case 'limit':
    case 'channel':
      return Number.isSafeInteger(value) && (value as number) > 0;
  }
}

/** Returns the defaults overridden by `stored`; ignores names missing from the registry. */
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

/** Owner of a registry; both owners have a `defaultLanguage`. */
export type SettingOwner = 'user' | 'realm';

/** Setting with its new value. */
export interface SettingChange<R> {
  readonly name: keyof R & string;
  readonly value: SettingValue;
}

/** Returns the effective changes of a validated request, in registry order. */
export const settingChanges = <R extends Registry>(
  registry: R,
  current: SettingValues<R>,
  requested: SettingChanges<R>,
): readonly SettingChange<R>[] =>
  (Object.keys(registry) as (keyof R & string)[])
    .filter((name) => requested[name] !== undefined && requested[name] !== current[name])
    .map((name) => ({ name, value: requested[name] as SettingValue }));

/**
 * Validates the requested settings among `names`. @throws DomainError BAD_SETTING_VALUE for the first invalid one in
 * the order of `names`
 */
export function checkSettingValues<R extends Registry>(
  of: SettingOwner,
  registry: R,
  requested: SettingChanges<R>,
  names: readonly (keyof R & string)[] = Object.keys(registry),
): void {
  for (const name of names) {
    const value = requested[name];
    if (value !== undefined && !isSettingValue(registry[name]!, value))
      throw badSettingValue(of, name, value as SettingValue);
  }
}

declare module './feature-types.js' {
  interface ErrorDetails {
    BAD_SETTING_VALUE: {
      readonly of: SettingOwner;
      /** Name in the registry. */
      readonly setting: string;
      readonly value: SettingValue;
    };
  }
}

export const badSettingValue = (of: SettingOwner, setting: string, value: SettingValue) =>
  new DomainError('BAD_SETTING_VALUE', `'${setting}' cannot be ${JSON.stringify(value)}`, { of, setting, value });

/** Returns the values after the changes. */
export const changed = <R>(current: SettingValues<R>, changes: readonly SettingChange<R>[]): SettingValues<R> => ({
  ...current,
  ...Object.fromEntries(changes.map(({ name, value }) => [name, value])),
});
