import { DomainError, declareErrors } from '../kernel/errors.js';
import { type FeatureParts, users } from '../kernel/event.js';
import type { PersonPart } from '../kernel/export-parts.js';
import type { Caller, RealmId, UserId } from '../kernel/ids.js';
import type { Snapshot } from '../kernel/register-queue.js';
import * as shape from '../kernel/shape.js';
import { foldCase, trim } from '../kernel/text.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';

/** Limit per user; each change publishes the complete list. */
export const MAX_ALERT_WORDS = 500;

/** Trims words and removes duplicates regardless of letter case. The last occurrence sets spelling and position. */
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
  /** Returns words in their original spelling, oldest first. */
  list(realmId: RealmId, userId: UserId): Promise<readonly string[]>;
  /** True if any user of the realm has alert words. */
  hasAny(realmId: RealmId): Promise<boolean>;
  /** Returns lower-case words that contain one of these segments (`alertSegment`), with the users to alert. */
  listBySegment(realmId: RealmId, segments: ReadonlySet<string>): Promise<ReadonlyMap<string, readonly UserId[]>>;
}

/** Every implementation passes alert-word-repository.contract.ts. */
export interface AlertWordRepository extends AlertWordReads {
  /** Ignores words the user already has, regardless of letter case. */
  add(realmId: RealmId, userId: UserId, words: readonly string[]): Promise<void>;
  /** Removes the words, ignoring letter case. */
  remove(realmId: RealmId, userId: UserId, words: readonly string[]): Promise<void>;
}

export const ALERT_WORD_ERRORS = declareErrors({
  /** The caller would have too many alert words. */
  TOO_MANY_ALERT_WORDS: 'conflict',
});

type AlertWordErrors = typeof ALERT_WORD_ERRORS;

export interface AlertWordEventTypes {
  /** Complete list of words, sent to its owner. */
  'alert_words.changed': { readonly words: readonly string[] };
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    alertWords: [reads: AlertWordReads, repository: AlertWordRepository];
  }
  interface ErrorCodes extends AlertWordErrors {}
  interface DomainEventTypes extends AlertWordEventTypes {}
  interface PersonCopyParts {
    readonly alertWords: readonly string[];
  }
}

const personPart: PersonPart<'alertWords'> = {
  none: { alertWords: [] },
  shapes: { alertWords: shape.list(shape.name, 100_000) },
  read: async (reads, { realmId, userId }) => ({ alertWords: await reads.alertWords.list(realmId, userId) }),
  async add(tx, { realmId, userId }, { alertWords }) {
    if (alertWords.length > 0) await tx.alertWords.add(realmId, userId, alertWords);
  },
};

export const ALERT_WORD_FEATURE = {
  eventFormats: { 'alert_words.changed': 1 },
  personPart: personPart,
} satisfies FeatureParts<AlertWordEventTypes>;

/** Loads the viewer's alert words, oldest first. */
export const loadAlertWords = ({ caller, repositories }: Snapshot): Promise<readonly string[]> =>
  repositories.alertWords.list(caller.realmId, caller.userId);

/** Lists the caller's alert words, oldest first (users §10). */
export class ListAlertWords {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute({ realmId, userId }: Caller): Promise<readonly string[]> {
    return this.uow.read(realmId, ({ alertWords }) => alertWords.list(realmId, userId));
  }
}

export interface ChangeAlertWordsInput {
  readonly op: 'add' | 'remove';
  readonly words: readonly string[];
}

/** Adds or removes the caller's alert words and returns the complete list (users §10). */
export class ChangeAlertWords {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError TOO_MANY_ALERT_WORDS */
  execute({ realmId, userId }: Caller, { op, words: raw }: ChangeAlertWordsInput): Promise<readonly string[]> {
    return this.uow.write(realmId, async (tx) => {
      const parsed = parseAlertWords(raw);
      if (op === 'add') await tx.alertWords.add(realmId, userId, parsed);
      else await tx.alertWords.remove(realmId, userId, parsed);
      const words = await tx.alertWords.list(realmId, userId);
      if (op === 'add') requireRoomForAlertWords(words.length);
      // Publishes the event even if nothing changed.
      await tx.events.append(realmId, { event: { type: 'alert_words.changed', words }, audience: users([userId]) });
      return words;
    });
  }
}
