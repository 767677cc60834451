import type { Caller } from '@parley/domain/kernel';
import type { Identity } from './authenticate.js';
import type { LimitState } from './call-history.js';
import { ipGroup, networkOf } from './ip-groups.js';
import { type LimitRule, parseQuotas } from './limit-rules.js';
import { isLoopbackName } from './local-access.js';
import { type Logger, warn } from './logger.js';
import { type RateLimiter, rateLimited } from './rate-limit.js';
import type { ReceivedRequest } from './received-request.js';
import type { AnonymousClient, Auth, CallerOf, Route, ShownLimit } from './route.js';

/** What is known of a request that counts, and the limit that its answer shows. */
export interface CountedRequest {
  readonly identity: Identity | undefined;
  limit: LimitState | undefined;
}

/** Counts calls, by user or by address. */
export class CallLimits {
  private isProxySuspected = false;

  constructor(
    private readonly limiter: RateLimiter,
    private readonly hasProxies: boolean,
    private readonly logger: Logger,
  ) {}

  /** @throws DomainError RATE_LIMITED */
  countCall(request: ReceivedRequest, counted: CountedRequest, { limit, auth }: Route): void {
    const { limiter } = this;
    if (!limiter.isOn || limit === 'none') return;
    const rule = typeof limit === 'string' ? limit : auth === 'user' ? 'api_by_user' : 'api_by_ip';
    const { identity } = counted;
    const state = identity
      ? limiter.hit(rule, identity.userId, { quotas: parseQuotas(identity.rateLimits) })
      : this.countAddress(rule, request, counted);
    if (typeof limit === 'string' || !state?.isAllowed) counted.limit = state;
    if (state && !state.isAllowed) throw rateLimited(state);
  }

  /** @throws DomainError RATE_LIMITED */
  countAddress(rule: LimitRule, request: ReceivedRequest, counted: CountedRequest): LimitState | undefined {
    const { limiter } = this;
    if (!limiter.isOn) return undefined;
    this.warnOfProxy(request);
    const { ip } = request;
    const state = limiter.hit(rule, ipGroup(ip), { source: networkOf(ip) });
    if (state.isAllowed) return state;
    counted.limit = state;
    throw rateLimited(state);
  }

  /** Behind a proxy that nobody named, all clients have one address, and use up its quota together. */
  private warnOfProxy(request: ReceivedRequest): void {
    if (this.isProxySuspected || this.hasProxies || request.header('x-forwarded-for') === undefined) return;
    if (!isLoopbackName(request.ip.replace(/^::ffff:/i, ''))) return;
    this.isProxySuspected = true;
    warn(this.logger, {}, 'requests come through a proxy that is not trusted: all its clients count as one address');
  }

  /** Counts nothing. */
  show(
    { rule, keyOf }: ShownLimit<unknown>,
    dto: unknown,
    caller: Caller | AnonymousClient,
    counted: CountedRequest,
  ): void {
    const { limiter } = this;
    if (limiter.isOn) counted.limit = limiter.peek(rule, keyOf(dto, caller as CallerOf<Auth>));
  }
}
