import {
  isKnownNetwork,
  type LoginAttempts,
  loginAttemptKey,
  type PasswordHasher,
  rememberNetwork,
  SIGNED_IN,
} from '../access/credentials.js';
import { composeEmail, EMAIL_PORTS, type Email, EmailJobs, type EmailQuota, emailJobKind } from '../access/email.js';
import { DomainError } from '../kernel/errors.js';
import type { EventListener, FollowedLog, StoredEvent } from '../kernel/event-log.js';
import { type AnonymousCaller, type Caller, isId, type RealmId, type UnixSeconds, type UserId } from '../kernel/ids.js';
import { encodeJob, type Job } from '../kernel/jobs.js';
import type { TextLanguage } from '../kernel/languages.js';
import type { Cancellation, Clock } from '../kernel/ports.js';
import { takeCodePoints } from '../kernel/text.js';
import type { Repositories, UnitOfWork } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { type SecondStep, secondStepOf } from './second-factors.js';
import { isHostAddress, type User } from './user.js';

/** Verifies identity claims signed by another service with the organization's shared secret (protocol §8.2). */
export interface JsonWebTokens {
  /** True if the operator has configured a secret for the organization. */
  isEnabledFor(realmStringId: string): boolean;
  /** Returns null if the signature is invalid or the token has expired. Runs outside transactions. */
  verify(realmStringId: string, token: string): Promise<TokenClaims | null>;
}

export interface TokenClaims {
  /** Sign-in address; null if the token contains none. */
  readonly email: string | null;
  readonly expiresAt: UnixSeconds;
}

/** Maximum number of cache entries. */
const MAX_CACHED = 10_000;

/**
 * Cache of authenticated callers by credential, evicted when their account changes. Finds no entry while the log cannot
 * be read.
 */
export class CallerCache<T extends { readonly userId: UserId }> implements EventListener {
  private readonly callers = new Map<string, T>();
  /** Number of invalidations. A look-up that overlaps an invalidation is not cached. */
  private forgotten = 0;

  constructor(private readonly log: FollowedLog) {}

  find(claim: string): T | undefined {
    return this.log.isCurrent() ? this.callers.get(claim) : undefined;
  }

  /** Calls `look` and caches its result. `look` returns null for unknown callers, which are not cached. */
  async lookUp<F extends T | null>(claim: string, look: () => Promise<F>): Promise<F> {
    const { forgotten } = this;
    const found = await look();
    if (found === null) return found;
    if (this.callers.size >= MAX_CACHED) this.callers.clear();
    if (this.forgotten === forgotten) this.callers.set(claim, found);
    return found;
  }

  /** Evicts users with account changes in these events. */
  onEvents(events: readonly StoredEvent[]): void {
    for (const { event } of events) {
      if (
        event.type === 'user.activation_changed' ||
        event.type === 'user.api_key_replaced' ||
        event.type === 'user.credentials_changed' ||
        event.type === 'user.sessions_ended'
      ) {
        this.forgotten++;
        for (const [claim, user] of this.callers) if (user.userId === event.userId) this.callers.delete(claim);
      } else if (event.type === 'realm.deactivated') {
        this.forgetAll();
      }
    }
  }

  /** The unreadable event may concern any user. */
  onUnreadable(): void {
    this.forgetAll();
  }

  onClosed(): void {
    this.forgetAll();
  }

  private forgetAll(): void {
    this.forgotten++;
    this.callers.clear();
  }
}

/** Origin of a login, as far as known. */
interface LoginSource {
  /** Self-reported client name. */
  readonly clientName?: string | undefined;
  readonly ip?: string | undefined;
}

