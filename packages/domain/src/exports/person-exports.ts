import { type Actor, mustBeOwner } from '../access/actor.js';
import type { BlobKey } from '../files/blobs.js';
import type { FileUser } from '../files/files.use-cases.js';
import { hasPassed } from '../kernel/clock-watch.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import type { NotExported } from '../kernel/event.js';
import { type Id, isId, type RealmId, type UnixSeconds, type UserId } from '../kernel/ids.js';
import { jobKind } from '../kernel/jobs.js';
import { all, allowed, type Decision, denyIf } from '../kernel/permission.js';
import type { RowRules, UserRowReads, UserRows } from '../kernel/rows.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';

export type PersonExportId = Id<'person export'>;

/** Copy of everything stored about a person, requested by the person or an owner. */
export interface PersonExport {
  readonly id: PersonExportId;
  readonly realmId: RealmId;
  /** Requester, the only user who can download the copy. */
  readonly userId: UserId;
  /** Copied person. */
  readonly personId: UserId;
  readonly requestedAt: UnixSeconds;
  /** Archive; null if it is pending or failed. */
  readonly blob: BlobKey | null;
  /** Size of the archive in bytes; 0 without one. */
  readonly size: number;
  readonly failedAt: UnixSeconds | null;
}

/** Period in which a requester may request one copy per person, regardless of its result. */
export const PERSON_EXPORT_SECONDS = 86_400;
/** Maximum number of stored copies of others per owner. */
export const MAX_COPIES_OF_OTHERS = 20;
/** Lifetime of a copy since its request. */
export const KEEP_COPY_SECONDS = 7 * 86_400;

/**
 * Lets people copy their own data. Owners may copy those of others with consent to exports, or if the operator enables
 * full content access, because a copy contains direct messages (organization §8).
 */
export function canExportPerson(
  actor: Pick<Actor, 'id' | 'role'>,
  { settings }: Pick<Realm, 'settings'>,
  person: Pick<User, 'id' | 'settings'>,
): Decision {
  if (person.id === actor.id) return allowed;
  const isPermitted = settings.ownerFullContentAccess || person.settings.allowPrivateDataExport;
  return all(
    mustBeOwner(actor),
    denyIf(!isPermitted, 'EXPORT_WITHOUT_CONSENT', 'This user does not allow exports of their private data.'),
  );
}

/**
 * Returns the earlier copies that the new one replaces.
 * @param earlier all copies of the requester
 * @throws DomainError EXPORTED_RECENTLY, TOO_MANY_EXPORTS
 */
export function requireRoomForCopy(
  earlier: readonly PersonExport[],
  { userId, personId }: Pick<PersonExport, 'userId' | 'personId'>,
  now: UnixSeconds,
): readonly PersonExport[] {
  const replaced = earlier.filter((each) => each.personId === personId);
  if (replaced.some(({ requestedAt }) => !hasPassed(requestedAt, PERSON_EXPORT_SECONDS, now))) {
    throw new DomainError('EXPORTED_RECENTLY', 'A copy of these data can be requested once a day.');
  }
  const others = earlier.filter((each) => each.personId !== userId && each.personId !== personId);
  if (personId !== userId && others.length >= MAX_COPIES_OF_OTHERS) {
    throw new DomainError(
      'TOO_MANY_EXPORTS',
      `You can keep copies of the data of at most ${MAX_COPIES_OF_OTHERS} users.`,
    );
  }
  return replaced;
}

export interface PersonExportReads extends UserRowReads<PersonExport> {
  /** Returns the given blobs that are archives, of any realm. */
  filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>>;
}

/** Every implementation passes person-export-repository.contract.ts. */
export interface PersonExportRepository extends PersonExportReads, UserRows<PersonExport> {}

export const PERSON_EXPORT_ROWS: RowRules<PersonExport> = { kind: 'personExport', owner: 'user', order: ['id'] };

export const PERSON_EXPORT_ERRORS = declareErrors({
  /** A copy of this person's data was requested within the last day. */
  EXPORTED_RECENTLY: 'conflict',
  /** The person does not allow exports of private data, and owners have no full content access. */
  EXPORT_WITHOUT_CONSENT: 'forbidden',
});

type PersonExportErrors = typeof PERSON_EXPORT_ERRORS;

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    personExports: [reads: PersonExportReads, repository: PersonExportRepository];
  }
  interface ErrorCodes extends PersonExportErrors {}
}

export const PERSON_EXPORT_FEATURE = {
  // Archives are blobs without a file.
  fileUser: { filterBlobs: ({ personExports }, keys) => personExports.filterBlobs(keys) },
  rows: { personExports: PERSON_EXPORT_ROWS },
  notExported: { personExports: 'Archives stay on the original server.' },
} satisfies { readonly fileUser: FileUser; readonly rows: object; readonly notExported: NotExported };

export interface PersonExportPayload {
  readonly exportId: PersonExportId;
  /** Requester. */
  readonly userId: UserId;
}

function readPayload(stored: unknown): PersonExportPayload {
  const { exportId, userId } = stored as PersonExportPayload;
  if (!isId(exportId) || !isId(userId)) throw new TypeError('Job payload has no copy or requester');
  return { exportId, userId };
}

/** Maximum delay before a retry after a crash; the lease is renewed continuously. */
const LEASE_SECONDS = 120;

export const WRITE_PERSON_EXPORT = jobKind<PersonExportPayload>({
  name: 'exports.write_person',
  readPayload,
  retries: { maxAttempts: 3, firstDelaySeconds: 60, maxDelaySeconds: 3600 },
  leaseSeconds: LEASE_SECONDS,
  concurrency: 1,
});

/** Removes a copy after its lifetime. */
export const EXPIRE_PERSON_EXPORT = jobKind<PersonExportPayload>({
  name: 'exports.expire_person',
  isFixed: true,
  deletes: true,
  readPayload,
  concurrency: 1,
});
