import { DomainError } from '../../kernel/errors.js';
import type { RealmId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { SpecialPermission, User } from '../user.js';

export interface GrantSpecialPermissionInput {
  readonly realmId: RealmId;
  readonly email: string;
  readonly permission: SpecialPermission;
}

/** The operator's leave for what no role carries. */
export class GrantSpecialPermission {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Granting twice changes nothing. @throws DomainError UNKNOWN_USER when nobody has the address. */
  execute({ realmId, email, permission }: GrantSpecialPermissionInput): Promise<User> {
    return this.uow.write(async (tx) => {
      const user = await tx.users.findByEmail(realmId, email);
      if (!user) throw new DomainError('UNKNOWN_USER', 'No such user');
      if (user.specialPermissions.includes(permission)) return user;
      return tx.users.update({ ...user, specialPermissions: [...user.specialPermissions, permission] });
    });
  }
}
