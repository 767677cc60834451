import type { UserId } from './ids.js';

/** The kinds of audience that ask nothing of any feature. */
export interface BaseAudienceTypes {
  nobody: unknown;
  /** Everybody. */
  realm: unknown;
  users: { readonly ids: readonly UserId[] };
  queue: { readonly id: string };
  anyOf: { readonly of: readonly Audience[] };
  allOf: { readonly of: readonly Audience[] };
  except: { readonly from: Audience; readonly without: Audience };
}

/** All kinds: a feature adds its own by declaration merging, and their rules in composition/audiences.ts. */
export interface AudienceTypes extends BaseAudienceTypes {}

export type AudienceKind = keyof AudienceTypes;
export type AudienceOf<K extends AudienceKind> = { [T in K]: { readonly kind: T } & AudienceTypes[T] }[K];

/**
 * Receivers of an event: a set expression over the active users of the realm as of the event. Its size never grows with a channel
 * or the realm.
 */
export type Audience = AudienceOf<AudienceKind>;

export const nobody: Audience = { kind: 'nobody' };
export const wholeRealm: Audience = { kind: 'realm' };
export const users = (ids: readonly UserId[]): Audience => ({ kind: 'users', ids });
export const anyOf = (...of: readonly Audience[]): Audience => ({ kind: 'anyOf', of });
export const allOf = (...of: readonly Audience[]): Audience => ({ kind: 'allOf', of });
export const except = (from: Audience, without: Audience): Audience => ({ kind: 'except', from, without });
