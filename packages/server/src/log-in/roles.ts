import { ROLES, type Role } from '@parley/domain/access';
import type { RoleMapping } from '@parley/domain/membership';
import { oneOf, optional, recordOf } from '../kernel/values.js';

/** Roles that a service or directory assigns to users. */
export interface RoleOptions {
  /** Roles by value of the role claim or attribute, or by name of the group; the first that applies counts. */
  readonly roles?: Readonly<Record<string, Role>>;
  /**
   * Role of users who match none of `roles`; `unchanged` only assigns roles and never revokes one. Default: `member`.
   */
  readonly defaultRole?: 'member' | 'guest' | 'unchanged';
}

/** Properties of `RoleOptions`. */
export const ROLE_TYPES = {
  roles: optional(recordOf(oneOf(...ROLES), { max: 1000, maxKeyLength: 1000 })),
  // Members and guests only, since users who match no group must not get privileges.
  defaultRole: optional(oneOf('member', 'guest', 'unchanged')),
};

export const roleMapping = ({ roles = {}, defaultRole = 'member' }: RoleOptions): RoleMapping => ({
  roles: new Map(Object.entries(roles)),
  defaultRole: defaultRole === 'unchanged' ? null : defaultRole,
});
