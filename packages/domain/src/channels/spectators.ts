import type { Actor } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Repositories } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { canSpectate, type SpectatorAccess, type WebPublicOption } from './channel-access.js';

/** Somebody who has not logged in, where the host name belongs to an organization. */
export interface Spectator {
  readonly realmId: RealmId | null;
}

/** No user has this number. */
export const SPECTATOR_ID = 0 as UserId;

/** They may do what the least of all may, and have nothing. Where guests may know everybody, so may they. */
async function spectatorActor({ groups }: Pick<Repositories, 'groups'>, realm: Realm): Promise<Actor> {
  const { everyone } = await groups.systemGroupIds(realm.id);
  return {
    id: SPECTATOR_ID,
    realmId: realm.id,
    role: 'guest',
    isBot: false,
    botOwnerId: null,
    groups: new Set(realm.permissions.canAccessAllUsers === everyone ? [everyone] : []),
  };
}

export const notLoggedIn = () =>
  new DomainError('UNAUTHENTICATED', 'Not logged in: API authentication or user session required');

/**
 * Protocol §9.
 * @throws DomainError UNKNOWN_REALM, UNAUTHENTICATED where there is nothing to read without logging in
 */
export async function enterAsSpectator(
  repositories: Pick<Repositories, 'realms' | 'channels' | 'groups'>,
  { realmId }: Spectator,
  { webPublicEnabled }: WebPublicOption,
): Promise<{ readonly realm: Realm; readonly actor: Actor; readonly spectators: SpectatorAccess }> {
  if (realmId === null) throw new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
  const { realms, channels } = repositories;
  const realm = await realms.get(realmId);
  const spectators = { webPublicEnabled, hasWebPublicChannel: await channels.hasWebPublic(realmId) };
  if (realm.isDeactivated) throw notLoggedIn();
  enforce(canSpectate(realm, spectators));
  return { realm, actor: await spectatorActor(repositories, realm), spectators };
}
