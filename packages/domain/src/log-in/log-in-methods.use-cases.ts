import type { SessionTokens } from '../access/credentials.js';
import { DomainError } from '../kernel/errors.js';
import type { AnonymousCaller, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Clock, RealmUrls, ReportProblem } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { Removal } from '../kernel/work.js';
import type { SignUpKeys } from '../membership/sign-up.js';
import type { Realm } from '../realms/realm.js';
import { unknownRealm } from '../users/authentication.js';
import { type OpenedSession, openSession } from '../users/sessions.use-cases.js';
import type { UnprovenLogIn } from './account-connections.use-cases.js';
import {
  completeFlow,
  type DesktopLogIn,
  LogInCompletion,
  type LogInResult,
  logInExpired,
  openFlow,
  passwordMark,
} from './finish-log-in.js';
import { AddressProofs, type LogInEvidence, readEvidence } from './log-in-evidence.js';
import {
  isMeantFor,
  type LogInMethod,
  type LogInProvider,
  type LogInPurpose,
  type LogInResponse,
  type LogInTokens,
  offeredMethods,
} from './log-in-methods.js';
import { type RecognizedUser, ServiceAccounts, type ServicePerson } from './service-accounts.js';
import { type BegunLogIn, callbackPath, ServiceFlows } from './service-flows.js';

/** Log-in options of an organization other than passwords. */
export interface LogInOffer {
  readonly methods: readonly LogInMethod[];
  /** True if anyone in the organization can log in by passkey. */
  readonly hasPasskeys: boolean;
}

/** Returns the log-in options of an organization other than passwords. */
export class ListLogInMethods {
  static readonly inject = ['unitOfWork', 'logInProviders'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly providers: readonly LogInProvider[],
  ) {}

  async execute({ realmId }: AnonymousCaller): Promise<LogInOffer> {
    if (realmId === null) return { methods: [], hasPasskeys: false };
    return this.uow.read(realmId, async ({ realms, secondFactors }) => {
      const realm = await realms.get(realmId);
      const hasPasskeys = realm.settings.emailAuthentication && (await secondFactors.hasPasskeys(realmId));
      return { methods: offeredMethods(this.providers, realm), hasPasskeys };
    });
  }
}

export interface BeginLogInInput {
  readonly method: string;
  readonly purpose: LogInPurpose;
  /** Key of an invitation or address confirmation; null without one. */
  readonly key: string | null;
}

const NO_EVIDENCE: LogInEvidence = { invitationId: null, confirmationId: null };

