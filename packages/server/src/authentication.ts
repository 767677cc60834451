import type { IncomingMessage } from 'node:http';
import type { ApiKeyMint } from '@parley/domain/access';
import type { UnitOfWork, UserId } from '@parley/domain/kernel';
import type { VerifyApiKey, VerifySession } from '@parley/domain/users';
import {
  type Authenticator,
  type BrowserSessions,
  type CallerRole,
  type Credentials,
  type Identity,
  type RealmDirectory,
  type Request,
  type RoleLookup,
  unauthorized,
} from '@parley/http';
import { personOf, type UserRef } from './facade/references.js';
import type { RealmResolver } from './realm-resolver.js';
import { StartupError } from './startup-error.js';

/** Whom the host application has logged in, in our terms. */
export type HostIdentity = UserRef;

/** Null: nobody, as far as the host application knows; the request may still carry an API key. */
export type HostAuthenticate = (request: IncomingMessage) => Promise<HostIdentity | null>;

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

/** Addresses and API keys, on the realm at the address of the request. */
export class ApiKeyCredentials implements Credentials {
  constructor(
    private readonly verifyApiKey: VerifyApiKey,
    private readonly realms: RealmDirectory,
  ) {}

  async verify({ realmAddress, ...claim }: Parameters<Credentials['verify']>[0]): Promise<Identity> {
    return this.verifyApiKey.execute({ realmId: await this.realms.findRealm(realmAddress) }, claim);
  }
}

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

/** Tokens of sessions, at the realm that the address stands for. */
export class StoredSessions implements BrowserSessions {
  constructor(
    private readonly verifySession: VerifySession,
    private readonly realms: RealmDirectory,
  ) {}

  async verify({ realmAddress, token }: Parameters<BrowserSessions['verify']>[0]): Promise<Identity | null> {
    const realmId = await this.realms.findRealm(realmAddress);
    const found = await this.verifySession.execute({ realmId }, token);
    if (!found) return null;
    const { userId, botKind, sessionId, csrfToken } = found;
    return { realmId: found.realmId, userId, botKind, session: { id: sessionId, csrfToken } };
  }
}

/**
 * Stores every key's fingerprint anew when the server's secret is another one than last time. Everybody's key is
 * another one then. Returns how many there were; 0 when the secret is the same.
 */
export async function rehashApiKeys(uow: UnitOfWork, mint: ApiKeyMint): Promise<number> {
  const stored = await uow.read(({ apiKeys }) => apiKeys.secretFingerprint());
  if (stored === mint.secretFingerprint) return 0;
  return uow.write(async (tx) => {
    const { apiKeys } = tx;
    const records = await apiKeys.listAll();
    for (const record of records) {
      await apiKeys.put(record, mint.fingerprint(mint.derive(record)));
      await tx.yield();
    }
    await apiKeys.setSecretFingerprint(mint.secretFingerprint);
    return records.length;
  });
}

/** For whoever works beside a running server, whose keys must stay as they are. @throws StartupError */
export async function assertSameSecret(uow: UnitOfWork, mint: ApiKeyMint): Promise<void> {
  const stored = await uow.read(({ apiKeys }) => apiKeys.secretFingerprint());
  if (stored === null) await uow.write(({ apiKeys }) => apiKeys.setSecretFingerprint(mint.secretFingerprint));
  else if (stored !== mint.secretFingerprint) {
    throw new StartupError('The database was made with another secret meanwhile; start again with that one.');
  }
}
