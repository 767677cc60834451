import { VISITOR_PREFIX } from '../access/roles.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import { isLongerThan } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { User } from '../users/user.js';
import { accessorsOf } from '../users/user-delivery.js';

/** Domain of the addresses of users without email, without mail servers (RFC 6761). */
export const NOBODYS_DOMAIN = 'users.parley.invalid';

/** In code points. */
export const MAX_EXTERNAL_ID_LENGTH = 200;

/**
 * Validates the host application's id of a user. Ids are compared exactly. @throws DomainError
 * INVALID_EXTERNAL_ID
 */
export function checkExternalId(externalId: string): void {
  if (externalId.trim() === '') throw new DomainError('INVALID_EXTERNAL_ID', 'externalId must not be blank.');
  if (isLongerThan(externalId, MAX_EXTERNAL_ID_LENGTH)) {
    throw new DomainError('INVALID_EXTERNAL_ID', `An external id has at most ${MAX_EXTERNAL_ID_LENGTH} characters.`);
  }
  // Rejects control characters, and lone surrogates that storage cannot round-trip.
  if (/[\p{Cc}\p{Cs}]/u.test(externalId)) {
    throw new DomainError('INVALID_EXTERNAL_ID', 'An external id must not have control characters.');
  }
  // The id of a visitor would give the caller the visitor's account.
  if (externalId.startsWith(VISITOR_PREFIX)) {
    throw new DomainError('INVALID_EXTERNAL_ID', `An external id must not begin with '${VISITOR_PREFIX}'.`);
  }
}

export interface ExternalIdReads {
  /** Returns null if no user has this external id. */
  find(realmId: RealmId, externalId: string): Promise<UserId | null>;
  /** Unknown ids are absent. Runs one statement for all ids. */
  listUserIds(realmId: RealmId, externalIds: readonly string[]): Promise<ReadonlyMap<string, UserId>>;
  /** Users without an external id are absent. Runs one statement for all users. */
  listByUser(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, string>>;
}

/** Every implementation passes external-id-repository.contract.ts. */
export interface ExternalIdRepository extends ExternalIdReads {
  /**
   * Assigns the id permanently and exclusively. Idempotent.
   * @throws DomainError EXTERNAL_ID_TAKEN if another user has the id or the user has a different one.
   */
  assign(realmId: RealmId, userId: UserId, externalId: string): Promise<void>;
  /** Removes the id of an erased user, so that another user may get it. */
  remove(realmId: RealmId, userId: UserId): Promise<void>;
}

export const externalIdTaken = (externalId: string): DomainError =>
  new DomainError('EXTERNAL_ID_TAKEN', `The external id '${externalId}' is taken, or the user has another one.`);

export const HOST_USER_FEATURE = {
  notExported: {
    externalIds: 'They belong to the host application.',
  },
};

export const HOST_USER_ERRORS = declareErrors({
  /** In-process calls: a property of the wrong type, named by the message. */
  INVALID_ARGUMENT: 'invalid',
  /** The id is blank, longer than 200 characters, not plain text, or begins like the ids of visitors. */
  INVALID_EXTERNAL_ID: 'invalid',
  /** Another user or message has this id, or the user has a different one. */
  EXTERNAL_ID_TAKEN: 'conflict',
});

type HostUserErrors = typeof HOST_USER_ERRORS;

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    externalIds: [reads: ExternalIdReads, repository: ExternalIdRepository];
  }
  interface ErrorCodes extends HostUserErrors {}
}

/** Identifies a user by the host application's id or by Parley's id. */
export type HostUserReference = { readonly externalId: string } | { readonly userId: UserId };

type Reads = Pick<Repositories | Transaction, 'externalIds' | 'users'>;

/** Returns null for unknown users and for system bots. */
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

/** Removes the id of the host application, also from clients. */
export async function removeExternalId(tx: Transaction, { realmId, id: userId, externalId }: User): Promise<void> {
  if (externalId === undefined) return;
  await tx.externalIds.remove(realmId, userId);
  const event = { type: 'user.external_id_assigned', userId, externalId: null } as const;
  await tx.events.append(realmId, { event, audience: accessorsOf(userId) });
}
