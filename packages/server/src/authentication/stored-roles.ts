import type { UnitOfWork } from '@parley/domain';
import type { CallerRole, RoleLookup } from '@parley/http';

/** Who somebody is right now, from storage. */
export class StoredRoles implements RoleLookup {
  constructor(private readonly uow: UnitOfWork) {}

  roleOf(caller: Parameters<RoleLookup['roleOf']>[0]): Promise<CallerRole> {
    return this.uow.read(({ actors }) => actors.get(caller));
  }
}
