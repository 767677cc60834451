import {
  type ApiKeyMint,
  MAX_USER_AGENT_LENGTH,
  RENEW_AFTER_SECONDS,
  type SessionTokens,
} from '../access/credentials.js';
import { isAtLeast } from '../access/roles.js';
import { DomainError } from '../kernel/errors.js';
import type { EventListener, FollowedLog, StoredEvent } from '../kernel/event-log.js';
import type { AnonymousCaller, Caller, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Clock, DevelopmentMode, RealmUrls } from '../kernel/ports.js';
import { foldCase, takeCodePoints } from '../kernel/text.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import {
  accountDeactivated,
  authenticationFailed,
  CallerCache,
  findActiveAccount,
  invalidEmail,
  type JsonWebTokens,
  LoginEmails,
  loadPasswordOwner,
  type OwnPassword,
  PasswordCheck,
  type PasswordLogIn,
  realmDeactivated,
  unknownRealm,
  userOfPasswordAlone,
  verifyOwnPassword,
} from './authentication.js';
import { type OpenedSession, openSession } from './sessions.use-cases.js';
import { type BotKind, isHostAddress, type User } from './user.js';

export interface IssuedKey {
  readonly apiKey: string;
  readonly user: User;
}

/** Issues an API key for a password (protocol §8.1). */
export class FetchApiKey {
  static readonly inject = [PasswordCheck, 'apiKeyMint', LoginEmails] as const;
  constructor(
    private readonly check: PasswordCheck,
    private readonly mint: ApiKeyMint,
    private readonly loginEmails: LoginEmails,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, INVALID_EMAIL, RATE_LIMITED, USER_DEACTIVATED, REALM_DEACTIVATED,
   * PASSWORD_AUTH_DISABLED, SERVER_BUSY, AUTHENTICATION_FAILED
   */
  async execute(caller: AnonymousCaller, input: PasswordLogIn): Promise<IssuedKey> {
    const { mint, check } = this;
    const { user } = await userOfPasswordAlone(check, caller, input);
    await this.loginEmails.plan(user, caller);
    return issueKey({ uow: check.uow, mint, clock: check.clock }, caller, user);
  }
}

/**
 * Returns the user's current key and records the client that received it, unless the same client received it recently.
 */
export async function issueKey(
  { uow, mint, clock }: { readonly uow: UnitOfWork; readonly mint: ApiKeyMint; readonly clock: Clock },
  { ip, clientName }: Pick<AnonymousCaller, 'ip' | 'clientName'>,
  user: User,
): Promise<IssuedKey> {
  const { realmId, id } = user;
  const { record, last } = await uow.read(realmId, async ({ apiKeys }) => ({
    record: await apiKeys.find(realmId, id),
    last: await apiKeys.findIssue(realmId, id),
  }));
  if (!record) throw authenticationFailed();
  const client = takeCodePoints(clientName ?? '', MAX_USER_AGENT_LENGTH) || null;
  const issue = { at: clock.now(), ip: ip ?? null, clientName: client };
  const isRepeated = last?.ip === issue.ip && last.clientName === issue.clientName;
  if (!isRepeated || issue.at - last.at >= RENEW_AFTER_SECONDS) {
    await uow.write(realmId, (tx) => tx.apiKeys.putIssue(realmId, id, issue));
  }
  return { apiKey: mint.derive(record), user };
}

/**
 * Returns the caller's own key after they re-enter their password, so that an unattended browser does not reveal it
 * (protocol §8.4).
 */
export class FetchOwnApiKey {
  static readonly inject = [PasswordCheck, 'apiKeyMint'] as const;
  constructor(
    private readonly check: PasswordCheck,
    private readonly mint: ApiKeyMint,
  ) {}

