import type { Json } from './json.js';

/** Where two answers differ. */
export interface Difference {
  /** `body`, `status`, `header allow`, `stream.name`, `events.hamlet.0(message).message.content`. */
  readonly where: string;
  readonly recorded: Json;
  readonly here: Json;
}

/** Stands for what one side does not have. */
export const ABSENT = '<absent>';

export type Path = readonly (string | number)[];

export const pathText = (path: Path): string => path.join('.') || 'body';

/** An object used as a map: keyed by id or by mail address. */
export const isMap = (value: { readonly [key: string]: Json }): boolean => {
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => /^(-?\d+|[^@ ]+@[^@ ]+)$/.test(key));
};
