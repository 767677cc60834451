import type { UnitOfWork, UserId } from '@parley/domain/kernel';
import { type Authenticator, type Identity, type Request, unauthorized } from '@parley/http';
import { personOf } from '../facade/references.js';
import type { RealmResolver } from '../realm-resolver.js';
import type { HostAuthenticate } from './host-authenticate.js';

/** The host application's own log-in. What it says counts, whatever host name the request is for. */
export class HostAuthenticator implements Authenticator {
  constructor(
    private readonly authenticateByHost: HostAuthenticate,
    private readonly uow: UnitOfWork,
    private readonly realmResolver: RealmResolver,
  ) {}

  /** @throws Error when the host application names somebody who does not exist: a mistake in it, not in the request. */
  async authenticate(request: Request): Promise<Identity | null> {
    const answer = await this.authenticateByHost(request.raw);
    if (!answer) return null;
    const { realm: stringId } = answer;
    const realmId = await this.realmResolver.findByStringId(stringId);
    if (realmId === null) throw new Error(`authenticate() named an unknown organization: ${shown(stringId)}`);
    const person = personOf(answer);
    if (person === null) throw new Error(`authenticate() named a user of ${stringId} without an id`);
    return this.uow.read(async ({ users, realms, externalIds }) => {
      const id = typeof person === 'number' ? (person as UserId) : await externalIds.find(realmId, person);
      const user = id === null ? null : await users.find(realmId, id);
      if (!user) throw new Error(`authenticate() named an unknown user of ${stringId}: ${shown(person)}`);
      const realm = await realms.get(realmId);
      if (realm.isDeactivated) throw unauthorized('This organization has been deactivated');
      if (!user.isActive) throw unauthorized('Account is deactivated');
      return { realmId, userId: user.id, isHostLogin: true, botKind: user.bot?.kind ?? null };
    });
  }
}

/** Of what a log says. */
const MAX_SHOWN = 200;
const shown = (named: unknown): string => String(named).slice(0, MAX_SHOWN);
