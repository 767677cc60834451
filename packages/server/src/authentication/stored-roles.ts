import type { UnitOfWork } from '@parley/domain/kernel';
import type { CallerRole, RoleLookup } from '@parley/http';

/** Who somebody is right now, from storage. */
export class StoredRoles implements RoleLookup {
  constructor(private readonly uow: UnitOfWork) {}

  roleOf(caller: Parameters<RoleLookup['roleOf']>[0]): Promise<CallerRole> {
    return this.uow.read(async ({ actors, users }) => {
      const { role, isBot } = await actors.get(caller);
      const { settings } = (await users.find(caller.realmId, caller.userId))!;
      return { role, isBot, synchronizesDrafts: settings.enableDraftsSynchronization };
    });
  }
}
