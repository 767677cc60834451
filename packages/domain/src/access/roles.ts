import { declareErrors } from '../kernel/errors.js';

export const ROLES = ['owner', 'administrator', 'moderator', 'member', 'guest'] as const;
export type Role = (typeof ROLES)[number];

const RANK: Readonly<Record<Role, number>> = { owner: 5, administrator: 4, moderator: 3, member: 2, guest: 1 };

/** Whether `role` carries at least the rights of `minimum`: an owner is an administrator, and so on (channels §3.1). */
export function isAtLeast(role: Role, minimum: Role): boolean {
  return RANK[role] >= RANK[minimum];
}

export const PERMISSION_ERRORS = declareErrors({
  /** Of the organization. */
  MUST_BE_OWNER: 'forbidden',
  /** Of the organization. */
  MUST_BE_ADMINISTRATOR: 'forbidden',
  MUST_BE_BOT: 'forbidden',
  MUST_NOT_BE_BOT: 'forbidden',
  MUST_NOT_BE_GUEST: 'forbidden',
  GROUP_CYCLE: 'conflict',
  /** As the value of a permission. */
  GROUP_NOT_ALLOWED: 'invalid',
  /** As the value of a permission. */
  SYSTEM_GROUP_REQUIRED: 'invalid',
  TOO_MANY_PERMISSION_HOLDERS: 'conflict',
  /** Somebody changed the value meanwhile. */
  STALE_VALUE: 'conflict',
});

type PermissionErrors = typeof PERMISSION_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends PermissionErrors {}

  interface ErrorDetails {
    /** `permission`: whose value it cannot be. */
    GROUP_NOT_ALLOWED: { readonly permission: string; readonly groupName: string };
    SYSTEM_GROUP_REQUIRED: { readonly permission: string };
  }
}

/** In order of creation, hence of ascending ids (channels §3.2). */
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

/** Each holds the next smaller one as its only subgroup; `nobody` and `owners` hold none. */
export const SUBGROUP_OF: Readonly<Partial<Record<SystemGroupName, SystemGroupName>>> = {
  administrators: 'owners',
  moderators: 'administrators',
  fullMembers: 'moderators',
  members: 'fullMembers',
  everyone: 'members',
  internet: 'everyone',
};

/** What a system group is called among named groups: `role:fullmembers`. */
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

/** The system groups a user is a direct member of; a member past the waiting period is a full member too. */
export function directSystemGroups(role: Role, isPastWaitingPeriod: boolean): readonly SystemGroupName[] {
  return role === 'member' && isPastWaitingPeriod ? ['members', 'fullMembers'] : [BY_ROLE[role]];
}
