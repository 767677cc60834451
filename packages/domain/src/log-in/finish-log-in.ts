import type { ApiKeyMint, SessionTokens } from '../access/credentials.js';
import { DomainError } from '../kernel/errors.js';
import type { AnonymousCaller, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { issueKey } from '../users/api-keys.use-cases.js';
import { LoginEmails } from '../users/authentication.js';
import { type OpenedSession, openSession } from '../users/sessions.use-cases.js';
import type { User } from '../users/user.js';
import { encryptKey, LOG_IN_SECONDS, type LogInPurpose, type LogInTokens } from './log-in-methods.js';

/** Log-in in progress. It is sealed and kept by the browser or app, so that log-ins cannot fill the storage. */
interface LogInFlow {
  readonly expiresAt: UnixSeconds;
}

/** Scope of a seal: kind of log-in, organization, and the browser's secret if bound to a browser. */
export type FlowScope = readonly [
  kind: 'service' | 'connection' | 'password' | 'passkey' | 'desktop',
  RealmId,
  ...secrets: string[],
];

const contextOf = (scope: FlowScope): string => JSON.stringify(scope);

export const sealFlow = <F extends LogInFlow>(tokens: LogInTokens, scope: FlowScope, flow: F): string =>
  tokens.seal(JSON.stringify(flow), contextOf(scope));

/** @throws DomainError LOG_IN_EXPIRED, also for flows with another scope and completed ones */
export async function openFlow<F extends LogInFlow>(
  { logIns }: Pick<Repositories, 'logIns'>,
  tokens: LogInTokens,
  scope: FlowScope,
  { sealed, now }: { readonly sealed: string; readonly now: UnixSeconds },
): Promise<F> {
  const text = tokens.open(sealed, contextOf(scope));
  const flow = text === null ? null : (JSON.parse(text) as F);
  if (!flow || flow.expiresAt <= now || (await logIns.isUsed(scope[1], tokens.fingerprint(sealed)))) {
    throw logInExpired();
  }
  return flow;
}

/** Completes a flow. @throws DomainError LOG_IN_EXPIRED if it was completed before */
export async function completeFlow(
  tx: Transaction,
  tokens: LogInTokens,
  realmId: RealmId,
  { sealed, expiresAt }: LogInFlow & { readonly sealed: string },
): Promise<void> {
  if (!(await tx.logIns.use(realmId, tokens.fingerprint(sealed), expiresAt))) throw logInExpired();
}

export const logInExpired = () =>
  new DomainError('LOG_IN_EXPIRED', 'The log-in took too long or was interrupted. Try again.');

/** Log-in that the desktop app completes with its token. */
export interface DesktopLogIn extends LogInFlow {
  readonly userId: UserId;
  readonly method: string;
  readonly serviceSession: string | null;
  /** Fingerprint of the verified password hash; see `OpenSessionInput`. */
  readonly password?: string | null;
}

export const passwordMark = (tokens: LogInTokens, passwordHash: string | null): string | null =>
  passwordHash && tokens.fingerprint(passwordHash);

/** Result of a log-in by purpose. */
export type LogInResult =
  | { readonly kind: 'session'; readonly session: OpenedSession; readonly next: string }
  | { readonly kind: 'phone'; readonly encryptedKey: string; readonly realmUrl: string }
  | { readonly kind: 'desktop'; readonly encryptedToken: string };

export interface FinishLogInInput {
  readonly user: User;
  readonly method: string;
  readonly purpose: LogInPurpose;
  readonly userAgent: string;
  /** Id of the session at the service; see `Session`. */
  readonly serviceSession?: string | null;
  /** Password hash that was verified; see `OpenSessionInput`. */
  readonly passwordHash?: string | null;
}

/** Hands API keys to mobile apps at the end of a log-in. */
export class PhoneLogIns {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'realmUrls', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError AUTHENTICATION_FAILED */
  async complete(caller: AnonymousCaller, user: User, otp: string): Promise<LogInResult> {
    const { uow, mint, clock } = this;
    const { apiKey } = await issueKey({ uow, mint, clock }, caller, user);
    const realm = await uow.read(user.realmId, ({ realms }) => realms.get(user.realmId));
    return { kind: 'phone', encryptedKey: encryptKey(apiKey, otp), realmUrl: this.realmUrls.urlOf(realm) };
  }
}

/** Completes the log-in of authenticated users and notifies them by email. */
export class LogInCompletion {
  static readonly inject = ['unitOfWork', 'logInTokens', 'sessionTokens', 'clock', PhoneLogIns, LoginEmails] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly tokens: LogInTokens,
    private readonly sessionTokens: SessionTokens,
    private readonly clock: Clock,
    private readonly phones: PhoneLogIns,
    private readonly loginEmails: LoginEmails,
  ) {}

  /** @throws DomainError USER_DEACTIVATED, REALM_DEACTIVATED, AUTHENTICATION_FAILED */
  async complete(caller: AnonymousCaller, input: FinishLogInInput): Promise<LogInResult> {
    const { user, method, purpose, userAgent, serviceSession = null, passwordHash } = input;
    const { realmId, id: userId } = user;
    await this.loginEmails.plan(user, caller);
    if (purpose.kind === 'session') {
      const from = { userAgent, ip: caller.ip, method, serviceSession };
      const opened = { user, ...from, ...(passwordHash !== undefined && { passwordHash }) };
      const { uow, sessionTokens: tokens, clock } = this;
      return { kind: 'session', session: await openSession({ uow, tokens, clock }, opened), next: purpose.next };
    }
    if (purpose.kind === 'phone') return this.phones.complete(caller, user, purpose.otp);
    const flow: DesktopLogIn = {
      userId,
      method,
      serviceSession,
      ...(passwordHash !== undefined && { password: passwordMark(this.tokens, passwordHash) }),
      expiresAt: this.clock.now() + LOG_IN_SECONDS,
    };
    const token = sealFlow(this.tokens, ['desktop', realmId], flow);
    return { kind: 'desktop', encryptedToken: this.tokens.encryptFor(purpose.otp, token) };
  }
}
