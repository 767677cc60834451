import { type Caller, DomainError } from '@parley/domain/kernel';
import type { AnonymousClient, Auth, CallerOf, OrganizationClient, Route, ShownLimit } from '../declarations/route.js';
import { isInScope, outOfScope } from '../declarations/scope.js';
import { type LimitState, type RateLimiter, rateLimited } from '../limits/counters.js';
import { ipGroup, type LimitRule, networkOf, parseQuotas } from '../limits/rules.js';
import {
  type Authenticator,
  type Identity,
  isLoopbackName,
  isProven,
  notForWebhookBots,
  notLoggedIn,
  type Proof,
} from '../security/authenticate.js';
import { appTrustsProxies } from '../security/proxies.js';
import { HttpRefusal } from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import type { Style } from './paths.js';
import { type Logger, type TriedLogIn, warn } from './request-log.js';

/** Request to count, and the limit shown in its response. */
export interface CountedRequest {
  readonly identity: Identity | undefined;
  readonly client: OrganizationClient | undefined;
  limit: LimitState | undefined;
}

/** Counts calls by user or address. */
export class CallLimits {
  private isProxySuspected = false;

  constructor(
    private readonly limiter: RateLimiter,
    private readonly hasProxies: boolean,
    private readonly logger: Logger,
  ) {}

  /** @throws DomainError RATE_LIMITED */
  countCall(request: Request, counted: CountedRequest, { limit, auth }: Route): void {
    const { limiter } = this;
    if (!limiter.isOn || limit === 'none') return;
    const rule = typeof limit === 'string' ? limit : auth === 'user' ? 'api_by_user' : 'api_by_ip';
    const { identity, client } = counted;
    const state = identity
      ? limiter.hit(rule, keyOf(identity), { quotas: parseQuotas(identity.rateLimits) })
      : client
        ? limiter.hit(rule, client.realmId)
        : this.countAddress(rule, request, counted);
    if (typeof limit === 'string' || !state?.isAllowed) counted.limit = state;
    if (state && !state.isAllowed) throw rateLimited(state);
  }

  /** @throws DomainError RATE_LIMITED */
  countAddress(rule: LimitRule, request: Request, counted: CountedRequest): LimitState | undefined {
    const { limiter } = this;
    if (!limiter.isOn) return undefined;
    this.warnOfProxy(request);
    const { ip } = request;
    const state = limiter.hit(rule, ipGroup(ip), { source: networkOf(ip) });
    if (state.isAllowed) return state;
    counted.limit = state;
    throw rateLimited(state);
  }

  /** Warns if a proxy is not configured: all clients behind it would share one address and its quota. */
  private warnOfProxy(request: Request): void {
    if (this.isProxySuspected || this.hasProxies) return;
    const isLocal = isLoopbackName(request.ip);
    if (appTrustsProxies(request.raw)) {
      warn(
        this.logger,
        {},
        "the application's proxies are not in trustedProxies: all their clients count as one address",
      );
    } else if (isLocal && request.header('x-forwarded-for') !== undefined) {
      warn(this.logger, {}, 'requests come through an untrusted proxy: all its clients count as one address');
    } else return;
    this.isProxySuspected = true;
  }

  /** Shows a limit without counting a call. */
  show(
    { rule, otherRule, keyOf }: ShownLimit<unknown>,
    dto: unknown,
    caller: Caller | AnonymousClient,
    counted: CountedRequest,
  ): void {
    const { limiter } = this;
    if (!limiter.isOn) return;
    const key = keyOf(dto, caller as CallerOf<Auth>);
    const [state, other] = [limiter.peek(rule, key), otherRule && limiter.peek(otherRule, key)];
    counted.limit = other && other.remaining < state.remaining ? other : state;
  }
}

/** Returns how the caller of a refused request tried to log in. */
export const triedLogInOf = (refusal: unknown, request: Request, proof: Proof | undefined): TriedLogIn => ({
  authorization: isProven(proof) ? undefined : request.header('authorization'),
  isByHost: proof !== undefined && 'refusal' in proof && !proof.isNobody && proof.refusal === refusal,
  isOfUser: proof !== undefined,
});

export interface CallerProofOptions {
  /** Authenticators of programs, tried in order. */
  readonly authenticators: readonly Authenticator[];
  /** Authenticators of browser sessions; by default no browser is logged in. */
  readonly browserAuthenticators?: readonly Authenticator[];
  /** Verifies an API key parameter; by default such keys are not accepted. */
  readonly keyParameter?: Authenticator;
}

/** Authenticates the caller of a request. */
export class CallerProof {
  private readonly authenticators: Readonly<Record<Style, readonly Authenticator[]>>;
  private readonly keyParameter: Authenticator | undefined;

  constructor(
    { authenticators, browserAuthenticators = [], keyParameter }: CallerProofOptions,
    private readonly callLimits: CallLimits,
  ) {
    this.keyParameter = keyParameter;
    this.authenticators = {
      api: authenticators,
      browser: browserAuthenticators,
      root: [...new Set([...authenticators, ...browserAuthenticators])],
    };
  }

  /** Verifies credentials. Rejected credentials matter only to operations that require a user. */
  async prove(request: Request, style: Style, route?: Route): Promise<Proof> {
    const { keyParameter } = this;
    const authenticators = this.authenticators[style];
    try {
      for (const authenticator of route?.takesKeyParameter && keyParameter
        ? [keyParameter, ...authenticators]
        : authenticators) {
        const identity = await authenticator.authenticate(request);
        if (!identity) continue;
        if (isExpected(request, identity)) return { identity };
        break;
      }
      return { refusal: notLoggedIn(), isNobody: true };
    } catch (refusal) {
      return { refusal };
    }
  }

  /**
   * Returns the user of a browser for operations that do not need one. @throws Error unless credentials were rejected
   */
  async proveIfAny(request: Request): Promise<Proof> {
    const proof = await this.prove(request, 'browser');
    if (isProven(proof) || proof.refusal instanceof HttpRefusal || proof.refusal instanceof DomainError) return proof;
    throw proof.refusal;
  }

  /** @throws HttpRefusal 401, 403 if a token does not include the operation, or the error of the rejected credentials */
  identify(proof: Proof, request: Request, counted: CountedRequest, route: Route): Identity {
    if ('refusal' in proof) {
      if (isRefusedCredentials(proof.refusal)) this.callLimits.countAddress('api_by_ip', request, counted);
      throw proof.refusal;
    }
    if (proof.identity.botKind === 'incomingWebhook' && !route.allowsWebhookBots) throw notForWebhookBots();
    const { scope } = proof.identity;
    if (scope && !isInScope(route.scope, scope)) throw outOfScope();
    return proof.identity;
  }
}

/** Calls with one agent's token must not tell how often another is used. */
const keyOf = ({ userId, scope }: Identity) => (scope?.readers === 'all' ? `token ${scope.tokenId}` : userId);

/** False if another user has logged in since the page was opened (protocol §7.6). */
function isExpected(request: Request, { userId }: Identity): boolean {
  const expected = request.header('x-parley-user');
  return expected === undefined || expected === String(userId);
}

/** True for an error of the caller, as opposed to a storage failure. */
const isRefusedCredentials = (error: unknown): boolean =>
  error instanceof HttpRefusal || (error instanceof DomainError && error.code === 'UNAUTHENTICATED');
