import { DomainError } from '../kernel/errors.js';
import type { RealmId, UnixSeconds } from '../kernel/ids.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import type { Repositories, UnitOfWork } from '../kernel/unit-of-work.js';
import { loadOpenRealm } from '../membership/sign-up.js';
import type { Realm } from '../realms/realm.js';
import { sealConnection } from './account-connections.use-cases.js';
import { completeFlow, logInExpired, openFlow, sealFlow } from './finish-log-in.js';
import type { LogInEvidence } from './log-in-evidence.js';
import {
  type ExternalIdentity,
  LOG_IN_SECONDS,
  type LogInChallenge,
  type LogInProvider,
  type LogInPurpose,
  type LogInResponse,
  type LogInTokens,
  offeredProvider,
} from './log-in-methods.js';
import { LogInServiceFailures, serviceFailed } from './log-in-service-failures.js';

/** Callback path below an organization's URL. */
export const callbackPath = (method: string): string => `/accounts/login/complete/${method}/`;

/** Log-in at a service, as stored in the browser. */
interface ServiceLogIn {
  readonly method: string;
  readonly purpose: LogInPurpose;
  readonly evidence: LogInEvidence;
  readonly expiresAt: UnixSeconds;
}

export interface BegunLogIn {
  /** URL of the service. */
  readonly address: string;
  readonly state: string;
  /** Sealed log-in for this browser only. */
  readonly flow: string;
}

/** Browser that returns from a service. */
export interface ReturnedBrowser {
  readonly method: string;
  readonly state: string;
  /** Sealed log-in sent by the browser; null if it sent none. */
  readonly flow: string | null;
}

/** Log-ins at external services: begun by a browser, and opened when it returns. */
export class ServiceFlows {
  static readonly inject = [
    'unitOfWork',
    'logInProviders',
    'logInTokens',
    'realmUrls',
    'clock',
    LogInServiceFailures,
  ] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly providers: readonly LogInProvider[],
    private readonly tokens: LogInTokens,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
    private readonly failures: LogInServiceFailures,
  ) {}

  /**
   * `evidenceOf`: reads the link that led to the log-in. @throws DomainError REALM_DEACTIVATED, UNKNOWN_LOG_IN_METHOD,
   * LOG_IN_SERVICE_FAILED
   */
  async begin(
    realmId: RealmId,
    { method, purpose }: Pick<ServiceLogIn, 'method' | 'purpose'>,
    evidenceOf: (reads: Repositories, realm: Realm) => Promise<LogInEvidence>,
  ): Promise<BegunLogIn> {
    const { tokens } = this;
    const now = this.clock.now();
    const { realm, provider, evidence } = await this.uow.read(realmId, async (reads) => {
      const open = await loadOpenRealm(reads, realmId);
      const offered = offeredProvider(this.providers, open, method);
      return { realm: open, provider: offered, evidence: await evidenceOf(reads, open) };
    });
    const state = tokens.make();
    const begun: ServiceLogIn = { method, purpose, evidence, expiresAt: now + LOG_IN_SECONDS };
    const flow = sealFlow(tokens, ['service', realmId, state], begun);
    try {
      return { address: await provider.begin(this.challengeOf(realm, state, method)), state, flow };
    } catch (err) {
      this.failures.report(err, method);
      throw serviceFailed();
    }
  }

  /** Opens the flow. `complete` prevents a second completion. */
  async open(realmId: RealmId, { method, state, flow: sealed }: ReturnedBrowser) {
    const { tokens, uow } = this;
    const { realm, provider, flow } = await uow.read(realmId, async (repositories) => {
      const open = await loadOpenRealm(repositories, realmId);
      const offered = offeredProvider(this.providers, open, method);
      if (sealed === null) throw logInExpired();
      const scope = ['service', realmId, state] as const;
      const opened = await openFlow<ServiceLogIn>(repositories, tokens, scope, { sealed, now: this.clock.now() });
      return { realm: open, provider: offered, flow: { ...opened, sealed } };
    });
    if (flow.method !== method) throw logInExpired();
    const complete = () => uow.write(realmId, (tx) => completeFlow(tx, tokens, realmId, flow));
    return { realm, provider, purpose: flow.purpose, evidence: flow.evidence, complete };
  }

  /** @throws DomainError LOG_IN_SERVICE_FAILED, LOG_IN_REFUSED */
  async identify(
    realm: Realm,
    provider: LogInProvider,
    state: string,
    response: LogInResponse,
  ): Promise<ExternalIdentity> {
    const { method } = provider;
    try {
      const identity = await provider.identify(this.challengeOf(realm, state, method.name), response);
      this.failures.onAccepted(realm.id, method);
      return identity;
    } catch (err) {
      if (err instanceof DomainError) throw err;
      await this.failures.onFailed(realm.id, method, err);
      throw serviceFailed();
    }
  }

  /** Seals an account without a proven address, which its owner may then connect. */
  sealConnection(realmId: RealmId, state: string, account: Parameters<typeof sealConnection>[2]): string {
    return sealConnection(this.tokens, { realmId, state, now: this.clock.now() }, account);
  }

  private challengeOf(realm: Realm, state: string, method: string): LogInChallenge {
    return {
      state,
      nonce: this.tokens.derive(state, 'nonce'),
      verifier: this.tokens.derive(state, 'verifier'),
      callbackUrl: this.realmUrls.urlOf(realm) + callbackPath(method),
    };
  }
}