interface LoginNotice {
  readonly userId: UserId;
  readonly at: UnixSeconds;
  readonly clientName: string | null;
  readonly ip: string | null;
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const LOGIN_EMAIL = emailJobKind<LoginNotice>({
  name: 'authentication.login_letter',
  readPayload: (stored) => {
    const { userId, at, clientName, ip } = stored as Partial<LoginNotice>;
    if (!isId(userId) || !Number.isSafeInteger(at)) throw new TypeError('Job payload has no user id or time');
    return { userId, at: at!, clientName: textOrNull(clientName), ip: textOrNull(ip) };
  },
});

/** Period after joining in which logins cause no notification. */
const NEWCOMER_SECONDS = 60;
/** Maximum length of text taken from the request, in code points. */
const MAX_SOURCE_LENGTH = 100;

/** Schedules a login email, so that users notice logins by others (protocol §8.1). */
export class LoginEmails {
  static readonly inject = ['unitOfWork', 'emailQuota', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly quota: EmailQuota,
    private readonly clock: Clock,
  ) {}

  /** Respects the user's setting and a rate limit, because a program may fetch the API key on every run. */
  async plan(user: User, { clientName, ip }: LoginSource): Promise<void> {
    const { realmId, id: userId, settings, joinedAt, bot } = user;
    const now = this.clock.now();
    if (!settings.enableLoginEmails || bot !== null || now - joinedAt <= NEWCOMER_SECONDS) return;
    try {
      this.quota.take('loginByUser', String(userId));
    } catch (error) {
      if (error instanceof DomainError && error.is('RATE_LIMITED')) return;
      throw error;
    }
    const payload = { userId, at: now, clientName: shortened(clientName), ip: shortened(ip) };
    await this.uow.write(realmId, (tx) => tx.jobs.schedule(encodeJob(LOGIN_EMAIL, { realmId, dueAt: now, payload })));
  }
}

const shortened = (text: string | undefined): string | null => takeCodePoints(text ?? '', MAX_SOURCE_LENGTH) || null;

/** Emails users about logins to their accounts, which may not be their own. */
export class SendLoginEmails extends EmailJobs<LoginNotice> {
  static readonly inject = [...EMAIL_PORTS] as const;
  readonly kind = LOGIN_EMAIL;

  protected async compose({ realmId, payload }: Job<LoginNotice>): Promise<Email | null> {
    const { realm, user } = await this.uow.read(realmId, async ({ realms, users }) => ({
      realm: await realms.get(realmId),
      user: await users.find(realmId, payload.userId),
    }));
    if (!user?.isActive || realm.isDeactivated) return null;
    const url = this.realmUrls.urlOf(realm);
    const { language, t } = this.wordsFor(user, realm);
    const { name } = realm;
    return composeEmail({
      to: user.email,
      senderName: name,
      language,
      subject: t('New log-in to {name}', { name }),
      paragraphs: [
        t('Someone logged in to your account {email} at {organization}.', {
          email: user.email,
          organization: `${name} (${url})`,
        }),
        t('Time: {time}', { time: timeFor(user, payload.at, language) }),
        t('Program: {program}', { program: payload.clientName ?? t('unknown') }),
        t('Network address: {ip}', { ip: payload.ip ?? t('unknown') }),
        t('If this was not you, set a new password immediately and get a new API key.'),
      ],
      link: { label: t('Set a new password'), url: `${url}/accounts/password/reset/` },
      footer: t('You receive this because email notifications for new log-ins are enabled in your settings.'),
    });
  }
}

/** Formats the time in the user's time zone, if set. */
function timeFor({ settings }: User, at: UnixSeconds, language: TextLanguage): string {
  const timeZone = settings.timezone === '' ? 'UTC' : settings.timezone;
  return new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'long', timeZone }).format(
    new Date(at * 1000),
  );
}

export interface PasswordLogIn {
  /** Sign-in address. */
  readonly username: string;
  readonly password: string;
  /** Aborts when the client disconnects. */
  readonly cancellation?: Cancellation | undefined;
}

/** Passwords verified by a directory of the organization. Called outside transactions. */
export interface DirectoryPasswords {
  /** True if the operator configured a directory and the organization has enabled it. */
  isUsedBy(realm: Pick<Realm, 'stringId' | 'settings'>): boolean;
  /** Returns null if no user has this address and password. @throws DomainError if the directory fails */
  verify(realm: Realm, email: string, password: string): Promise<User | null>;
}

