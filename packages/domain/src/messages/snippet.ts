import { DomainError } from '../kernel/errors.js';
import type { RealmId, SnippetId, UnixSeconds, UserId } from '../kernel/ids.js';
import { keepsTooMuchText, MAX_KEPT_TEXT_BYTES } from '../kernel/kept-text.js';

/** A text that somebody saved to use it again. */
export interface Snippet {
  readonly id: SnippetId;
  readonly realmId: RealmId;
  readonly userId: UserId;
  readonly title: string;
  /** Markdown. */
  readonly content: string;
  readonly createdAt: UnixSeconds;
}

export type NewSnippet = Omit<Snippet, 'id'>;

/** Of one user. */
export const MAX_SNIPPETS = 1000;

/** @throws DomainError TOO_MANY_SNIPPETS */
export function requireRoomForSnippet(count: number): void {
  if (count < MAX_SNIPPETS) return;
  throw new DomainError('TOO_MANY_SNIPPETS', `Too many saved snippets (limit: ${MAX_SNIPPETS}).`);
}

/** See `keepsTooMuchText`. @throws DomainError TOO_MANY_SNIPPETS */
export function requireRoomForSnippetText(
  present: number,
  added: readonly string[],
  removed: readonly string[] = [],
): void {
  if (!keepsTooMuchText(present, added, removed)) return;
  throw new DomainError('TOO_MANY_SNIPPETS', `Too much text in saved snippets (limit: ${MAX_KEPT_TEXT_BYTES} bytes).`);
}

/** @throws DomainError UNKNOWN_SNIPPET */
export function knownSnippet(snippet: Snippet | null): Snippet {
  if (snippet) return snippet;
  throw new DomainError('UNKNOWN_SNIPPET', 'Saved snippet does not exist.');
}

export interface SnippetReads {
  /** Null for those of other realms and users. */
  find(realmId: RealmId, userId: UserId, id: SnippetId): Promise<Snippet | null>;
  /** The user's, oldest first. At most `limit`. */
  list(realmId: RealmId, userId: UserId, limit: number): Promise<readonly Snippet[]>;
  count(realmId: RealmId, userId: UserId): Promise<number>;
  /** Of the contents of all of the user's, in UTF-8. */
  countBytes(realmId: RealmId, userId: UserId): Promise<number>;
}

/** Every implementation passes snippet-repository.contract.ts. */
export interface SnippetRepository extends SnippetReads {
  add(snippet: NewSnippet): Promise<Snippet>;
  /** Its title and content. Without effect where there is none. */
  update(snippet: Snippet): Promise<void>;
  /** Without effect where there is none. */
  remove(realmId: RealmId, userId: UserId, id: SnippetId): Promise<void>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    snippets: [reads: SnippetReads, repository: SnippetRepository];
  }
}
