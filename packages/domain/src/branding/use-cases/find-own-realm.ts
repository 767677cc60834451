import type { Realm } from '../../realms/realm.js';
import type { Caller } from '../../shared/caller.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';

/** The caller's organization, with what is known of its icon and logos (organization §3). */
export class FindOwnRealm {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute({ realmId }: Caller): Promise<Realm> {
    return this.uow.read(({ realms }) => realms.get(realmId));
  }
}
