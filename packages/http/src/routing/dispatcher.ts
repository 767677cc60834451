import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller, Clock, RealmId } from '@parley/domain';
import { contractPathOf } from '../contract-operations.js';
import {
  type Authenticator,
  type Identity,
  notForWebhookBots,
  notLoggedIn,
  type RealmDirectory,
} from './authenticate.js';
import { type Body, type BodyLimits, ClientGone, DEFAULT_BODY_LIMITS, parseForm, readBody } from './body.js';
import { clientNameOf } from './client-identity.js';
import { methodNotAllowed, replyToError, unknownPath } from './errors.js';
import { type Gatekeeper, pass } from './gates.js';
import { type Logger, silentLogger } from './logger.js';
import { type Endpoint, isMethod, type Match, Matcher, pathParameters } from './matcher.js';
import { parse } from './params.js';
import {
  ipGroup,
  type LimitState,
  parseQuotas,
  type RateLimiter,
  rateLimited,
  rateLimitHeaders,
} from './rate-limit.js';
import { ReceivedRequest } from './received-request.js';
import { type Reply, success, withIgnoredParameters } from './reply.js';
import { Parameters } from './request.js';
import type { Auth, CallerOf, Context, Route, ShownLimit, UseCaseKey, Visitor } from './route.js';
import { writeReply } from './write-reply.js';

export interface DispatcherOptions {
  readonly routes: readonly Route[];
  /** Answers the instance of a use case; asked once for each, when it is first needed. */
  readonly resolve: <U>(useCase: UseCaseKey<U>) => U;
  /** Tried in order. */
  readonly authenticators: readonly Authenticator[];
  readonly realms: RealmDirectory;
  readonly gatekeeper: Gatekeeper;
  readonly limiter: RateLimiter;
  readonly clock: Clock;
  readonly logger?: Logger;
  /** Proxies in front of us whose `X-Forwarded-*` headers are true; 0, the default: none. */
  readonly trustedProxies?: number;
  readonly bodyLimits?: BodyLimits;
}

export interface Dispatcher {
  /** Answers the request, if it is one of ours; false leaves it untouched. Never rejects. Its URL begins where we are mounted. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  /** Whether the request is for a path that is dispatched ahead of everything else. */
  isHot(request: IncomingMessage): boolean;
  /** Requests that are not answered yet, long polls among them. */
  readonly inFlight: number;
  /**
   * From now on answers close their connections. Resolves when none is in flight; ending long polls is up to them. What is
   * not answered after so long, such as a request that never arrives as a whole, loses its connection.
   */
  drain(patienceMs: number): Promise<void>;
}

/** An entry of the table with what was looked up for it. */
interface CompiledRoute extends Endpoint {
  useCase: unknown;
}

type ExecutesInput = { execute(caller: Caller | Visitor, input: unknown): Promise<unknown> };

/** What is known of a request so far, for its answer and its line in the log. */
interface Exchange {
  readonly match: Match<CompiledRoute>;
  endpoint: CompiledRoute | undefined;
  identity: Identity | undefined;
  limit: LimitState | undefined;
}

/** Of all routes but those at the root. */
const PREFIX = '/api/v1';
/** What anybody may make us keep. Larger bodies, and those of unknown size, cannot change the method. */
const SMALL_BODY_BYTES = 256 * 1024;
const NO_BODY: Body = { fields: new Map(), files: [] };
const OPTIONS_REPLY = { status: 204, body: '' } as const;

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new TableDispatcher(options);
}

class TableDispatcher implements Dispatcher {
  private readonly pending = new Set<IncomingMessage>();
  private readonly matcher = new Matcher<CompiledRoute>();
  private readonly bodyLimits: BodyLimits;
  private readonly logger: Logger;
  private readonly trustedProxies: number;
  private isDraining = false;
  private onIdle: (() => void)[] = [];

  constructor(private readonly options: DispatcherOptions) {
    this.bodyLimits = options.bodyLimits ?? DEFAULT_BODY_LIMITS;
    this.logger = options.logger ?? silentLogger;
    this.trustedProxies = options.trustedProxies ?? 0;
    for (const route of options.routes) {
      const path = route.atRoot ? route.path : PREFIX + route.path;
      this.matcher.add(path, (names) => ({ route, names, useCase: undefined }));
    }
  }