/** Redirects a browser to an external service for log-in. */
export class BeginLogIn {
  static readonly inject = [ServiceFlows, 'signUpKeys', 'clock'] as const;
  constructor(
    private readonly flows: ServiceFlows,
    private readonly keys: SignUpKeys,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, UNKNOWN_LOG_IN_METHOD, LOG_IN_SERVICE_FAILED,
   * INVALID_INVITATION_KEY, UNKNOWN_INVITATION, INVITATION_EXPIRED, UNKNOWN_CONFIRMATION, CONFIRMATION_EXPIRED
   */
  async execute({ realmId }: AnonymousCaller, { method, purpose, key }: BeginLogInInput): Promise<BegunLogIn> {
    if (realmId === null) throw unknownRealm();
    return this.flows.begin(realmId, { method, purpose }, async (reads, realm) =>
      key === null ? NO_EVIDENCE : readEvidence(reads, this.keys, realm, key, this.clock.now()),
    );
  }
}

/** Describes this server to a service, even before the organization enables it. */
export class DescribeToService {
  static readonly inject = ['unitOfWork', 'logInProviders', 'realmUrls'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly providers: readonly LogInProvider[],
    private readonly realmUrls: RealmUrls,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, UNKNOWN_LOG_IN_METHOD */
  async execute({ realmId }: AnonymousCaller, name: string): Promise<string> {
    if (realmId === null) throw unknownRealm();
    const realm = await this.uow.read(realmId, ({ realms }) => realms.get(realmId));
    const provider = this.providers.find(({ method }) => method.name === name && isMeantFor(method, realm));
    if (!provider?.metadata) throw new DomainError('UNKNOWN_LOG_IN_METHOD', 'There is no such way to log in.');
    return provider.metadata(this.realmUrls.urlOf(realm) + callbackPath(name));
  }
}

/** Opens a session for a token decrypted by the desktop app. */
export class LogInByDesktopToken {
  static readonly inject = ['unitOfWork', 'logInTokens', 'clock', 'sessionTokens'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly tokens: LogInTokens,
    private readonly clock: Clock,
    private readonly sessionTokens: SessionTokens,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, LOG_IN_EXPIRED, USER_DEACTIVATED, REALM_DEACTIVATED, AUTHENTICATION_FAILED */
  async execute(
    { realmId, ip }: AnonymousCaller,
    { token, userAgent }: { readonly token: string; readonly userAgent: string },
  ): Promise<OpenedSession> {
    if (realmId === null) throw unknownRealm();
    const { uow, tokens, clock } = this;
    const { user, flow, passwordHash } = await this.uow.write(realmId, async (tx) => {
      const opened = { sealed: token, now: this.clock.now() };
      const flow = await openFlow<DesktopLogIn>(tx, tokens, ['desktop', realmId], opened);
      await completeFlow(tx, tokens, realmId, { ...flow, sealed: token });
      const found = await tx.users.find(realmId, flow.userId);
      if (!found) throw logInExpired();
      return { user: found, flow, passwordHash: await tx.users.findPasswordHash(realmId, found.id) };
    });
    const { method, serviceSession, password } = flow;
    const isByPassword = password !== undefined;
    if (isByPassword && password !== passwordMark(tokens, passwordHash)) throw logInExpired();
    const from = { userAgent, ip, method, serviceSession, ...(isByPassword && { passwordHash }) };
    return openSession({ uow, tokens: this.sessionTokens, clock }, { user, ...from });
  }
}

export interface CompleteLogInInput {
  readonly method: string;
  readonly state: string;
  /** Sealed log-in sent by the browser; null if it sent none. */
  readonly flow: string | null;
  readonly response: LogInResponse;
  /** User authenticated by the host application; null if none. */
  readonly hostUserId: UserId | null;
  readonly userAgent: string;
  /** Called with the email address once it is known, even if the log-in then fails. */
  readonly identified?: (account: string) => void;
}

export interface CompletedLogIn extends RecognizedUser {
  readonly result: LogInResult;
}

/** Completes a log-in when the browser returns from an external service. */
export class CompleteLogIn {
  static readonly inject = [ServiceFlows, ServiceAccounts, AddressProofs, LogInCompletion, 'report'] as const;
  constructor(
    private readonly flows: ServiceFlows,
    private readonly accounts: ServiceAccounts,
    private readonly proofs: AddressProofs,
    private readonly completion: LogInCompletion,
    private readonly report: ReportProblem,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, UNKNOWN_LOG_IN_METHOD, LOG_IN_EXPIRED, LOG_IN_REFUSED,
   * LOG_IN_SERVICE_FAILED, UNVERIFIED_EMAIL, LINKED_TO_ANOTHER_ACCOUNT, USER_DEACTIVATED, INVITATION_REQUIRED,
   * EMAIL_NOT_ALLOWED, RATE_LIMITED, TOO_MANY_SIGN_UPS
   */
  async execute(caller: AnonymousCaller, input: CompleteLogInInput): Promise<CompletedLogIn | UnprovenLogIn> {
    const { realmId } = caller;
    if (realmId === null) throw unknownRealm();
    const { method, state, userAgent } = input;
    const { provider, purpose, evidence, realm, complete } = await this.flows.open(realmId, input);
    let recognized: RecognizedUser;
    let serviceSession: string | null = null;
    if (provider.method.kind === 'host') {
      const user = await this.accounts.ofHost(realmId, input.hostUserId);
      await complete();
      recognized = { user, change: null };
    } else {
      const identity = await this.flows.identify(realm, provider, state, input.response);
      if (identity.email !== null) input.identified?.(identity.email);
      await complete();
      for (const problem of identity.problems ?? []) {
        this.report('a log-in service left something out', { problem, method, realmId, subject: identity.subject });
      }
      const person = { method: provider.method, identity, evidence };
      const found = await this.accounts.recognize(realm, person);
      if (!found) return this.requestProof(caller, realm, person, state);
      recognized = found;
      serviceSession = identity.serviceSession ?? null;
    }
    const { user } = recognized;
    const finished = { user, method, purpose, userAgent, serviceSession };
    return { ...recognized, result: await this.completion.complete(caller, finished) };
  }

  private async requestProof(
    { ip }: AnonymousCaller,
    { id: realmId }: Realm,
    { method, identity: { subject, email: unproven }, evidence }: ServicePerson,
    state: string,
  ): Promise<UnprovenLogIn> {
    const email = unproven!;
    const refusedEmail = await this.proofs.request(realmId, { email, subject, method, evidence }, ip);
    const flow = this.flows.sealConnection(realmId, state, { method: method.name, subject, email });
    return { method, unproven: email, refusedEmail, state, flow };
  }
}

/** Removes expired records of completed log-ins. */
export class RemoveExpiredLogIns extends Removal {
  protected remove(tx: Transaction, now: UnixSeconds, limit: number): Promise<number> {
    return tx.logIns.removeExpiredUses(now, limit);
  }
}
