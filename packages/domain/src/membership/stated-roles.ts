import type { Role } from '../access/roles.js';
import type { User } from '../users/user.js';
import { canChangeRole } from '../users/user-permissions.js';

/** Roles that a service or directory gives to people, as the operator configures them. */
export interface RoleMapping {
  /** Roles by value of a claim or attribute, or by name of a group, in order of precedence. */
  readonly roles: ReadonlyMap<string, Role>;
  /** Role of people without a match; null if they keep their role. */
  readonly defaultRole: Role | null;
}

/** Role that a service or directory gives to a person. */
export interface StatedRole {
  readonly role: Role;
  /** True if no value matches and the mapping contains no guests, so that guests are made in Parley alone. */
  readonly sparesGuests: boolean;
}

/** Reads a complete list of values. Returns null if it does not determine a role. */
export function statedRole(values: readonly unknown[], { roles, defaultRole }: RoleMapping): StatedRole | null {
  if (roles.size === 0) return null;
  for (const [value, role] of roles) if (values.includes(value)) return { role, sparesGuests: false };
  return defaultRole && { role: defaultRole, sparesGuests: ![...roles.values()].includes('guest') };
}

/** Change of a role. Both are null if the role stays as intended. */
export interface RoleChange {
  readonly role: Role | null;
  /** Reason why the user keeps another role than the stated one. */
  readonly problem: string | null;
}

/** Decides on the role of a user for whom a service or directory states one; null: it states none. */
export function roleChange(user: Pick<User, 'role'>, stated: StatedRole | null, isOnlyOwner: boolean): RoleChange {
  if (stated === null || stated.role === user.role) return { role: null, problem: null };
  if (stated.sparesGuests && user.role === 'guest') return { role: null, problem: null };
  const decision = canChangeRole({ role: 'owner' }, user, stated.role, isOnlyOwner);
  if (decision.allowed) return { role: stated.role, problem: null };
  return { role: null, problem: `The role stays ${user.role}: ${decision.message}` };
}