/** Dependencies of `userOfPassword`. */
export class PasswordCheck {
  static readonly inject = ['unitOfWork', 'passwordHasher', 'loginAttempts', 'directoryPasswords', 'clock'] as const;
  constructor(
    readonly uow: UnitOfWork,
    readonly hasher: PasswordHasher,
    readonly attempts: LoginAttempts,
    readonly directories: DirectoryPasswords,
    readonly clock: Clock,
  ) {}
}

export interface PasswordHolder {
  readonly user: User;
  /** Verified hash, or the hash of the user's own password if a directory verified another one. */
  readonly hash: string | null;
  /** False if a directory verified the password. */
  readonly isOwn: boolean;
  /** Next step before login is complete. */
  readonly secondStep: SecondStep;
}

/**
 * Authenticates by email address and password, and returns the user with the verified hash (protocol §8.1).
 * @throws DomainError UNKNOWN_REALM, INVALID_EMAIL, RATE_LIMITED, USER_DEACTIVATED, REALM_DEACTIVATED,
 * PASSWORD_AUTH_DISABLED, SERVER_BUSY, AUTHENTICATION_FAILED
 */
export async function userOfPassword(
  { uow, hasher, attempts, directories, clock }: PasswordCheck,
  { realmId, ip }: AnonymousCaller,
  { username, password, cancellation }: PasswordLogIn,
): Promise<PasswordHolder> {
  if (realmId === null) throw unknownRealm();
  if (!isHostAddress(username)) throw invalidEmail();
  const key = loginAttemptKey(realmId, username);
  const source = {
    ip,
    isKnown: await uow.read(realmId, async ({ sessions, users }) =>
      isKnownNetwork({ sessions }, attempts, await users.findByEmail(realmId, username), ip),
    ),
  };
  await attempts.attempt(key, source);
  const { realm, account, hash } = await uow.read(realmId, async ({ realms, users }) => {
    const { realm: open, user: found } = await findActiveAccount({ realms, users }, realmId, username);
    const takesOwn = open.settings.emailAuthentication;
    if (!takesOwn && !directories.isUsedBy(open)) throw passwordAuthDisabled();
    // Bots cannot log in with a password, even if one is stored.
    const person = found && !found.bot ? found : null;
    const stored = person && (await users.findPasswordHash(realmId, person.id));
    return { realm: open, account: person, hash: takesOwn ? stored : null };
  });
  let isOwn: boolean;
  let user: User | null;
  const hasDirectory = directories.isUsedBy(realm);
  try {
    const request = { client: ip, isKnown: source.isKnown, isFinal: !hasDirectory, cancellation };
    isOwn = await hasher.verify(password, hash, request);
    user = isOwn ? account : null;
    if (!user && hasDirectory) user = await directories.verify(realm, username, password);
  } catch (error) {
    attempts.withdraw(key, source);
    throw error;
  }
  if (!user) throw authenticationFailed();
  attempts.succeed(key, source);
  const { id, role } = user;
  const { stored, factors } = await uow.read(realmId, async ({ users, secondFactors }) => ({
    stored: await users.findPasswordHash(realmId, id),
    factors: await secondFactors.find(realmId, id),
  }));
  const secondStep = secondStepOf(factors, realm.settings, role);
  if (secondStep === null) await rememberNetwork(uow, attempts, user, ip, clock.now());
  return { user, hash: isOwn ? hash : stored, isOwn, secondStep };
}

/** Logged-in user with a password to verify again. `hash`: null if only a directory has one. */
export interface PasswordOwner {
  readonly realm: Realm;
  readonly user: User;
  readonly hash: string | null;
}

/** Loads the caller for `verifyOwnPassword`. */
export async function loadPasswordOwner(
  { actors, realms, users }: Pick<Repositories, 'actors' | 'realms' | 'users'>,
  caller: Caller,
): Promise<PasswordOwner> {
  const { realmId, userId } = caller;
  await actors.get(caller);
  const realm = await realms.get(realmId);
  const hash = realm.settings.emailAuthentication ? await users.findPasswordHash(realmId, userId) : null;
  return { realm, user: await users.get(realmId, userId), hash };
}

/** Password of a caller who is logged in. */
export type OwnPassword = Omit<PasswordLogIn, 'username'>;