  get inFlight(): number {
    return this.pending.size;
  }

  async handle(raw: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const url = raw.url ?? '/';
    const queryAt = url.indexOf('?');
    const path = queryAt === -1 ? url : url.slice(0, queryAt);
    const match = this.matcher.match(path);
    if (!match && !this.isOurs(path)) return false;

    const startedAt = performance.now();
    const request = new ReceivedRequest(raw, response, path, this.trustedProxies);
    const exchange: Exchange | null = match && { match, endpoint: undefined, identity: undefined, limit: undefined };
    let reply: Reply | null;
    this.pending.add(raw);
    try {
      if (!exchange) throw unknownPath();
      reply = await this.answer(request, exchange, queryAt === -1 ? '' : url.slice(queryAt + 1));
    } catch (error) {
      reply = this.replyTo(error, request, exchange);
    }
    if (reply) this.write(response, reply, request, exchange);
    this.leave(raw);
    this.log(request, exchange, reply, startedAt);
    return true;
  }

  isHot(raw: IncomingMessage): boolean {
    const url = raw.url ?? '/';
    const queryAt = url.indexOf('?');
    const endpoints = this.matcher.match(queryAt === -1 ? url : url.slice(0, queryAt))?.entry.endpoints;
    return endpoints?.get(raw.method ?? '')?.route.hot ?? false;
  }

  async drain(patienceMs: number): Promise<void> {
    this.isDraining = true;
    if (this.inFlight === 0) return;
    const impatience = setInterval(() => {
      for (const raw of this.pending) raw.socket.destroy();
    }, patienceMs);
    await new Promise<void>((resolve) => this.onIdle.push(resolve));
    clearInterval(impatience);
  }

  /** The checks of every operation, in the contract's order. */
  private async answer(request: ReceivedRequest, exchange: Exchange, query: string): Promise<Reply> {
    const { entry, values } = exchange.match;
    if (request.method === 'OPTIONS') return { ...OPTIONS_REPLY, headers: ['Allow', entry.allowHeader] };

    // A form field may change the method, so a small body comes first; no other is read before its sender has proved
    // who he is. What is wrong with it is said in its turn.
    let body: Body | undefined;
    let bodyRefusal: unknown;
    if (request.method === 'POST' && isSmall(request.raw)) {
      try {
        body = await this.readBody(request, entry.endpoints.get('POST')?.route.takesFiles);
      } catch (error) {
        if (error instanceof ClientGone) throw error;
        bodyRefusal = error;
      }
      const override = body?.fields.get('method')?.toUpperCase();
      if (override !== undefined && isMethod(override)) request.method = override;
    }
    const endpoint = entry.endpoints.get(request.method);
    if (!endpoint) throw methodNotAllowed(entry.allowed);
    exchange.endpoint = endpoint;
    const { route } = endpoint;
    if (values.length > 0) request.pathParameters = pathParameters(endpoint.names, values);

    if (route.auth === 'user') exchange.identity = await this.authenticate(request, route);
    this.countCall(request, exchange, route);
    if (route.gates.length > 0) pass(route.gates, await this.options.gatekeeper.standingOf(exchange.identity!));

    if (bodyRefusal) throw bodyRefusal;
    body ??= await this.readBody(request, route.takesFiles);
    request.files = body.files;
    request.parameters =
      query || body.fields.size > 0 ? new Parameters(parseForm(query), body.fields) : Parameters.none;
    const caller = await this.callerOf(request, exchange.identity);

    const { dto, ignored } = parse(route.dto, request.pathParameters, request.parameters);
    try {
      return withIgnoredParameters(await this.operate(endpoint, request, caller, dto), ignored);
    } finally {
      if (typeof route.limit === 'object') this.showLimit(route.limit, dto, caller, exchange);
    }
  }

  private readBody({ raw }: ReceivedRequest, keepFiles = false): Promise<Body> | Body {
    return raw.headers['content-type'] === undefined ? NO_BODY : readBody(raw, this.bodyLimits, keepFiles);
  }

