import { DomainError } from '../kernel/errors.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import { foldCase, trim } from '../kernel/text.js';

/** Of one user, to whom each change shows all of them. */
export const MAX_ALERT_WORDS = 500;

/** Without blanks around them, each once whatever its letter case, as it is spelt last; in the order of their last places. */
export function parseAlertWords(raw: readonly string[]): readonly string[] {
  const words = new Map<string, string>();
  for (const word of raw.map(trim)) if (word !== '') words.set(foldCase(word), word);
  return [...words.values()];
}

/** @throws DomainError TOO_MANY_ALERT_WORDS */
export function requireRoomForAlertWords(count: number): void {
  if (count <= MAX_ALERT_WORDS) return;
  throw new DomainError('TOO_MANY_ALERT_WORDS', `Too many alert words (limit: ${MAX_ALERT_WORDS}).`);
}

export interface AlertWordReads {
  /** As they are spelt, oldest first. */
  list(realmId: RealmId, userId: UserId): Promise<readonly string[]>;
  /** Whether anybody of the realm has any. */
  hasAny(realmId: RealmId): Promise<boolean>;
  /** Those that have one of these segments (`alertSegment`), in lower case, and who wants to know of them. */
  listBySegment(realmId: RealmId, segments: ReadonlySet<string>): Promise<ReadonlyMap<string, readonly UserId[]>>;
}

/** Every implementation passes alert-word-repository.contract.ts. */
export interface AlertWordRepository extends AlertWordReads {
  /** Those that the user has, in whatever letter case, stay as they are. */
  add(realmId: RealmId, userId: UserId, words: readonly string[]): Promise<void>;
  /** In whatever letter case. */
  remove(realmId: RealmId, userId: UserId, words: readonly string[]): Promise<void>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    alertWords: [reads: AlertWordReads, repository: AlertWordRepository];
  }
}
