import { DomainError } from './errors.js';

/** Reads a value of an untrusted document. @throws DomainError INVALID_IMPORT with the position of the error */
export type Shape<T> = (value: unknown, place: string) => T;

export type Shaped<S> = S extends Shape<infer T> ? T : never;

/** Positions contain keys, which may be arbitrarily long. */
const MAX_PLACE_LENGTH = 300;

export const wrong = (place: string, what: string): DomainError =>
  new DomainError('INVALID_IMPORT', `${place.slice(0, MAX_PLACE_LENGTH)} ${what}.`);

export const text =
  (max = 1_000_000): Shape<string> =>
  (value, place) => {
    if (typeof value !== 'string') throw wrong(place, 'is not a text');
    if (value.length > max) throw wrong(place, 'is too long');
    return value;
  };

export const flag: Shape<boolean> = (value, place) => {
  if (typeof value !== 'boolean') throw wrong(place, 'is neither true nor false');
  return value;
};

export const number: Shape<number> = (value, place) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong(place, 'is not a number');
  return value;
};

export const integer: Shape<number> = (value, place) => {
  if (!Number.isSafeInteger(value)) throw wrong(place, 'is not an integer');
  return value as number;
};

/** Reads an id of the requested type. */
export const id =
  <Id extends number>(): Shape<Id> =>
  (value, place) => {
    if (!Number.isSafeInteger(value) || (value as number) <= 0) throw wrong(place, 'is not an id');
    return value as Id;
  };

/** End of the year 9999; not every client can display later times. */
const LAST_SECOND = 253_402_300_799;

/** Reads seconds since 1970 with fractions. */
export const moment: Shape<number> = (value, place) => {
  const seconds = number(value, place);
  if (seconds < 0 || seconds > LAST_SECOND) throw wrong(place, 'is no time of the years 1970 to 9999');
  return seconds;
};

/** Reads a time as whole seconds. */
export const time: Shape<number> = (value, place) => Math.floor(moment(value, place));

export const orNull =
  <T>(shape: Shape<T>): Shape<T | null> =>
  (value, place) =>
    value === null || value === undefined ? null : shape(value, place);

export const orElse =
  <T>(shape: Shape<T>, otherwise: T): Shape<T> =>
  (value, place) =>
    value === undefined || value === null ? otherwise : shape(value, place);

export const oneOf =
  <const T extends string | number>(...values: readonly T[]): Shape<T> =>
  (value, place) => {
    if (!values.includes(value as T)) throw wrong(place, `is none of ${values.join(', ')}`);
    return value as T;
  };

export const list =
  <T>(shape: Shape<T>, max = 10_000_000): Shape<T[]> =>
  (value, place) => {
    if (!Array.isArray(value)) throw wrong(place, 'is not a list');
    if (value.length > max) throw wrong(place, `has more than ${max} members`);
    return value.map((member, index) => shape(member, `${place}[${index}]`));
  };

/** Reads an object and drops unknown members. */
export const object =
  <S extends Readonly<Record<string, Shape<unknown>>>>(shapes: S): Shape<{ readonly [K in keyof S]: Shaped<S[K]> }> =>
  (value, place) => {
    const members = record(value, place);
    const read: Record<string, unknown> = {};
    for (const name in shapes) read[name] = shapes[name]!(members[name], `${place}.${name}`);
    return read as { readonly [K in keyof S]: Shaped<S[K]> };
  };

/** Reads an object with any members. */
export const record: Shape<Readonly<Record<string, unknown>>> = (value, place) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(place, 'is not an object');
  return value as Readonly<Record<string, unknown>>;
};

/** Reads an object with any keys and values of one shape. */
export const dictionary =
  <T>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> =>
  (value, place) =>
    Object.fromEntries(
      Object.entries(record(value, place)).map(([name, member]) => [name, shape(member, `${place}.${name}`)]),
    );

/** Reads a short text, such as a name. */
export const name: Shape<string> = text(1000);

/** Reads Markdown. */
export const content: Shape<string> = text(1_000_000);

/** Reads an id of any type. */
export const anyId: Shape<never> = id<never>();
