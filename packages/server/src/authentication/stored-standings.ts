import type { UnitOfWork } from '@parley/domain';
import type { Gatekeeper, Standing } from '@parley/http';

/** Who somebody is right now, from storage. */
export class StoredStandings implements Gatekeeper {
  constructor(private readonly uow: UnitOfWork) {}

  standingOf(caller: Parameters<Gatekeeper['standingOf']>[0]): Promise<Standing> {
    return this.uow.read(({ actors }) => actors.get(caller));
  }
}
