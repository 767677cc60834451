import type { Role } from '@parley/domain/access';
import type { RoleMapping } from '@parley/domain/membership';

/** Roles that a service or directory assigns to users. */
export interface RoleOptions {
  /** Roles by value of the role claim or attribute, or by name of the group; the first that applies counts. */
  readonly roles?: Readonly<Record<string, Role>>;
  /**
   * Role of users who match none of `roles`; `unchanged` only assigns roles and never revokes one. Default: `member`.
   */
  readonly defaultRole?: 'member' | 'guest' | 'unchanged';
}

export const roleMapping = ({ roles = {}, defaultRole = 'member' }: RoleOptions): RoleMapping => ({
  roles: new Map(Object.entries(roles)),
  defaultRole: defaultRole === 'unchanged' ? null : defaultRole,
});