  /**
   * Requires no password if the organization has disabled password login. @throws DomainError RATE_LIMITED,
   * SERVER_BUSY, WRONG_PASSWORD
   */
  async execute(caller: Caller, proof: OwnPassword): Promise<IssuedKey> {
    const { uow, directories, clock } = this.check;
    const owner = await uow.read(caller.realmId, (reads) => loadPasswordOwner(reads, caller));
    if (owner.realm.settings.emailAuthentication || directories.isUsedBy(owner.realm)) {
      await verifyOwnPassword(this.check, owner, proof);
    }
    return issueKey({ uow, mint: this.mint, clock }, caller, owner.user);
  }
}

/** Issues an API key for a token signed by another service (protocol §8.2). */
export class FetchApiKeyByToken {
  static readonly inject = ['unitOfWork', 'webTokens', 'apiKeyMint', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly tokens: JsonWebTokens,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, JWT_DISABLED, JWT_REQUIRED, INVALID_JWT, JWT_WITHOUT_EMAIL, INVALID_EMAIL, USER_DEACTIVATED,
   * REALM_DEACTIVATED, AUTHENTICATION_FAILED
   */
  async execute(
    caller: AnonymousCaller,
    { token }: { readonly token: string },
  ): Promise<IssuedKey & { readonly realm: Realm }> {
    const { realmId } = caller;
    if (realmId === null) throw unknownRealm();
    const { stringId } = await this.uow.read(realmId, ({ realms }) => realms.get(realmId));
    const email = await this.emailIn(token, stringId);
    const { user, realm } = await this.uow.read(realmId, (repositories) =>
      findActiveAccount(repositories, realmId, email),
    );
    if (!user || user.bot) throw authenticationFailed();
    const { uow, mint, clock } = this;
    return { ...(await issueKey({ uow, mint, clock }, caller, user)), realm };
  }

  private async emailIn(token: string, realmStringId: string): Promise<string> {
    if (!this.tokens.isEnabledFor(realmStringId)) {
      throw new DomainError('JWT_DISABLED', 'JWT authentication is not enabled for this organization');
    }
    if (token === '') throw new DomainError('JWT_REQUIRED', 'No JSON web token passed in request');
    const claims = await this.tokens.verify(realmStringId, token);
    if (!claims) throw new DomainError('INVALID_JWT', 'Bad JSON web token');
    if (claims.email === null) {
      throw new DomainError('JWT_WITHOUT_EMAIL', 'No email specified in JSON web token claims');
    }
    if (!isHostAddress(claims.email)) throw invalidEmail();
    return claims.email;
  }
}

/** Maximum remaining lifetime of an accepted token, because pages have access to it. */
const MAX_FRAME_TOKEN_SECONDS = 3600;

export interface VerifiedToken {
  readonly user: User;
  readonly expiresAt: UnixSeconds;
}

/** Authenticates the caller by a token that the embedding page passed to the frame (protocol §7.8). */
export class VerifyFrameToken {
  static readonly inject = ['unitOfWork', 'webTokens', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly tokens: JsonWebTokens,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns null if the organization accepts no tokens. @throws DomainError UNAUTHENTICATED, USER_DEACTIVATED,
   * REALM_DEACTIVATED
   */
  async execute(realmId: RealmId, token: string): Promise<VerifiedToken | null> {
    const { stringId } = await this.uow.read(realmId, ({ realms }) => realms.get(realmId));
    if (!this.tokens.isEnabledFor(stringId)) return null;
    const claims = await this.tokens.verify(stringId, token);
    if (!claims || claims.email === null || claims.expiresAt > this.clock.now() + MAX_FRAME_TOKEN_SECONDS) {
      throw invalidToken();
    }
    const { email } = claims;
    const { user } = await this.uow.read(realmId, (repositories) => findActiveAccount(repositories, realmId, email));
    if (!user || user.bot) throw invalidToken();
    return { user, expiresAt: claims.expiresAt };
  }
}

const invalidToken = () => new DomainError('UNAUTHENTICATED', 'Invalid token');

export const notInProduction = () => new DomainError('NOT_IN_PRODUCTION', 'Endpoint not available in production.');

/** @throws DomainError DEVELOPMENT_AUTH_DISABLED (protocol §8.2, organization §2.5) */
export function requireDevelopmentAuth({ settings }: Pick<Realm, 'settings'>): void {
  if (settings.devAuthentication) return;
  throw new DomainError('DEVELOPMENT_AUTH_DISABLED', 'DevAuthBackend not enabled.');
}

interface DevelopmentPorts {
  readonly uow: UnitOfWork;
  readonly mint: ApiKeyMint;
  readonly mode: DevelopmentMode;
  readonly clock: Clock;
}

/**
 * @throws DomainError NOT_IN_PRODUCTION, UNKNOWN_REALM, DEVELOPMENT_AUTH_DISABLED, INVALID_EMAIL, USER_DEACTIVATED,
 * REALM_DEACTIVATED, AUTHENTICATION_FAILED
 */
async function issueDevelopmentKey(
  { uow, mint, mode, clock }: DevelopmentPorts,
  caller: AnonymousCaller,
  username: string,
): Promise<IssuedKey> {
  const { realmId } = caller;
  if (!mode.isOn) throw notInProduction();
  if (realmId === null) throw unknownRealm();
  const { user } = await uow.read(realmId, async (repositories) => {
    requireDevelopmentAuth(await repositories.realms.get(realmId));
    if (!isHostAddress(username)) throw invalidEmail();
    return findActiveAccount(repositories, realmId, username);
  });
  if (!user) throw authenticationFailed();
  return issueKey({ uow, mint, clock }, caller, user);
}

/** Issues a key without credentials (protocol §8.2); development only. */
export class FetchDevelopmentApiKey {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'developmentMode', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly mode: DevelopmentMode,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError the codes of `issueDevelopmentKey` */
  execute(caller: AnonymousCaller, { username }: { readonly username: string }): Promise<IssuedKey> {
    const { uow, mint, mode, clock } = this;
    return issueDevelopmentKey({ uow, mint, mode, clock }, caller, username);
  }
}

/** Opens a browser session without credentials, for clients that use sessions (clients §6). */
export class LogInForDevelopment {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'developmentMode', 'sessionTokens', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly mode: DevelopmentMode,
    private readonly tokens: SessionTokens,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError the codes of `issueDevelopmentKey` */
  async execute(
    caller: AnonymousCaller,
    { username, userAgent }: { readonly username: string; readonly userAgent: string },
  ): Promise<{ readonly key: IssuedKey; readonly session: OpenedSession }> {
    const { uow, mint, mode, tokens, clock } = this;
    const key = await issueDevelopmentKey({ uow, mint, mode, clock }, caller, username);
    const from = { userAgent, ip: caller.ip, method: 'development' };
    return { key, session: await openSession({ uow, tokens, clock }, { user: key.user, ...from }) };
  }
}

export interface DevelopmentUsers {
  /** Sign-in addresses of users; bots are excluded. */
  readonly administrators: readonly string[];
  readonly others: readonly string[];
  readonly realmUrl: string;
}

/** Lists the users available for development login (protocol §8.2); development only. */
export class ListDevelopmentUsers {
  static readonly inject = ['unitOfWork', 'realmUrls', 'developmentMode'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly addresses: RealmUrls,
    private readonly mode: DevelopmentMode,
  ) {}

