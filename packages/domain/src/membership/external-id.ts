import { DomainError } from '../kernel/errors.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import { isLongerThan } from '../kernel/text.js';

/** In code points. */
export const MAX_EXTERNAL_ID_LENGTH = 200;

/**
 * The id by which the application that embeds the engine knows a user: any text, compared exactly. @throws DomainError
 * INVALID_EXTERNAL_ID
 */
export function checkExternalId(externalId: string): void {
  if (externalId === '') throw new DomainError('INVALID_EXTERNAL_ID', 'An external id must not be empty.');
  if (isLongerThan(externalId, MAX_EXTERNAL_ID_LENGTH)) {
    throw new DomainError('INVALID_EXTERNAL_ID', `An external id has at most ${MAX_EXTERNAL_ID_LENGTH} characters.`);
  }
  // Control characters, and halves of surrogate pairs, which storage could not give back.
  if (/[\p{Cc}\p{Cs}]/u.test(externalId)) {
    throw new DomainError('INVALID_EXTERNAL_ID', 'An external id must not have control characters.');
  }
}

export interface ExternalIdReads {
  /** Null: nobody has it. */
  find(realmId: RealmId, externalId: string): Promise<UserId | null>;
  /** Unknown ones are absent; one statement for all of them. */
  listUserIds(realmId: RealmId, externalIds: readonly string[]): Promise<ReadonlyMap<string, UserId>>;
  /** Those who have none are absent; one statement for all of them. */
  listByUser(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, string>>;
}

/** Every implementation passes external-id-repository.contract.ts. */
export interface ExternalIdRepository extends ExternalIdReads {
  /**
   * For good: a user keeps it, and nobody else gets it. Once more: without effect.
   * @throws DomainError EXTERNAL_ID_TAKEN when somebody else has it, or the user has another one.
   */
  assign(realmId: RealmId, userId: UserId, externalId: string): Promise<void>;
}

export const externalIdTaken = (externalId: string): DomainError =>
  new DomainError('EXTERNAL_ID_TAKEN', `The external id '${externalId}' is taken, or the user has another one.`);

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    externalIds: [reads: ExternalIdReads, repository: ExternalIdRepository];
  }
}

export const HOST_USER_FEATURE = {
  notExported: {
    externalIds: 'They belong to the host application.',
  },
};
