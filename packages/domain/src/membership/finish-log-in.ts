import type { ApiKeyMint } from '../access/credentials.js';
import { DomainError } from '../kernel/errors.js';
import type { AnonymousCaller } from '../kernel/ids.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { issueKey } from '../users/api-keys.use-cases.js';
import { LoginEmails } from '../users/authentication.js';
import { type OpenedSession, OpenSession } from '../users/sessions.use-cases.js';
import type { User } from '../users/user.js';
import {
  encryptKey,
  LOG_IN_SECONDS,
  type LogInFlow,
  type LogInPurpose,
  type LogInTokens,
  MAX_LOG_INS,
  xorHex,
} from './log-in-methods.js';

/** Hides or restores the pad of a purpose, which would decrypt a key that somebody else has seen. */
export function sealed(purpose: LogInPurpose, tokens: LogInTokens, state: string): LogInPurpose {
  if (purpose.kind === 'session') return purpose;
  return { ...purpose, otp: xorHex(purpose.otp.toLowerCase(), tokens.derive(state, 'pad')) };
}

/** @throws DomainError SERVER_BUSY */
export async function addFlow(tx: Transaction, flow: LogInFlow, fingerprint: string): Promise<void> {
  if ((await tx.logIns.countFlows(flow.realmId)) >= MAX_LOG_INS) {
    throw new DomainError('SERVER_BUSY', 'Too many people are logging in.', { retryAfter: LOG_IN_SECONDS });
  }
  await tx.logIns.addFlow(flow, fingerprint);
}

export const logInExpired = () =>
  new DomainError('LOG_IN_EXPIRED', 'The log-in took too long or was interrupted. Try again.');

/** Result of a log-in, by its purpose. */
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

/** Gives users whom the calling code has authenticated what they logged in for, and notifies them by email. */
export class FinishLogIn {
  static readonly inject = [
    'unitOfWork',
    'apiKeyMint',
    'logInTokens',
    'realmUrls',
    'clock',
    OpenSession,
    LoginEmails,
  ] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly tokens: LogInTokens,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
    private readonly openSession: OpenSession,
    private readonly loginEmails: LoginEmails,
  ) {}

  /** @throws DomainError USER_DEACTIVATED, REALM_DEACTIVATED, AUTHENTICATION_FAILED */
  async execute(caller: AnonymousCaller, input: FinishLogInInput): Promise<LogInResult> {
    const { user, method, purpose, userAgent, serviceSession = null, passwordHash } = input;
    const { realmId, id: userId } = user;
    await this.loginEmails.plan(user, caller);
    if (purpose.kind === 'session') {
      const from = { userAgent, ip: caller.ip, method, serviceSession };
      const opened = { user, ...from, ...(passwordHash !== undefined && { passwordHash }) };
      return { kind: 'session', session: await this.openSession.execute(opened), next: purpose.next };
    }
    if (purpose.kind === 'phone') {
      const { uow, mint, clock } = this;
      const { apiKey } = await issueKey({ uow, mint, clock }, caller, user);
      const realm = await this.uow.read(realmId, ({ realms }) => realms.get(realmId));
      return { kind: 'phone', encryptedKey: encryptKey(apiKey, purpose.otp), realmUrl: this.realmUrls.urlOf(realm) };
    }
    const token = this.tokens.make();
    const expiresAt = this.clock.now() + LOG_IN_SECONDS;
    const flow = { realmId, method, browser: null, purpose: JSON.stringify({ kind: 'session', next: '' }), userId };
    await this.uow.write(realmId, (tx) => addFlow(tx, { ...flow, expiresAt }, this.tokens.fingerprint(token)));
    return { kind: 'desktop', encryptedToken: this.tokens.encryptFor(purpose.otp, token) };
  }
}
