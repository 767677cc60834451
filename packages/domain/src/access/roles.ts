import { declareErrors } from '../kernel/errors.js';

export const ROLES = ['owner', 'administrator', 'moderator', 'member', 'guest'] as const;
export type Role = (typeof ROLES)[number];

const RANK: Readonly<Record<Role, number>> = { owner: 5, administrator: 4, moderator: 3, member: 2, guest: 1 };

/** True if `role` includes the permissions of `minimum`; for example, an owner is an administrator (channels §3.1). */
export function isAtLeast(role: Role, minimum: Role): boolean {
  return RANK[role] >= RANK[minimum];
}

export const PERMISSION_ERRORS = declareErrors({
  /** Restricted to owners of the organization. */
  MUST_BE_OWNER: 'forbidden',
  /** Restricted to administrators of the organization. */
  MUST_BE_ADMINISTRATOR: 'forbidden',
  /** Restricted to bots. */
  MUST_BE_BOT: 'forbidden',
  /** Not allowed for bots. */
  MUST_NOT_BE_BOT: 'forbidden',
  /** Not allowed for guests. */
  MUST_NOT_BE_GUEST: 'forbidden',
  /** A group would contain itself. */
  GROUP_CYCLE: 'conflict',
  /** The permission cannot be granted to this group; `permission`, `groupName`. */
  GROUP_NOT_ALLOWED: 'invalid',
  /** The permission can be granted to system groups only; `permission`. */
  SYSTEM_GROUP_REQUIRED: 'invalid',
  /** The organization's permissions name too many people in total. */
  TOO_MANY_PERMISSION_HOLDERS: 'conflict',
  /** The request's permissions name too many people. */
  TOO_MANY_HOLDERS_IN_REQUEST: 'invalid',
  /** The current value differs from the one the caller expects. */
  STALE_VALUE: 'conflict',
});

type PermissionErrors = typeof PERMISSION_ERRORS;

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends PermissionErrors {}

  interface ErrorDetails {
    /** `permission`: name of the permission that rejects the value. */
    GROUP_NOT_ALLOWED: { readonly permission: string; readonly groupName: string };
    SYSTEM_GROUP_REQUIRED: { readonly permission: string };
  }
}

/** System groups in order of creation and therefore by ascending id (channels §3.2). */
export const SYSTEM_GROUPS = [
  { name: 'nobody', description: 'Nobody' },
  { name: 'owners', description: 'Owners of this organization' },
  { name: 'administrators', description: 'Administrators of this organization, including owners' },
  { name: 'moderators', description: 'Moderators of this organization, including administrators' },
  { name: 'fullMembers', description: 'Members of this organization, not including new accounts and guests' },
  { name: 'members', description: 'Members of this organization, not including guests' },
  { name: 'everyone', description: 'Everyone in this organization, including guests' },
  { name: 'internet', description: 'Everyone on the Internet' },
] as const;

export type SystemGroupName = (typeof SYSTEM_GROUPS)[number]['name'];

/** Each system group contains the next smaller one as its only subgroup; `nobody` and `owners` contain none. */
export const SUBGROUP_OF: Readonly<Partial<Record<SystemGroupName, SystemGroupName>>> = {
  administrators: 'owners',
  moderators: 'administrators',
  fullMembers: 'moderators',
  members: 'fullMembers',
  everyone: 'members',
  internet: 'everyone',
};

/** Returns the name of a system group for use among named groups, such as `role:fullmembers`. */
export function systemGroupTitle(name: SystemGroupName): string {
  return `role:${name.toLowerCase()}`;
}

const BY_ROLE: Readonly<Record<Role, SystemGroupName>> = {
  owner: 'owners',
  administrator: 'administrators',
  moderator: 'moderators',
  member: 'members',
  guest: 'everyone',
};

/** Returns the system groups with direct membership. A member past the waiting period is also a full member. */
export function directSystemGroups(role: Role, isPastWaitingPeriod: boolean): readonly SystemGroupName[] {
  return role === 'member' && isPastWaitingPeriod ? ['members', 'fullMembers'] : [BY_ROLE[role]];
}

/** Beginning of the external ids of visitors, which no other id may have. */
export const VISITOR_PREFIX = 'parley-visitor:';

/** True for the account of a visitor who has neither become a customer nor got another role. */
export const isVisitor = ({ externalId, role }: { readonly externalId?: string; readonly role: Role }): boolean =>
  role === 'guest' && externalId !== undefined && externalId.startsWith(VISITOR_PREFIX);
