import type { Role } from '../access/roles.js';
import type { User } from '../users/user.js';
import { canChangeRole } from '../users/user-permissions.js';

/** Roles assigned by a service or directory, configured by the operator. */
export interface RoleMapping {
  /** Roles by claim or attribute value, or by group name, in order of precedence. */
  readonly roles: ReadonlyMap<string, Role>;
  /** Role of users without a match; null to keep their role. */
  readonly defaultRole: Role | null;
}

/** Role assigned to a user by a service or directory. */
export interface StatedRole {
  readonly role: Role;
  /** True if no value matches and the mapping never assigns guests, so that only Parley makes guests. */
  readonly sparesGuests: boolean;
}

/** Evaluates a complete list of values. Returns null if it determines no role. */
export function statedRole(values: readonly unknown[], { roles, defaultRole }: RoleMapping): StatedRole | null {
  if (roles.size === 0) return null;
  for (const [value, role] of roles) if (values.includes(value)) return { role, sparesGuests: false };
  return defaultRole && { role: defaultRole, sparesGuests: ![...roles.values()].includes('guest') };
}

/** Role change. Both are null if the role stays as intended. */
export interface RoleChange {
  readonly role: Role | null;
  /** Reason why the user keeps a role other than the stated one. */
  readonly problem: string | null;
}

/** Decides on a user's role given the one stated by a service or directory (null: none). */
export function roleChange(user: Pick<User, 'role'>, stated: StatedRole | null, isOnlyOwner: boolean): RoleChange {
  if (stated === null || stated.role === user.role) return { role: null, problem: null };
  if (stated.sparesGuests && user.role === 'guest') return { role: null, problem: null };
  const decision = canChangeRole({ role: 'owner' }, user, stated.role, isOnlyOwner);
  if (decision.allowed) return { role: stated.role, problem: null };
  return { role: null, problem: `The role stays ${user.role}: ${decision.message}` };
}
