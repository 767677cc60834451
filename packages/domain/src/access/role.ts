export const ROLES = ['owner', 'administrator', 'moderator', 'member', 'guest'] as const;
export type Role = (typeof ROLES)[number];

const RANK: Readonly<Record<Role, number>> = { owner: 5, administrator: 4, moderator: 3, member: 2, guest: 1 };

/** Whether `role` carries at least the rights of `minimum`: an owner is an administrator, and so on (channels §3.1). */
export function isAtLeast(role: Role, minimum: Role): boolean {
  return RANK[role] >= RANK[minimum];
}
