import type { Json } from './json.js';

/** Path at which two responses differ. */
export interface Difference {
  /** `body`, `status`, `header allow`, `stream.name`, `events.hamlet.0(message).message.content`. */
  readonly where: string;
  readonly recorded: Json;
  readonly here: Json;
}

/** Represents a value missing on one side. */
export const ABSENT = '<absent>';

export type Path = readonly (string | number)[];

export const pathText = (path: Path): string => path.join('.') || 'body';

/** True for an object used as a map by id or email. */
export const isMap = (value: { readonly [key: string]: Json }): boolean => {
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => /^(-?\d+|[^@ ]+@[^@ ]+)$/.test(key));
};
