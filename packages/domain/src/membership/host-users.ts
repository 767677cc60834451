import { DomainError, declareErrors } from '../kernel/errors.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import { isLongerThan } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { User } from '../users/user.js';

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

export const HOST_USER_ERRORS = declareErrors({
  /** Empty, too long, or with characters that look alike. */
  INVALID_EXTERNAL_ID: 'invalid',
  /** Another user has it, or the user has another one. */
  EXTERNAL_ID_TAKEN: 'conflict',
});

type HostUserErrors = typeof HOST_USER_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends HostUserErrors {}
}

/** Whom the host application means: by its own id, or by ours. */
export type HostUserReference = { readonly externalId: string } | { readonly userId: UserId };

type Reads = Pick<Repositories | Transaction, 'externalIds' | 'users'>;

/** Null: there is no such user; the system's own bots are nobody's. */
export async function findHostUser(reads: Reads, realmId: RealmId, by: HostUserReference): Promise<User | null> {
  const id = 'userId' in by ? by.userId : await reads.externalIds.find(realmId, by.externalId);
  return id === null ? null : reads.users.find(realmId, id);
}

/** @throws DomainError UNKNOWN_USER */
export async function getHostUser(reads: Reads, realmId: RealmId, by: HostUserReference): Promise<User> {
  const user = await findHostUser(reads, realmId, by);
  if (user) return user;
  const named = 'userId' in by ? `the id ${by.userId}` : `the external id '${by.externalId}'`;
  throw new DomainError('UNKNOWN_USER', `There is no user with ${named}.`);
}
