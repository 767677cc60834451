export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

export type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'list' | 'object';

/** Distinguishes `integer` and `number` by value, since JSON has only one number type. */
export function jsonTypeOf(value: Json): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value as 'boolean' | 'string' | 'object';
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Type guard, since `Array.isArray` loses the element type of readonly arrays. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

export const isInteger = (value: Json | undefined): value is number => Number.isInteger(value);

export const sameJson = (a: Json | undefined, b: Json | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Formats JSON as in the recorded requests, since errors quote it: `[1, "\u00e9"]`. */
export function toParameterText(value: Json): string {
  if (isList(value)) return `[${value.map(toParameterText).join(', ')}]`;
  if (isObject(value)) {
    const members = Object.entries(value).map(([key, member]) => `${asciiText(key)}: ${toParameterText(member)}`);
    return `{${members.join(', ')}}`;
  }
  return typeof value === 'string' ? asciiText(value) : JSON.stringify(value);
}

function asciiText(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
