import type { UnitOfWork, UserId } from '@parley/domain/shared';
import { type Authenticator, type Identity, type Request, unauthorized } from '@parley/http';
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
    const named = await this.authenticateByHost(request.raw);
    if (!named) return null;
    const realmId = await this.realmResolver.findByStringId(named.realm);
    if (realmId === null) throw new Error(`authenticate() named an unknown organization: ${named.realm}`);
    return this.uow.read(async ({ users, realms, externalIds }) => {
      const id =
        'userId' in named ? (named.userId as UserId) : await externalIds.find(realmId, String(named.externalId));
      const user = id === null ? null : await users.find(realmId, id);
      if (!user) {
        const name = 'userId' in named ? named.userId : named.externalId;
        throw new Error(`authenticate() named an unknown user of ${named.realm}: ${name}`);
      }
      const realm = await realms.get(realmId);
      if (realm.isDeactivated) throw unauthorized('This organization has been deactivated');
      if (!user.isActive) throw unauthorized('Account is deactivated');
      return { realmId, userId: user.id, isHostLogin: true, botKind: user.bot?.kind ?? null };
    });
  }
}
