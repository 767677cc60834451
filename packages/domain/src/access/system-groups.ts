import type { Role } from './role.js';

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
