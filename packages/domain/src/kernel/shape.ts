import { DomainError } from './errors.js';
import { positionOfUnprintable } from './text.js';

/** Reads a value of an untrusted document. @throws DomainError INVALID_IMPORT with the position of the error */
export type Shape<T> = (value: unknown, path: string) => T;

export type Shaped<S> = S extends Shape<infer T> ? T : never;

/** Maximum length of a reported position, which contains keys of arbitrary length. */
const MAX_PATH_LENGTH = 300;

export const wrong = (path: string, what: string): DomainError =>
  new DomainError('INVALID_IMPORT', `${path.slice(0, MAX_PATH_LENGTH)} ${what}.`);

export const text =
  (max = 1_000_000): Shape<string> =>
  (value, path) => {
    if (typeof value !== 'string') throw wrong(path, 'is not a text');
    if (value.length > max) throw wrong(path, 'is too long');
    // PostgreSQL cannot store it.
    if (value.includes('\0')) throw wrong(path, 'contains a null character');
    return value;
  };

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const uuid: Shape<string> = (value, path) => {
  if (typeof value !== 'string' || !UUID.test(value)) throw wrong(path, 'is not a UUID');
  return value;
};

export const flag: Shape<boolean> = (value, path) => {
  if (typeof value !== 'boolean') throw wrong(path, 'is neither true nor false');
  return value;
};

export const number: Shape<number> = (value, path) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong(path, 'is not a number');
  return value;
};

export const integer: Shape<number> = (value, path) => {
  if (!Number.isSafeInteger(value)) throw wrong(path, 'is not an integer');
  return value as number;
};

/** Reads an id of the requested type. */
export const id =
  <Id extends number>(): Shape<Id> =>
  (value, path) => {
    if (!Number.isSafeInteger(value) || (value as number) <= 0) throw wrong(path, 'is not an id');
    return value as Id;
  };

/** End of the year 9999; not every client can display later times. */
const LAST_SECOND = 253_402_300_799;

/** Reads seconds since 1970 with fractions. */
export const moment: Shape<number> = (value, path) => {
  const seconds = number(value, path);
  if (seconds < 0 || seconds > LAST_SECOND) throw wrong(path, 'is not a time of the years 1970 to 9999');
  return seconds;
};

/** Reads a time as whole seconds. */
export const time: Shape<number> = (value, path) => Math.floor(moment(value, path));

export const orNull =
  <T>(shape: Shape<T>): Shape<T | null> =>
  (value, path) =>
    value === null || value === undefined ? null : shape(value, path);

export const orElse =
  <T>(shape: Shape<T>, otherwise: T): Shape<T> =>
  (value, path) =>
    value === undefined || value === null ? otherwise : shape(value, path);

export const oneOf =
  <const T extends string | number>(...values: readonly T[]): Shape<T> =>
  (value, path) => {
    if (!values.includes(value as T)) throw wrong(path, `is none of ${values.join(', ')}`);
    return value as T;
  };

export const list =
  <T>(shape: Shape<T>, max = 10_000_000): Shape<T[]> =>
  (value, path) => {
    if (!Array.isArray(value)) throw wrong(path, 'is not a list');
    if (value.length > max) throw wrong(path, `has more than ${max} members`);
    return value.map((member, index) => shape(member, `${path}[${index}]`));
  };

/** Reads an object and drops unknown members. */
export const object =
  <S extends Readonly<Record<string, Shape<unknown>>>>(shapes: S): Shape<{ readonly [K in keyof S]: Shaped<S[K]> }> =>
  (value, path) => {
    const members = record(value, path);
    const read: Record<string, unknown> = {};
    for (const name in shapes) read[name] = shapes[name]!(members[name], `${path}.${name}`);
    return read as { readonly [K in keyof S]: Shaped<S[K]> };
  };

/** Reads an object with any members. */
export const record: Shape<Readonly<Record<string, unknown>>> = (value, path) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(path, 'is not an object');
  return value as Readonly<Record<string, unknown>>;
};

/** Reads an object with any keys and values of one shape. */
export const dictionary =
  <T>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> =>
  (value, path) =>
    Object.fromEntries(
      Object.entries(record(value, path)).map(([name, member]) => [name, shape(member, `${path}.${name}`)]),
    );

/** Reads a short text, such as a name. */
export const name: Shape<string> = text(1000);

/** Reads a name without control characters. */
export const printable: Shape<string> = (value, path) => {
  const read = name(value, path);
  if (positionOfUnprintable(read) !== 0) throw wrong(path, 'contains a control character');
  return read;
};

/** Reads Markdown. */
export const content: Shape<string> = text(1_000_000);

/** Reads an id of any type. */
export const anyId: Shape<never> = id<never>();