  private async operate(
    endpoint: CompiledRoute,
    request: ReceivedRequest,
    caller: Caller | Visitor,
    dto: object,
  ): Promise<Reply> {
    const { route } = endpoint;
    if (route.useCase && endpoint.useCase === undefined) endpoint.useCase = this.options.resolve(route.useCase);
    const { useCase } = endpoint;
    if (route.handle) return route.handle({ request, caller, dto, useCase } as Context<Auth, unknown, unknown>);
    const output = await (useCase as ExecutesInput).execute(
      caller,
      route.toInput?.(dto, request, caller as CallerOf<Auth>),
    );
    if (!route.present) return success();
    return success(
      await route.present(output, { dto, caller: caller as CallerOf<Auth>, variant: request.variant, request }),
    );
  }

  private async authenticate(request: ReceivedRequest, route: Route): Promise<Identity> {
    for (const authenticator of this.options.authenticators) {
      const identity = await authenticator.authenticate(request);
      if (!identity) continue;
      if (identity.isIncomingWebhook && !route.allowsWebhookBots) throw notForWebhookBots();
      return identity;
    }
    throw notLoggedIn();
  }

  private countCall(request: ReceivedRequest, exchange: Exchange, { limit }: Route): void {
    const { limiter } = this.options;
    if (!limiter.isOn || limit === 'none' || typeof limit === 'object') return;
    const { identity } = exchange;
    exchange.limit = identity
      ? limiter.hit(limit, identity.userId, parseQuotas(identity.rateLimits))
      : limiter.hit(limit, ipGroup(request.ip));
    if (!exchange.limit.isAllowed) throw rateLimited(exchange.limit);
  }

  private showLimit(
    { rule, keyOf }: ShownLimit<unknown>,
    dto: unknown,
    caller: Caller | Visitor,
    exchange: Exchange,
  ): void {
    const { limiter } = this.options;
    if (limiter.isOn) exchange.limit = limiter.peek(rule, keyOf(dto, caller as CallerOf<Auth>));
  }

  private async callerOf(request: ReceivedRequest, identity: Identity | undefined): Promise<Caller | Visitor> {
    const parameter = request.parameters.get('client');
    const clientName = clientNameOf(request.client, parameter, identity?.isBrowserSession ?? false);
    if (identity) return { realmId: identity.realmId, userId: identity.userId, clientName };
    const realmId: RealmId | null = await this.options.realms.findRealm(request.host);
    return { realmId, host: request.host, ip: request.ip, clientName };
  }

  /** Null when nobody is left to be answered. */
  private replyTo(error: unknown, request: ReceivedRequest, exchange: Exchange | null): Reply | null {
    if (error instanceof ClientGone) return null;
    const { reply, isBug } = replyToError(error, request.variant);
    if (isBug) {
      const route = exchange?.endpoint?.route;
      this.logger.error(
        { requestId: request.id, method: request.method, route: route?.path, err: error },
        'unexpected error',
      );
    }
    return reply;
  }

  private write(response: ServerResponse, reply: Reply, request: ReceivedRequest, exchange: Exchange | null): void {
    try {
      writeReply(response, reply, {
        request,
        isAuthenticated: exchange?.identity !== undefined,
        isLongPoll: exchange?.match.entry.isLongPoll ?? false,
        limitHeaders: exchange?.limit && rateLimitHeaders(exchange.limit),
        closes: this.isDraining,
      });
    } catch (error) {
      this.logger.error({ requestId: request.id, err: error }, 'cannot write the answer');
      response.destroy();
    }
  }

  private isOurs(path: string): boolean {
    return path === PREFIX || path.startsWith(`${PREFIX}/`);
  }

  private leave(raw: IncomingMessage): void {
    this.pending.delete(raw);
    if (this.inFlight > 0 || this.onIdle.length === 0) return;
    for (const resolve of this.onIdle.splice(0)) resolve();
  }

  /** Never parameters, bodies or credentials; the path's pattern, not the path, which may hold an address. */
  private log(request: ReceivedRequest, exchange: Exchange | null, reply: Reply | null, startedAt: number): void {
    if (this.logger === silentLogger) return;
    this.logger.info(
      {
        requestId: request.id,
        method: request.method,
        route: exchange?.endpoint?.route.path ?? contractPathOf(request.path),
        status: reply && !request.isGone ? reply.status : 499,
        durationMs: Math.round((performance.now() - startedAt) * 100) / 100,
        userId: exchange?.identity?.userId,
      },
      'request',
    );
  }
}

function isSmall(raw: IncomingMessage): boolean {
  return Number(raw.headers['content-length'] ?? Number.NaN) <= SMALL_BODY_BYTES;
}