/**
 * Verifies the password of a logged-in user again. Returns false if a directory verified it.
 * @throws DomainError RATE_LIMITED, SERVER_BUSY, WRONG_PASSWORD
 */
export async function verifyOwnPassword(
  { hasher, attempts, directories }: PasswordCheck,
  { realm, user, hash }: PasswordOwner,
  { password, cancellation }: OwnPassword,
): Promise<boolean> {
  const key = loginAttemptKey(realm.id, user.email);
  await attempts.attempt(key, SIGNED_IN);
  let isOwn: boolean;
  let isRight: boolean;
  try {
    isOwn = await hasher.verify(password, hash, { client: `user ${user.id}`, cancellation });
    const isOfDirectory = !isOwn && directories.isUsedBy(realm);
    isRight = isOwn || (isOfDirectory && (await directories.verify(realm, user.email, password))?.id === user.id);
  } catch (error) {
    attempts.withdraw(key, SIGNED_IN);
    throw error;
  }
  if (!isRight) throw new DomainError('WRONG_PASSWORD', 'Password is incorrect.');
  attempts.succeed(key, SIGNED_IN);
  return isOwn;
}

/** Age up to which the log-in of a browser session proves who uses it. */
export const RECENT_LOG_IN_SECONDS = 600;

/**
 * Requires the password again or, without one, a session that began within `RECENT_LOG_IN_SECONDS`, so that an open session alone is
 * not sufficient. @throws DomainError LOG_IN_REQUIRED, RATE_LIMITED, SERVER_BUSY, WRONG_PASSWORD
 */
export async function requireRecentLogIn(check: PasswordCheck, caller: Caller, proof: OwnPassword): Promise<void> {
  const { realmId, userId, sessionId } = caller;
  const { owner, sessions } = await check.uow.read(realmId, async (reads) => ({
    owner: await loadPasswordOwner(reads, caller),
    sessions: await reads.sessions.listOf(realmId, userId),
  }));
  if (proof.password !== '') {
    await verifyOwnPassword(check, owner, proof);
    return;
  }
  const begunAt = sessions.find(({ id }) => id === sessionId)?.createdAt;
  if (begunAt === undefined || check.clock.now() - begunAt > RECENT_LOG_IN_SECONDS) {
    throw new DomainError('LOG_IN_REQUIRED', 'Enter your password, or log in again.');
  }
}

/**
 * Authenticates programs, which cannot prompt for a second factor; users with one log in with a browser instead.
 * @throws DomainError as `userOfPassword`
 */
export async function userOfPasswordAlone(
  check: PasswordCheck,
  caller: AnonymousCaller,
  logIn: PasswordLogIn,
): Promise<PasswordHolder> {
  const holder = await userOfPassword(check, caller, logIn);
  // Checked after the password, so that strangers cannot find out who has a second factor.
  if (holder.secondStep !== null) throw passwordAuthDisabled();
  return holder;
}

/**
 * Finds the account for a sign-in address; `user` is null if the address is unknown.
 * @throws DomainError USER_DEACTIVATED, REALM_DEACTIVATED
 */
export async function findActiveAccount(
  { realms, users }: Pick<Repositories, 'realms' | 'users'>,
  realmId: RealmId,
  email: string,
): Promise<{ readonly realm: Realm; readonly user: User | null }> {
  const user = await users.findByEmail(realmId, email);
  if (user && !user.isActive) throw accountDeactivated();
  const realm = await realms.get(realmId);
  if (realm.isDeactivated) throw realmDeactivated();
  return { realm, user };
}

export const unknownRealm = () => new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
export const invalidEmail = () => new DomainError('INVALID_EMAIL', 'Enter a valid email address.');
export const authenticationFailed = () =>
  new DomainError('AUTHENTICATION_FAILED', 'Your username or password is incorrect');
export const accountDeactivated = () => new DomainError('USER_DEACTIVATED', 'Account is deactivated');
export const realmDeactivated = () => new DomainError('REALM_DEACTIVATED', 'This organization has been deactivated');
export const passwordAuthDisabled = () =>
  new DomainError('PASSWORD_AUTH_DISABLED', 'Password authentication is disabled in this organization');
