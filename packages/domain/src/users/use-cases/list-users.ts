import type { Caller } from '../../kernel/caller.js';
import type { UserId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { type PresentUsers, presentKnownUsers } from '../present-known-users.js';

/** The users of the realm that the caller may know of (users §2). */
export class ListUsers {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** `ids`: only these; null: all. Unknown ones are left out. */
  execute<T>(
    caller: Caller,
    { ids }: { readonly ids: readonly UserId[] | null },
    present: PresentUsers<T>,
  ): Promise<T> {
    return this.uow.read(async (repositories) => {
      const viewer = await repositories.actors.get(caller);
      const realm = await repositories.realms.get(caller.realmId);
      return presentKnownUsers(repositories, { viewer, realm, ids }, present);
    });
  }
}
