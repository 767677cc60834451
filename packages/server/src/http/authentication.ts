import type { ApiKeyMint } from '@parley/domain/access';
import { DomainError, type UnitOfWork } from '@parley/domain/kernel';
import { isAccessToken, type VerifyAccessToken } from '@parley/domain/log-in';
import type { VerifyApiKey, VerifyFrameToken, VerifySession } from '@parley/domain/users';
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
import { StartupError } from '../kernel/startup-error.js';

/** Authenticates by email and API key in the realm of the request URL. */
export class ApiKeyCredentials implements Credentials {
  constructor(
    private readonly verifyApiKey: VerifyApiKey,
    private readonly realms: RealmDirectory,
  ) {}

  async verify({ realmAddress, ...claim }: Parameters<Credentials['verify']>[0]): Promise<Identity> {
    return this.verifyApiKey.execute({ realmId: await this.realms.findRealm(realmAddress) }, claim);
  }
}

/** Authenticates `Authorization: Bearer …` with a frame token. */
export class FrameTokenAuthenticator implements Authenticator {
  constructor(
    private readonly verifyToken: VerifyFrameToken,
    private readonly realms: RealmDirectory,
  ) {}

  async authenticate(request: Request): Promise<Identity | null> {
    const token = bearerTokenOf(request);
    const realmId = token === undefined ? null : await this.realms.findRealm(request.realmAddress);
    if (token === undefined || realmId === null) return null;
    try {
      const verified = await this.verifyToken.execute(realmId, token);
      return verified && { realmId, userId: verified.user.id, botKind: null, expiresAt: verified.expiresAt };
    } catch (error) {
      if (error instanceof DomainError && error.kind !== 'unavailable') throw unauthorized(error.message);
      throw error;
    }
  }
}

/** Authenticates `Authorization: Bearer …` with a token for some conversations. */
export class AccessTokenAuthenticator implements Authenticator {
  private readonly protocol: string;

  constructor(
    private readonly verifyToken: VerifyAccessToken,
    private readonly realms: RealmDirectory,
    publicUrl: string,
  ) {
    this.protocol = new URL(publicUrl).protocol;
  }

  async authenticate(request: Request): Promise<Identity | null> {
    const token = bearerTokenOf(request);
    if (token === undefined || !isAccessToken(token)) return null;
    const realmId = await this.realms.findRealm(request.realmAddress);
    if (realmId === null) throw unauthorized('Invalid token');
    try {
      const { userId, expiresAt, tokenId, actions, conversations, readers } = await this.verifyToken.execute(
        realmId,
        token,
        this.originOf(request),
      );
      const scope = { tokenId, actions, conversations, ...(readers && { readers }) };
      return { realmId, userId, botKind: readers ? 'generic' : null, expiresAt, scope };
    } catch (error) {
      if (error instanceof DomainError && error.kind !== 'unavailable') throw unauthorized(error.message);
      throw error;
    }
  }

  /** Browsers send no origin with reads from pages of the same origin. */
  private originOf(request: Request): string | null {
    const origin = request.header('origin');
    if (origin !== undefined) return origin;
    return request.header('sec-fetch-site') === 'same-origin' ? `${this.protocol}//${request.authority}` : null;
  }
}

const bearerTokenOf = (request: Request): string | undefined =>
  /^bearer +(\S+)$/i.exec(request.header('authorization') ?? '')?.[1];

/** Looks up a user's current role in storage. */
export class StoredRoles implements RoleLookup {
  constructor(private readonly uow: UnitOfWork) {}

  roleOf(caller: Parameters<RoleLookup['roleOf']>[0]): Promise<CallerRole> {
    return this.uow.read(caller.realmId, async ({ actors, users }) => {
      const { role, isBot } = await actors.get(caller);
      const { settings } = await users.get(caller.realmId, caller.userId);
      return { role, isBot, synchronizesDrafts: settings.enableDraftsSynchronization };
    });
  }
}

/** Resolves session tokens in the realm of the request URL. */
export class StoredSessions implements BrowserSessions {
  constructor(
    private readonly verifySession: VerifySession,
    private readonly realms: RealmDirectory,
  ) {}

  async verify({ realmAddress, token }: Parameters<BrowserSessions['verify']>[0]): Promise<Identity | null> {
    const realmId = await this.realms.findRealm(realmAddress);
    const found = await this.verifySession.execute({ realmId }, token);
    if (!found) return null;
    const { userId, botKind, sessionId, csrfToken, expiresAt } = found;
    return { realmId: found.realmId, userId, botKind, session: { id: sessionId, csrfToken }, expiresAt };
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
    }
    await apiKeys.setSecretFingerprint(mint.secretFingerprint);
    return records.length;
  });
}

/** Variant for commands that run alongside a server, which must not change its keys. @throws StartupError */
export async function assertSameSecret(uow: UnitOfWork, mint: ApiKeyMint): Promise<void> {
  const stored = await uow.readAcross(({ apiKeys }) => apiKeys.secretFingerprint());
  if (stored === null) await uow.writeAcross(({ apiKeys }) => apiKeys.setSecretFingerprint(mint.secretFingerprint));
  else if (stored !== mint.secretFingerprint) {
    throw new StartupError('The secret of the database has changed in the meantime; restart with the new secret.');
  }
}
