/** Members of untrusted JSON. Values of another type count as missing. */

export const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const textOf = (value: unknown, name: string): string => {
  const found = field(value, name);
  return typeof found === 'string' ? found : '';
};

/** Number, also if written as a string; null for others. */
export const numberOf = (value: unknown, name: string): number | null => {
  const found = field(value, name);
  const number = typeof found === 'string' && found.trim() !== '' ? Number(found) : found;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
};

export const flagOf = (value: unknown, name: string): boolean => field(value, name) === true;

export const listOf = (value: unknown, name: string): readonly unknown[] => {
  const found = field(value, name);
  return Array.isArray(found) ? found : [];
};

/** Strings of a list, without empty ones. */
export const textsOf = (value: unknown, name: string): readonly string[] =>
  listOf(value, name).filter((each): each is string => typeof each === 'string' && each !== '');

/** Returns the properties that are neither undefined nor empty strings. */
export function present<T extends object>(properties: T): { [K in keyof T]?: Exclude<T[K], undefined | null | ''> } {
  return Object.fromEntries(
    Object.entries(properties).filter(([, value]) => value !== undefined && value !== null && value !== ''),
  ) as never;
}

/** Latest time that a date can have, in seconds; later ones are errors. */
const MAX_TIME = 253_402_300_799;

/** Unix seconds; null for invalid times. */
export const timeOf = (seconds: number | null): number | null =>
  seconds !== null && seconds > 0 && seconds <= MAX_TIME ? seconds : null;
