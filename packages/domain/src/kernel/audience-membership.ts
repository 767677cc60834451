import type { Audience, AudienceKind, AudienceOf, BaseAudienceTypes } from './audience.js';
import { isId, type UserId } from './ids.js';

/** What deciding an audience reads: one user, as of one event. */
export interface BaseMembership {
  isAmong(ids: readonly UserId[]): boolean;
  hasQueue(id: string): boolean;
}

/** A feature adds what its kinds of audience ask, by declaration merging: methods only. */
export interface Membership extends BaseMembership {}

/** What features know of a user, for audiences. */
export type FeatureMembership = Omit<Membership, keyof BaseMembership>;

/** What audiences ask about that has to be looked up: lists of ids, each id once. A feature adds its own. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it.
export interface AudienceQuestions {}

export type FeatureAudienceKind = Exclude<AudienceKind, keyof BaseAudienceTypes>;

/** What a kind of audience means. */
export interface AudienceRule<A> {
  /** Whether a value read from the log is an audience of this kind; `kind` itself is checked already. */
  readonly isValid: (part: Readonly<Record<string, unknown>>) => boolean;
  readonly includes: (audience: A, member: Membership) => boolean;
  /** What has to be looked up before; absent: nothing. */
  readonly questions?: (audience: A) => AudienceQuestions;
}

/** One for each of a feature's kinds of audience. */
export type AudienceRules<K extends FeatureAudienceKind> = { readonly [T in K]: AudienceRule<AudienceOf<T>> };

/** What can be done with audiences of every kind. */
export interface Audiences {
  readonly isInAudience: (audience: Audience, member: Membership) => boolean;
  readonly questionsOf: (audience: Audience) => AudienceQuestions;
  /** An audience as the log keeps it. Null: it is none. */
  readonly parseAudience: (value: unknown) => Audience | null;
}

const NO_QUESTIONS: AudienceQuestions = {};

/** No writer nests audiences as deep as this; deeper ones are refused as damaged. */
const MAX_DEPTH = 16;

export function audiencesBy(rules: AudienceRules<FeatureAudienceKind>): Audiences {
  /** A rule takes audiences of its own kind only: whoever looks one up by an audience's kind gives it that audience. */
  const byKind = rules as unknown as Readonly<Record<string, AudienceRule<Audience>>>;
  /** Undefined for the kinds of no feature. */
  const ruleOf = (kind: unknown) =>
    typeof kind === 'string' && Object.hasOwn(byKind, kind) ? byKind[kind] : undefined;

  function isInAudience(audience: Audience, member: Membership): boolean {
    switch (audience.kind) {
      case 'nobody':
        return false;
      case 'realm':
        return true;
      case 'users':
        return member.isAmong(audience.ids);
      case 'queue':
        return member.hasQueue(audience.id);
      case 'anyOf':
        return audience.of.some((part) => isInAudience(part, member));
      case 'allOf':
        return audience.of.every((part) => isInAudience(part, member));
      case 'except':
        return isInAudience(audience.from, member) && !isInAudience(audience.without, member);
      default:
        return byKind[audience.kind]!.includes(audience, member);
    }
  }

  function questionsOf(audience: Audience): AudienceQuestions {
    switch (audience.kind) {
      case 'anyOf':
      case 'allOf':
        return mergeQuestions(audience.of.map(questionsOf));
      case 'except':
        return mergeQuestions([questionsOf(audience.from), questionsOf(audience.without)]);
      default:
        return ruleOf(audience.kind)?.questions?.(audience) ?? NO_QUESTIONS;
    }
  }

  function isAudience(value: unknown, depth: number): value is Audience {
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false;
    const part = value as Readonly<Record<string, unknown>>;
    const areAudiences = (parts: unknown) => Array.isArray(parts) && parts.every((each) => isAudience(each, depth + 1));
    switch (part.kind) {
      case 'nobody':
      case 'realm':
        return true;
      case 'users':
        return Array.isArray(part.ids) && part.ids.every(isId);
      case 'queue':
        return typeof part.id === 'string';
      case 'anyOf':
      case 'allOf':
        return areAudiences(part.of);
      case 'except':
        return areAudiences([part.from, part.without]);
      default:
        return ruleOf(part.kind)?.isValid(part) ?? false;
    }
  }

  return { isInAudience, questionsOf, parseAudience: (value) => (isAudience(value, 0) ? value : null) };
}

/** Each id once. */
export function mergeQuestions(questions: readonly AudienceQuestions[]): AudienceQuestions {
  const asked = questions.filter((each) => each !== NO_QUESTIONS);
  if (asked.length < 2) return asked[0] ?? NO_QUESTIONS;
  const merged: Record<string, ReadonlySet<number>> = {};
  for (const each of asked) {
    for (const [name, ids] of Object.entries(each as Readonly<Record<string, readonly number[]>>)) {
      merged[name] = new Set([...(merged[name] ?? []), ...ids]);
    }
  }
  return Object.fromEntries(Object.entries(merged).map(([name, ids]) => [name, [...ids]]));
}
