import { ROLES } from '@parley/domain/access';
import { EVENT_FORMATS } from '@parley/domain/composition';
import { DomainError } from '@parley/domain/kernel';
import { hint } from '../kernel/did-you-mean.js';

/**
 * Argument checks for callers without a type checker. Unchecked mistakes would be stored, or would surface far from the
 * call. Each check returns the value, or throws a DomainError INVALID_ARGUMENT naming the property.
 */

const MAX_SHOWN = 60;

/** Formats an invalid argument for an error message. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, MAX_SHOWN));
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'an array';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date' : value.toISOString();
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

export const invalidArgument = (property: string, expected: string, value: unknown): DomainError =>
  new DomainError('INVALID_ARGUMENT', `${property} must be ${expected}, not ${shown(value)}.`);

export function objectAt<T>(property: string, value: T): T {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw invalidArgument(property, 'an object', value);
}

/** Rejects unknown properties, because a misspelled one would be ignored. */
export function propertiesAt<T>(subject: string, value: T, names: readonly string[]): T {
  for (const name of Object.keys(objectAt(subject, value) as object)) {
    if (names.includes(name)) continue;
    const meant = hint(name, names) || `. Its properties are ${names.join(', ')}.`;
    throw new DomainError('INVALID_ARGUMENT', `${subject} has no property ${name}${meant}`);
  }
  return value;
}

export function listAt<T>(property: string, values: readonly T[]): readonly T[] {
  if (Array.isArray(values)) return values;
  throw invalidArgument(property, 'an array', values);
}

export function textAt(property: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw invalidArgument(property, 'a string', value);
}

/** Accepts `undefined` for absent values. */
export const optionalTextAt = (property: string, value: unknown): string | undefined =>
  value === undefined ? undefined : textAt(property, value);

export function flagAt(property: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'boolean') throw invalidArgument(property, 'true or false', value);
}

export function externalIdAt(property: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw invalidArgument(property, 'a nonblank string', value);
}

export function numberedAt(property: string, value: unknown): number {
  if (Number.isSafeInteger(value)) return value as number;
  throw invalidArgument(property, "an integer: Parley's id", value);
}

export function numbersAt(property: string, values: readonly unknown[]): void {
  if (!Array.isArray(values)) throw invalidArgument(property, 'an array of ids', values);
  for (const value of values) numberedAt(property, value);
}

export function personAt(property: string, value: unknown): void {
  if (Number.isSafeInteger(value) || (typeof value === 'string' && value.trim() !== '')) return;
  throw invalidArgument(property, "an external id, or Parley's id as a number", value);
}

export function channelAt(property: string, value: unknown): void {
  if (Number.isSafeInteger(value) || typeof value === 'string') return;
  throw invalidArgument(property, 'the name or the number of a channel', value);
}

export function roleAt(property: string, value: unknown): void {
  if (value === undefined || (ROLES as readonly unknown[]).includes(value)) return;
  throw invalidArgument(property, `one of ${ROLES.join(', ')}`, value);
}

export function functionAt(property: string, value: unknown): void {
  if (typeof value !== 'function') throw invalidArgument(property, 'a function', value);
}

const EVENT_TYPES = Object.keys(EVENT_FORMATS).filter((type) => type !== 'blank');

export function eventTypeAt(property: string, value: unknown): void {
  nameAt(property, 'the name of an event', value, EVENT_TYPES);
}

/** Requires one of the given names and suggests a similar one. */
export function nameAt(property: string, expected: string, value: unknown, names: readonly string[]): void {
  if (names.includes(value as string)) return;
  const meant = typeof value === 'string' ? hint(value, names) : '';
  throw new DomainError('INVALID_ARGUMENT', `${property} must be ${expected}, not ${shown(value)}${meant || '.'}`);
}
