import type { Role } from '../../access/roles.js';
import { declareErrors } from '../../kernel/errors.js';
import type { GroupId, RealmId, UnixSeconds, UserId } from '../../kernel/ids.js';

export const PROVISIONING_ERRORS = declareErrors({
  /** The resource has changed since the directory read it (SCIM). */
  STALE_RESOURCE: 'conflict',
  /** A directory changes an external id, which is permanent. */
  IMMUTABLE_VALUE: 'conflict',
  /** A directory request names too many members. */
  TOO_MANY_VALUES: 'invalid',
  /** The organization has a SCIM token of this name. */
  TOKEN_NAME_TAKEN: 'conflict',
  /** The name of a SCIM token is blank or too long. */
  INVALID_TOKEN_NAME: 'invalid',
  /** The organization has no SCIM token of this name. */
  UNKNOWN_TOKEN: 'unknown',
  /** The organization has too many SCIM tokens. */
  TOO_MANY_TOKENS: 'conflict',
});

type ProvisioningErrors = typeof PROVISIONING_ERRORS;

/** Maximum number per organization. */
export const MAX_PROVISIONING_TOKENS = 10;
/** In code points. */
export const MAX_TOKEN_NAME_LENGTH = 60;
/** Maximum number of members in one request. */
export const MAX_MEMBERS_PER_REQUEST = 10_000;

/** Credential with which a directory manages the users and groups of one organization. */
export interface ProvisioningToken {
  readonly realmId: RealmId;
  /** Unique in the organization; appears in audit lines. */
  readonly name: string;
  readonly createdAt: UnixSeconds;
}

/** Group created by a directory. */
export interface ProvisionedGroup {
  readonly groupId: GroupId;
  /** Id in the directory. */
  readonly externalId: string | null;
  /** True once the directory has deleted it; the group stays reserved for the directory. */
  readonly isRemoved: boolean;
}

export interface ProvisioningReads {
  /** Returns null if the realm has no such token. */
  findToken(realmId: RealmId, fingerprint: string): Promise<ProvisioningToken | null>;
  /** Ascending name. */
  listTokens(realmId: RealmId): Promise<readonly ProvisioningToken[]>;
  /** Returns users deleted by the directory; ascending. */
  listRemovedUserIds(realmId: RealmId): Promise<readonly UserId[]>;
  isUserRemoved(realmId: RealmId, userId: UserId): Promise<boolean>;
  /** Returns null if no directory created the group. */
  findGroup(realmId: RealmId, groupId: GroupId): Promise<ProvisionedGroup | null>;
  /** Includes removed groups; ascending id. */
  listGroups(realmId: RealmId): Promise<readonly ProvisionedGroup[]>;
}

/** Every implementation passes provisioning-repository.contract.ts. */
export interface ProvisioningRepository extends ProvisioningReads {
  /** The name must be free. */
  addToken(token: ProvisioningToken, fingerprint: string): Promise<void>;
  /** Returns false if the realm has no token with this name. */
  removeToken(realmId: RealmId, name: string): Promise<boolean>;
  /** Idempotent. */
  setUserRemoved(realmId: RealmId, userId: UserId, isRemoved: boolean): Promise<void>;
  /** Adds or replaces. */
  putGroup(realmId: RealmId, group: ProvisionedGroup): Promise<void>;
}

declare module '../../kernel/feature-types.js' {
  interface ErrorCodes extends ProvisioningErrors {}
  interface RepositoryMap {
    provisioning: [reads: ProvisioningReads, repository: ProvisioningRepository];
  }
}

export const PROVISIONING_FEATURE = {
  notExported: {
    provisioning: 'Directories are connected to the original server.',
  },
};

/** User entry in a directory. */
export interface ProvisionedUser {
  readonly id: UserId;
  readonly externalId: string | null;
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  readonly isActive: boolean;
  readonly createdAt: UnixSeconds;
  readonly version: string;
}

/** Properties set by a directory; absent ones stay unchanged. */
export interface ProvisionedUserChange {
  readonly externalId?: string;
  readonly email?: string;
  readonly fullName?: string;
  readonly role?: Role;
  readonly isActive?: boolean;
}

/** Group with its members, including deactivated users. */
export interface ProvisionedGroupView {
  readonly id: GroupId;
  readonly externalId: string | null;
  readonly name: string;
  readonly createdAt: UnixSeconds | null;
  /** Ascending. */
  readonly memberIds: readonly UserId[];
  readonly version: string;
}

export interface ProvisionedGroupChange {
  readonly name?: string;
  readonly externalId?: string | null;
  /** Replaces all members before the additions and removals. */
  readonly members?: readonly UserId[];
  readonly added?: readonly UserId[];
  readonly removed?: readonly UserId[];
}

/** Predicate for the version that the client last read; null to overwrite any version. */
export type ExpectedVersion = ((version: string) => boolean) | null;