  /** @throws DomainError NOT_IN_PRODUCTION, UNKNOWN_REALM, DEVELOPMENT_AUTH_DISABLED */
  async execute({ realmId }: AnonymousCaller): Promise<DevelopmentUsers> {
    if (!this.mode.isOn) throw notInProduction();
    if (realmId === null) throw unknownRealm();
    return this.uow.read(realmId, async ({ realms, users }) => {
      const realm: Realm = await realms.get(realmId);
      requireDevelopmentAuth(realm);
      const heads = (await users.listEntries(realmId)).filter((head) => head.isActive);
      const ids = heads.map((head) => head.id);
      const people = (await users.list(realmId, ids)).filter((user) => !user.bot);
      const emails = (areAdministrators: boolean) =>
        people.filter((user) => isAtLeast(user.role, 'administrator') === areAdministrators).map((user) => user.email);
      return { administrators: emails(true), others: emails(false), realmUrl: this.addresses.urlOf(realm) };
    });
  }
}

export interface VerifyApiKeyInput {
  /** Null if the key alone identifies the user. */
  readonly email: string | null;
  /** 32 letters and digits, validated by the adapter. */
  readonly apiKey: string;
}

export interface VerifiedUser {
  readonly realmId: RealmId;
  readonly userId: UserId;
  /** Null for a person. */
  readonly botKind: BotKind | null;
}

/** Authenticates a caller by email and API key (protocol §7.2). Rejections follow the contract's order. */
export class VerifyApiKey implements EventListener {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'followedLog', 'clock'] as const;

  /** Keyed by email and fingerprint. */
  private readonly callers: CallerCache<VerifiedUser>;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    log: FollowedLog,
    private readonly clock: Clock,
  ) {
    this.callers = new CallerCache(log);
  }

  /** @throws DomainError UNAUTHENTICATED, REALM_DEACTIVATED, USER_DEACTIVATED */
  async execute({ realmId }: AnonymousCaller, { email, apiKey }: VerifyApiKeyInput): Promise<VerifiedUser> {
    const fingerprint = this.mint.fingerprint(apiKey);
    const claim = `${fingerprint}:${foldCase(email ?? '')}`;
    const user =
      this.callers.find(claim) ?? (await this.callers.lookUp(claim, () => this.lookUp(realmId, fingerprint, email)));
    requireMember(user, realmId);
    return user;
  }

  onEvents(events: readonly StoredEvent[]): void {
    this.callers.onEvents(events);
  }

  onUnreadable(): void {
    this.callers.onUnreadable();
  }

  onClosed(): void {
    this.callers.onClosed();
  }

  private lookUp(realmId: RealmId | null, fingerprint: string, email: string | null): Promise<VerifiedUser> {
    return this.uow.readAcross(async ({ apiKeys, users, realms, accessTokens }) => {
      const record = await apiKeys.findByFingerprint(fingerprint);
      const user = record && (await users.find(record.realmId, record.userId));
      if (!user || (email !== null && foldCase(user.email) !== foldCase(email))) {
        throw new DomainError('UNAUTHENTICATED', 'Invalid API key');
      }
      if ((await realms.get(user.realmId)).isDeactivated) throw realmDeactivated();
      if (!user.isActive) throw accountDeactivated();
      const tokens = user.bot ? await accessTokens.list(user.realmId, user.id) : [];
      // The key would read more than such a token.
      if (tokens.some(({ readers, expiresAt }) => readers === 'all' && expiresAt > this.clock.now())) {
        throw new DomainError('UNAUTHENTICATED', 'This bot uses tokens instead of its API key');
      }
      // Users may be cached only while events of their organization are followed.
      requireMember(user, realmId);
      return { realmId: user.realmId, userId: user.id, botKind: user.bot?.kind ?? null };
    });
  }
}

function requireMember(user: { readonly realmId: RealmId }, realmId: RealmId | null): void {
  if (user.realmId === realmId) return;
  throw new DomainError('UNAUTHENTICATED', 'Account is not associated with this subdomain');
}
