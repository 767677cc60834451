import type { IncomingMessage } from 'node:http';
import type { ApiKeyMint } from '@parley/domain/access';
import { DomainError, type UnitOfWork } from '@parley/domain/kernel';
import {
  type ExternalIdentity,
  findHostUser,
  type HostUserReference,
  type LogInChallenge,
  type LogInMethod,
  type LogInProvider,
} from '@parley/domain/membership';
import type { VerifyApiKey, VerifyFrameToken, VerifySession } from '@parley/domain/users';
import {
  type Authenticator,
  type BrowserSessions,
  type CallerRole,
  type Credentials,
  type Identity,
  type Logger,
  type RealmDirectory,
  type Request,
  type RoleLookup,
  unauthorized,
  warn,
} from '@parley/http';
import { shown, textAt } from './facade/arguments.js';
import { referenceOf, type UserRef } from './facade/references.js';
import type { RealmResolver } from './realm-resolver.js';
import { StartupError } from './startup-error.js';

/** User whom the host application has logged in. */
export type HostIdentity = UserRef;

/** Returns the logged-in user; null if the host application knows none. The request may still carry an API key. */
export type HostAuthenticate = (request: IncomingMessage) => Promise<HostIdentity | null>;

/** Authenticates through the host application's own login, regardless of the request's host name. */
export class HostAuthenticator implements Authenticator {
  constructor(
    private readonly authenticateByHost: HostAuthenticate,
    private readonly uow: UnitOfWork,
    private readonly realmResolver: RealmResolver,
    private readonly logger: Logger,
  ) {}

  /** Rejects callers whom the application names but Parley does not know, and logs the application's mistake. */
  async authenticate(request: Request): Promise<Identity | null> {
    const response = await this.authenticateByHost(request.raw);
    if (!response) return null;
    let reference: HostUserReference;
    try {
      textAt('realm', response.realm);
      reference = referenceOf(response);
    } catch (error) {
      throw this.unknown((error as Error).message);
    }
    const { realm: stringId } = response;
    const realmId = await this.realmResolver.findByStringId(stringId);
    if (realmId === null) throw this.unknown(`there is no organization ${shown(stringId)}`);
    return this.uow.read(realmId, async (repositories) => {
      const user = await findHostUser(repositories, realmId, reference);
      if (!user) throw this.unknown(`${shown(stringId)} has no user ${shown(Object.values(reference)[0])}`);
      const realm = await repositories.realms.get(realmId);
      if (realm.isDeactivated) throw unauthorized('This organization has been deactivated');
      if (!user.isActive) throw unauthorized('Account is deactivated');
      return { realmId, userId: user.id, isHostLogin: true, botKind: user.bot?.kind ?? null };
    });
  }

  private unknown(reason: string): Error {
    warn(this.logger, { reason }, `authenticate() named an unknown caller: ${reason}`);
    return unauthorized('Account is unknown to this server');
  }
}

/** Log-in of the host application, as browsers find it. */
export interface HostLogIn {
  /** Address of the application's log-in page. `{next}` is replaced by the address to return to, else `next` is added. */
  readonly url: string;
  readonly name?: string | undefined;
  /** URL of an image. */
  readonly icon?: string | undefined;
}

/** Sends browsers to the host application's log-in; `authenticate` recognizes them when they come back. */
export class HostLogInProvider implements LogInProvider {
  readonly method: LogInMethod;
  private readonly address: string;

  constructor({ url, name, icon }: HostLogIn) {
    this.address = url;
    const displayName = name ?? new URL(url).hostname;
    this.method = { name: 'host', kind: 'host', displayName, displayIcon: icon ?? null, realms: null };
  }

  async begin({ callbackUrl, state }: LogInChallenge): Promise<string> {
    const next = `${callbackUrl}?${new URLSearchParams({ state })}`;
    if (this.address.includes(NEXT)) return this.address.replace(NEXT, encodeURIComponent(next));
    const url = new URL(this.address);
    url.searchParams.set('next', next);
    return url.href;
  }

  /** Never called, since the request itself shows who the user is. */
  async identify(): Promise<ExternalIdentity> {
    throw new Error('The host application identifies its users by their requests');
  }
}

const NEXT = '{next}';

/** Authenticates by email and API key in the realm of the request's address. */
export class ApiKeyCredentials implements Credentials {
  constructor(
    private readonly verifyApiKey: VerifyApiKey,
    private readonly realms: RealmDirectory,
  ) {}

  async verify({ realmAddress, ...claim }: Parameters<Credentials['verify']>[0]): Promise<Identity> {
    return this.verifyApiKey.execute({ realmId: await this.realms.findRealm(realmAddress) }, claim);
  }
}

/** Reads `Authorization: Bearer …` with the token of a frame. */
export class FrameTokenAuthenticator implements Authenticator {
  constructor(
    private readonly verifyToken: VerifyFrameToken,
    private readonly realms: RealmDirectory,
  ) {}

  async authenticate(request: Request): Promise<Identity | null> {
    const token = /^bearer +(\S+)$/i.exec(request.header('authorization') ?? '')?.[1];
    const realmId = token === undefined ? null : await this.realms.findRealm(request.realmAddress);
    if (token === undefined || realmId === null) return null;
    try {
      const user = await this.verifyToken.execute(realmId, token);
      return user && { realmId, userId: user.id, botKind: null };
    } catch (error) {
      if (error instanceof DomainError && error.kind !== 'unavailable') throw unauthorized(error.message);
      throw error;
    }
  }
}

/** Looks up a user's current role in storage. */
export class StoredRoles implements RoleLookup {
  constructor(private readonly uow: UnitOfWork) {}

  roleOf(caller: Parameters<RoleLookup['roleOf']>[0]): Promise<CallerRole> {
    return this.uow.read(caller.realmId, async ({ actors, users }) => {
      const { role, isBot } = await actors.get(caller);
      const { settings } = (await users.find(caller.realmId, caller.userId))!;
      return { role, isBot, synchronizesDrafts: settings.enableDraftsSynchronization };
    });
  }
}

/** Resolves session tokens in the realm of the request's address. */
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
 * Recomputes all key fingerprints if the server's secret has changed, which changes every user's API key. Returns the
 * number of keys; 0 if the secret is unchanged.
 */
export async function rehashApiKeys(uow: UnitOfWork, mint: ApiKeyMint): Promise<number> {
  const stored = await uow.readAcross(({ apiKeys }) => apiKeys.secretFingerprint());
  if (stored === mint.secretFingerprint) return 0;
  return uow.writeAcross(async (tx) => {
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

/** Used by commands beside a running server, whose keys must not change. @throws StartupError */
export async function assertSameSecret(uow: UnitOfWork, mint: ApiKeyMint): Promise<void> {
  const stored = await uow.readAcross(({ apiKeys }) => apiKeys.secretFingerprint());
  if (stored === null) await uow.writeAcross(({ apiKeys }) => apiKeys.setSecretFingerprint(mint.secretFingerprint));
  else if (stored !== mint.secretFingerprint) {
    throw new StartupError('The secret of the database has changed in the meantime; restart with the new secret.');
  }
}
