import type { Caller } from '../../kernel/caller.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';

/** The caller's organization, with what is known of its icon and logos (organization §3). */
export class FindOwnRealm {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute({ realmId }: Caller): Promise<Realm> {
    return this.uow.read(({ realms }) => realms.get(realmId));
  }
}
