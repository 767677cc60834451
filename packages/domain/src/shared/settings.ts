/**
 * Settings are data: a registry holds one definition a setting, and validation, storage, announcement and listing all
 * read it. Adding a setting is adding a row.
 */
export type SettingValue = boolean | number | string | null;

export interface SettingDefinition<T extends SettingValue> {
  readonly type: 'boolean' | 'integer' | 'text';
  readonly default: T;
  /** Whether null is a value of its own, such as "no limit". */
  readonly nullable: boolean;
  /** Every value there is; absent when the type says it all. */
  readonly values?: readonly T[];
}

/** The values of all settings of a registry, keyed by the setting's name. */
export type SettingValues<R> = { readonly [K in keyof R]: R[K] extends SettingDefinition<infer T> ? T : never };

export const flag = (initial: boolean): SettingDefinition<boolean> => ({
  type: 'boolean',
  default: initial,
  nullable: false,
});
export const flagOrNull = (initial: boolean | null): SettingDefinition<boolean | null> => ({
  type: 'boolean',
  default: initial,
  nullable: true,
});
export const integer = (initial: number): SettingDefinition<number> => ({
  type: 'integer',
  default: initial,
  nullable: false,
});
export const integerOrNull = (initial: number | null): SettingDefinition<number | null> => ({
  type: 'integer',
  default: initial,
  nullable: true,
});
export const text = (initial: string): SettingDefinition<string> => ({
  type: 'text',
  default: initial,
  nullable: false,
});
export const textOrNull = (initial: string | null): SettingDefinition<string | null> => ({
  type: 'text',
  default: initial,
  nullable: true,
});
/** One of a few numbers or words; the first is the default. */
export function oneOf<const T extends number | string>(
  initial: NoInfer<T>,
  values: readonly T[],
): SettingDefinition<T> {
  return { type: typeof initial === 'number' ? 'integer' : 'text', default: initial, nullable: false, values };
}

/** Whether a setting can have this value, as far as its definition tells. */
export function isSettingValue({ type, nullable, values }: SettingDefinition<SettingValue>, value: unknown): boolean {
  if (value === null) return nullable;
  const isOfType =
    type === 'integer' ? Number.isSafeInteger(value) : typeof value === (type === 'text' ? 'string' : type);
  return isOfType && (values === undefined || values.includes(value as SettingValue));
}

/** All settings at their defaults, except where `stored` says otherwise. Names the registry lacks are dropped. */
export function settingValues<R extends object>(
  registry: R,
  stored: Readonly<Record<string, SettingValue>>,
): SettingValues<R> {
  const values: Record<string, SettingValue> = {};
  for (const [name, definition] of Object.entries(registry) as [string, SettingDefinition<SettingValue>][]) {
    const own = stored[name];
    values[name] = own === undefined ? definition.default : own;
  }
  return values as SettingValues<R>;
}
