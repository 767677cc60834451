import { DomainError } from '../../kernel/errors.js';
import type { FeatureParts } from '../../kernel/event.js';
import type { RealmId } from '../../kernel/ids.js';
import type { LinkifierRule } from '../../markdown/markdown.js';

/** A rule with what clients know about it (organization §6). */
export interface LinkifierFields extends LinkifierRule {
  /** Something that the pattern matches. */
  readonly exampleInput: string | null;
  /** What clients make of an address of the template, over the same groups: `#{id}`. */
  readonly reverseTemplate: string | null;
  /** Other templates whose addresses clients know. They make no links. */
  readonly alternativeUrlTemplates: readonly string[];
}

export interface Linkifier extends LinkifierFields {
  /** No other one on the server has had it. */
  readonly id: number;
}

/** Every message is searched for all of them, and every client gets all of them whenever one changes. */
export const MAX_LINKIFIERS = 1000;
/** Of all texts of an organization's linkifiers together, in UTF-16 units. */
export const MAX_LINKIFIER_TEXT = 500_000;

/** @throws DomainError TOO_MANY_LINKIFIERS for a list that is too long, or whose texts are */
export function requireRoomForLinkifiers(linkifiers: readonly LinkifierFields[]): void {
  const refusal = (text: string) => new DomainError('TOO_MANY_LINKIFIERS', text);
  if (linkifiers.length > MAX_LINKIFIERS) throw refusal(`Too many linkifiers (limit: ${MAX_LINKIFIERS}).`);
  const length = linkifiers.reduce((sum, linkifier) => sum + textLength(linkifier), 0);
  if (length > MAX_LINKIFIER_TEXT) throw refusal(`Linkifiers are too long (limit: ${MAX_LINKIFIER_TEXT} characters).`);
}

const textLength = ({
  pattern,
  urlTemplate,
  exampleInput,
  reverseTemplate,
  alternativeUrlTemplates,
}: LinkifierFields) =>
  [pattern, urlTemplate, exampleInput ?? '', reverseTemplate ?? '', ...alternativeUrlTemplates].join('').length;

export const unknownLinkifier = (): DomainError => new DomainError('UNKNOWN_LINKIFIER', 'Linkifier not found.');

/** Those of a realm are read with it (`Realm.linkifiers`). Every implementation passes realm-lists.contract.ts. */
export interface LinkifierRepository {
  /** After all others. Answers its id. */
  add(realmId: RealmId, linkifier: LinkifierFields): Promise<number>;
  /** In its place. Whether it was there. */
  update(realmId: RealmId, linkifier: Linkifier): Promise<boolean>;
  /** Whether it was there. */
  remove(realmId: RealmId, id: number): Promise<boolean>;
  /** Names all there are. */
  reorder(realmId: RealmId, ids: readonly number[]): Promise<void>;
}

declare module '../../kernel/unit-of-work.js' {
  interface RepositoryMap {
    linkifiers: [reads: never, repository: LinkifierRepository];
  }
}

/** To everybody, whatever changed (organization §6). */
export interface LinkifierEventTypes {
  'realm.linkifiers_changed': { readonly linkifiers: readonly Linkifier[] };
}

declare module '../../kernel/event.js' {
  interface DomainEventTypes extends LinkifierEventTypes {}
}

export const LINKIFIER_FEATURE = {
  eventFormats: { 'realm.linkifiers_changed': 1 },
  notExported: {
    linkifiers: 'They are read with the organization.',
  },
} satisfies FeatureParts<LinkifierEventTypes>;
