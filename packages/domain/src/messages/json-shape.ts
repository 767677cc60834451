// Of JSON that clients send as a text of its own: it is content, and refusals name its parts as clients know them.

/** What is wrong with it: `poll data["vote"] is not an integer`. */
export class JsonShapeError extends Error {}

export type Dictionary = Readonly<Record<string, unknown>>;

export function dictionary(value: unknown, where: string): Dictionary {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(`${where} is not a dict`);
  return value as Dictionary;
}

export function member(value: Dictionary, name: string, where: string): unknown {
  if (!Object.hasOwn(value, name)) throw wrong(`${name} key is missing from ${where}`);
  return value[name];
}

export function text(value: unknown, where: string): string {
  if (typeof value !== 'string') throw wrong(`${where} is not a string`);
  return value;
}

export function integer(value: unknown, where: string): number {
  if (!Number.isSafeInteger(value)) throw wrong(`${where} is not an integer`);
  return value as number;
}

export function flag(value: unknown, where: string): boolean {
  if (typeof value !== 'boolean') throw wrong(`${where} is not a boolean`);
  return value;
}

export const wrong = (problem: string): JsonShapeError => new JsonShapeError(problem);
