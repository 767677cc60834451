import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Injectable } from '@parley/domain/composition';
import type { ReceivedBlob } from '@parley/domain/files';
import { type Caller, type Clock, type RealmId, WorkQueue } from '@parley/domain/kernel';
import type { Authenticator, Identity, RealmDirectory } from './authenticate.js';
import { CallerProof, CallLimits, clientOf, isProven, type Proof, triedLogInOf } from './caller-proof.js';
import { BrowserChecks, csrfTokenOf, type TrustedOrigins, withoutCsrfToken } from './csrf.js';
import {
  type Body,
  type Charge,
  ClientGone,
  type FileSink,
  type LoadGauge,
  noLoad,
  RequestsInFlight,
  TRANSPORT_LIMITS,
  type TransportLimits,
} from './load.js';
import { type CompiledRoute, isMethod, type Match, pathParameters, RouteTable } from './matcher.js';
import { parse } from './params.js';
import { type LimitState, type RateLimiter, rateLimitHeaders } from './rate-limit.js';
import {
  BASIC_CHALLENGE,
  type ErrorReplies,
  HttpRefusal,
  malformedRequest,
  methodNotAllowed,
  type Reply,
  serverBusy,
  success,
  tooMuchAtOnce,
  unknownPath,
  withIgnoredParameters,
} from './reply.js';
import { clientNameOf, hasOneHost, Parameters, ReceivedRequest, type RequestTarget, targetOf } from './request.js';
import { parseForm, RequestBodies } from './request-body.js';
import {
  type AuditedChanges,
  type AuditReader,
  changesBetween,
  type FailedLogIn,
  failedLogInOf,
  isAdministration,
  type Logger,
  RequestLog,
  type RequestObserver,
  type RequestTracer,
  silentLogger,
} from './request-log.js';
import { ResponseWriter, type Written } from './response-writer.js';
import {
  type AnonymousClient,
  type Auth,
  type Authorize,
  type CallerOf,
  type Context,
  enforceRoles,
  type OrganizationClient,
  type RoleLookup,
  type Route,
} from './route.js';
import { type ProxyTrust, TrustedProxies } from './trusted-proxies.js';

export interface DispatcherOptions {
  readonly routes: readonly Route[];
  readonly errorReplies: ErrorReplies;
  /** Returns the instance of a use case; called once per use case, on first use. */
  readonly resolve: <C extends Injectable>(useCase: C) => InstanceType<C>;
  /** Authenticators of programs, tried in order. */
  readonly authenticators: readonly Authenticator[];
  /** Authenticators of browsers for paths under `/json`; by default no browser is logged in. */
  readonly browserAuthenticators?: readonly Authenticator[];
  /** True if users log in through the host application, so browsers must not prompt for a password. */
  readonly isHostAuthenticated?: boolean;
  /** Additional origins with pages that may act for users logged in through the host application; none by default. */
  readonly trustedOrigins?: TrustedOrigins;
  /** Defaults to `http://localhost`. */
  readonly publicUrl?: string;
  readonly realms: RealmDirectory;
  /** True if paths may begin with an organization name (`/shop/api/v1/…`); false by default. */
  readonly realmsByPath?: boolean;
  readonly roleLookup: RoleLookup;
  /** Default: audit lines name no changes. */
  readonly audits?: AuditReader;
  /** Destination of streamed files; by default, streaming routes receive no files. */
  readonly files?: FileSink;
  /** Verifies an API key parameter; by default such keys are not accepted. */
  readonly keyParameter?: Authenticator;
  readonly limiter: RateLimiter;
  readonly clock: Clock;
  readonly logger?: Logger;
  /** Notified of every response. */
  readonly observers?: readonly RequestObserver[];
  readonly tracer?: RequestTracer;
  /** Proxies with trusted `X-Forwarded-*` headers; none by default. */
  readonly trustedProxies?: ProxyTrust;
  readonly limits?: Partial<TransportLimits>;
  /** Load level used for shedding; by default no request is shed. */
  readonly load?: LoadGauge;
  /** True if passwords are publicly known, so other web sites must not try them through a local browser. */
  readonly hasKnownPasswords?: boolean;
}

export interface Dispatcher {
  /** Handles a request below our mount path. Returns false and leaves other requests untouched. Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  /** Writes a reply to a request that `handle` did not take, with the headers of all responses (protocol §13). */
  respond(request: IncomingMessage, response: ServerResponse, reply: Reply): void;
  /** True if the path is dispatched ahead of the web framework. */
  isHot(request: IncomingMessage): boolean;
  /** Number of pending requests, including long polls. */
  readonly inFlight: number;
  /** Bytes held by pending requests and unsent responses. */
  readonly bytesInFlight: { readonly bodies: number; readonly responses: number };
  /**
   * Closes each connection after its next response. Resolves when no request is in flight; the caller must end long
   * polls. Connections of requests still pending after the timeout are destroyed.
   */
  drain(patienceMs: number): Promise<void>;
}

type ExecutesInput = { execute(caller: Caller | AnonymousClient, input: unknown): Promise<unknown> };

/** Request state used for the response and the log. */
interface RequestState {
  readonly match: Match<CompiledRoute>;
  endpoint: CompiledRoute | undefined;
  /** Undefined until credentials are checked. */
  proof: Proof | undefined;
  /** Caller of an operation for users. */
  identity: Identity | undefined;
  /** Program acting for an organization. */
  client: OrganizationClient | undefined;
  failedLogIn: FailedLogIn | null;
  changes: AuditedChanges | undefined;
  limit: LimitState | undefined;
  /** Charges for the body while the request is in progress. */
  readonly charges: Charge[];
  /** Files stored for the request; discarded if it fails. */
  readonly blobs: ReceivedBlob[];
}

const NO_ORIGINS: TrustedOrigins = new Set();
/** Maximum concurrent reads per client: response data is in memory before its bytes are charged. */
const READS_PER_CLIENT = 4;
const MAX_WAITING_PER_CLIENT = 1000;
const OPTIONS_REPLY = { status: 204, body: '' } as const;

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new TableDispatcher(options);
}

class TableDispatcher implements Dispatcher {
  private readonly requests = new RequestsInFlight();
  private readonly reads = new WorkQueue({
    concurrencyPerClient: READS_PER_CLIENT,
    maxWaitingPerClient: MAX_WAITING_PER_CLIENT,
    refusal: tooMuchAtOnce,
  });
  private readonly table: RouteTable;
  private readonly bodies: RequestBodies;
  private readonly responses: ResponseWriter;
  private readonly load: LoadGauge;
  private readonly logger: Logger;
  private readonly log: RequestLog;
  private readonly proxies: TrustedProxies;
  private readonly callLimits: CallLimits;
  private readonly browsers: BrowserChecks;
  private readonly callers: CallerProof;
  private readonly observers: readonly RequestObserver[];

  constructor(private readonly options: DispatcherOptions) {
    const limits = { ...TRANSPORT_LIMITS, ...options.limits };
    this.bodies = new RequestBodies(limits, options.files ?? null);
    this.responses = new ResponseWriter(limits);
    this.load = options.load ?? noLoad;
    this.logger = options.logger ?? silentLogger;
    this.log = new RequestLog(this.logger);
    this.observers = options.observers ?? [];
    this.proxies = new TrustedProxies(options.trustedProxies);
    this.callLimits = new CallLimits(options.limiter, this.proxies.exist, this.logger);
    this.browsers = new BrowserChecks({
      isHostAuthenticated: options.isHostAuthenticated ?? false,
      publicUrl: new URL(options.publicUrl ?? 'http://localhost'),
      trustedOrigins: options.trustedOrigins ?? NO_ORIGINS,
      hasKnownPasswords: options.hasKnownPasswords ?? false,
    });
    const { authenticators, browserAuthenticators = [], keyParameter } = options;
    this.callers = new CallerProof({ authenticators, browserAuthenticators, keyParameter }, this.callLimits);
    this.table = new RouteTable(options.routes, options.realmsByPath ?? false);
  }

  get inFlight(): number {
    return this.requests.count;
  }

  get bytesInFlight(): Dispatcher['bytesInFlight'] {
    return { bodies: this.bodies.heldBytes, responses: this.responses.heldBytes };
  }

  respond(raw: IncomingMessage, response: ServerResponse, reply: Reply): void {
    const { path, query } = targetOf(raw);
    this.write(response, reply, new ReceivedRequest(raw, response, path, query, this.proxies, null), null);
  }

  async handle(raw: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const target = targetOf(raw);
    const { path, realmPath, match } = this.table.locate(target.path);
    if (!match && !this.table.isOurs(path)) return false;
    // Pipelined requests wait until earlier responses are sent.
    if (response.socket === null && !(await this.requests.turnOf(raw, response))) return true;

    const startedAt = performance.now();
    const request = new ReceivedRequest(raw, response, path, target.query, this.proxies, realmPath);
    const requestState: RequestState | null = match && {
      match,
      endpoint: undefined,
      proof: undefined,
      identity: undefined,
      client: undefined,
      failedLogIn: null,
      changes: undefined,
      limit: undefined,
      charges: [],
      blobs: [],
    };
    const span = this.options.tracer?.start(raw) ?? null;
    let reply: Reply | null;
    this.requests.add(raw);
    try {
      if (!hasOneHost(raw, target)) throw malformedRequest();
      if (!requestState) throw unknownPath();
      const responding = () => this.response(request, requestState, target);
      reply = await (span ? span.run(responding) : responding());
    } catch (error) {
      reply = await this.replyTo(error, request, requestState);
    }
    if (reply && requestState?.match.entry.style === 'browser') {
      reply = this.browsers.withToken(reply, request, requestState.identity);
    }
    for (const charge of requestState?.charges ?? []) charge.release();
    if (requestState && requestState.blobs.length > 0 && (!reply || reply.status >= 400)) this.discard(requestState);
    let status = 499;
    if (reply) {
      const written = this.write(response, reply, request, requestState);
      status = written.status;
      if (written.done) await this.taken(written.done, response, request);
    }
    this.requests.delete(raw);
    const answered = {
      route: requestState?.endpoint?.route,
      status: request.isGone ? 499 : status,
      durationMs: performance.now() - startedAt,
    };
    span?.end(answered);
    for (const observer of this.observers) observer.answered(answered);
    this.log.answered(request, requestState, reply, answered);
    return true;
  }

  /** If this fails, the sweep deletes the files. */
  private discard({ blobs }: RequestState): void {
    for (const blob of blobs) {
      this.options.files?.discard(blob).catch((error) => this.logger.error({ err: error }, 'cannot remove a file'));
    }
  }

  isHot(raw: IncomingMessage): boolean {
    const endpoints = this.table.locate(targetOf(raw).path).match?.entry.endpoints;
    return endpoints?.get(raw.method ?? '')?.route.hot === true;
  }

  drain(patienceMs: number): Promise<void> {
    return this.requests.drain(patienceMs);
  }

  /** Performs the checks of every operation in contract order. */
  private async response(
    request: ReceivedRequest,
    requestState: RequestState,
    { query }: RequestTarget,
  ): Promise<Reply> {
    const { entry, values } = requestState.match;
    if (request.method === 'OPTIONS') {
      return { ...OPTIONS_REPLY, headers: ['Allow', entry.allowHeader, ...entry.optionsHeaders()] };
    }
    this.shed(entry.endpoints.get(request.method)?.route, requestState);

    // A form field may change the method, so a small body is read first. Errors in body and credentials are reported
    // later, in contract order; credentials determine the body limit.
    let body: Body | undefined;
    let bodyRefusal: unknown;
    if (request.method === 'POST' && this.bodies.isSmall(request.raw)) {
      const route = entry.endpoints.get('POST')?.route;
      if (entry.isForUsers) requestState.proof = await this.callers.prove(request, entry.style, route);
      try {
        body = await this.bodies.read(request, requestState, route);
      } catch (error) {
        if (error instanceof ClientGone) throw error;
        bodyRefusal = error;
      }
      const override = body?.fields.get('method')?.toUpperCase();
      if (override !== undefined && isMethod(override)) request.method = override;
    }
    const found = entry.endpoints.get(request.method);
    if (!found) throw methodNotAllowed(entry.allowed);
    const endpoint = await this.authenticate(found, request, requestState);
    const { route } = endpoint;
    if (values.length > 0) request.pathParameters = pathParameters(endpoint.names, values);
    const { identity } = requestState;
    this.browsers.checkSender(request, { identity, isPage: entry.style === 'browser', body });
    this.shed(route, requestState);
    this.callLimits.countCall(request, requestState, route);
    if (route.roleRequirements.length > 0)
      await enforceRoles(route.roleRequirements, identity!, this.options.roleLookup);

    if (bodyRefusal) throw bodyRefusal;
    body ??= await this.bodies.read(request, requestState, route);
    request.files = body.files;
    request.content = body.content ?? null;
    const fields = entry.style === 'browser' ? withoutCsrfToken(body.fields) : body.fields;
    request.parameters = query || fields.size > 0 ? new Parameters(parseForm(query), fields) : Parameters.none;
    const caller = callerOf(request, requestState) ?? (await this.anonymousClient(request, requestState));

    const { dto, ignored } = parse(route.dto, request.pathParameters, request.parameters);
    try {
      const operate = async () => {
        if (request.isGone) throw new ClientGone();
        return this.operateAudited(endpoint, request, requestState, () =>
          this.operate(endpoint, request, requestState, caller, dto),
        );
      };
      const client = clientOf(request, requestState.proof);
      const reply = isQueued(route) ? await this.reads.run(client, operate) : await operate();
      // Protocol §4 excepts incoming webhooks.
      return route.body === 'raw' ? reply : withIgnoredParameters(reply, ignored);
    } finally {
      if (typeof route.limit === 'object') this.callLimits.show(route.limit, dto, caller, requestState);
    }
  }

  /** Authenticates the caller if needed; spectators may get another form of the operation. */
  private async authenticate(
    found: CompiledRoute,
    request: ReceivedRequest,
    requestState: RequestState,
  ): Promise<CompiledRoute> {
    requestState.endpoint = found;
    const { route, style, forSpectators } = found;
    this.browsers.checkPage(request, route);
    if (route.authorize) requestState.client = await this.authorize(route.authorize, request, requestState);
    if (route.providesCsrfToken) await this.findCsrfToken(request, requestState);
    if (route.auth === 'visitor') requestState.proof = await this.callers.proveIfAny(request);
    if (route.auth !== 'user') return found;
    requestState.proof ??= await this.callers.prove(request, style, route);
    const { proof } = requestState;
    if (forSpectators && 'refusal' in proof && proof.isNobody) {
      requestState.endpoint = forSpectators;
      return forSpectators;
    }
    requestState.identity = this.callers.identify(proof, request, requestState, route);
    return found;
  }

  private async authorize(
    authorize: Authorize,
    request: ReceivedRequest,
    requestState: RequestState,
  ): Promise<OrganizationClient> {
    try {
      return await authorize(request, await this.options.realms.findRealm(request.realmAddress), this.options.resolve);
    } catch (error) {
      if (error instanceof HttpRefusal) this.callLimits.countAddress('api_by_ip', request, requestState);
      throw error;
    }
  }

  /**
   * Returns the CSRF token for pages that cannot read the cookie. @throws HttpRefusal 403 for pages of another origin
   */
  private async findCsrfToken(request: ReceivedRequest, requestState: RequestState): Promise<void> {
    this.browsers.checkOwnPage(request);
    const proof = await this.callers.prove(request, requestState.match.entry.style);
    requestState.proof = proof;
    request.csrfToken = csrfTokenOf(request, 'identity' in proof ? proof.identity : undefined);
  }

  /** Sheds load, anonymous requests first; called before and after authentication. @throws HttpRefusal 503 */
  private shed(route: Route | undefined, { proof }: RequestState): void {
    const { level } = this.load;
    if (level === 'normal' || !route || route.isNeverShed || (route.auth === 'visitor' && !proof)) return;
    const isAnonymous = route.auth !== 'user' && !isProven(proof);
    if (isAnonymous || (route.isExpensive && level === 'overloaded')) throw serverBusy();
  }

  /** Compares the state of an administrative operation's target before and after the operation. */
  private async operateAudited(
    { route }: CompiledRoute,
    { pathParameters }: ReceivedRequest,
    requestState: RequestState,
    operate: () => Promise<Reply>,
  ): Promise<Reply> {
    const { audits } = this.options;
    const { identity } = requestState;
    if (!audits || !identity || !isAdministration(route)) return operate();
    const read = () =>
      audits.stateOf(identity.realmId, route, pathParameters).catch((error) => {
        this.logger.error({ err: error }, 'cannot read what an audit line describes');
        return null;
      });
    const before = await read();
    const reply = await operate();
    requestState.changes = changesBetween(before, await read());
    return reply;
  }

  private async operate(
    endpoint: CompiledRoute,
    request: ReceivedRequest,
    { proof, client }: RequestState,
    caller: Caller | AnonymousClient,
    dto: object,
  ): Promise<Reply> {
    const { route } = endpoint;
    if (route.useCase && endpoint.useCase === undefined) endpoint.useCase = this.options.resolve(route.useCase);
    const { useCase } = endpoint;
    const { resolve } = this.options;
    if (route.handle) {
      const identity = isProven(proof) ? proof.identity : undefined;
      const refusal = proof && 'refusal' in proof ? proof.refusal : undefined;
      return route.handle({ request, caller, dto, identity, refusal, client, useCase, resolve } as Context<
        Auth,
        unknown,
        unknown
      >);
    }
    const output = await (useCase as ExecutesInput).execute(
      caller,
      route.toInput?.(dto, request, caller as CallerOf<Auth>),
    );
    if (!route.present) return success();
    return success(
      await route.present(output, { dto, caller: caller as CallerOf<Auth>, variant: request.variant, request }),
    );
  }

  private async anonymousClient(request: ReceivedRequest, requestState: RequestState): Promise<AnonymousClient> {
    const realmId: RealmId | null = await this.options.realms.findRealm(request.realmAddress);
    return { realmId, host: request.host, ip: request.ip, clientName: programOf(request, requestState) };
  }

  /** Returns null if the client disconnected. */
  private async replyTo(
    error: unknown,
    request: ReceivedRequest,
    requestState: RequestState | null,
  ): Promise<Reply | null> {
    if (error instanceof ClientGone) return null;
    if (requestState) {
      const tried = triedLogInOf(error, request, requestState.proof);
      requestState.failedLogIn = failedLogInOf(error, requestState.endpoint?.route.logInMethod, tried);
    }
    const { reply, message, isBug } = this.options.errorReplies.replyTo(error, request.variant);
    const route = routeOf(request, requestState);
    if (reply.headers === BASIC_CHALLENGE) {
      return this.browsers.challenge(reply, request, { route, style: requestState?.match.entry.style });
    }
    if (isBug) {
      this.logger.error(
        { requestId: request.id, method: request.method, route: route?.path, err: error },
        'unexpected error',
      );
    }
    if (!route?.errorPage) return reply;
    return route.errorPage({ status: reply.status, message, headers: reply.headers ?? [] }, request);
  }

  private write(
    response: ServerResponse,
    reply: Reply,
    request: ReceivedRequest,
    requestState: RequestState | null,
  ): Written {
    const entry = requestState?.match.entry;
    try {
      return this.responses.write(response, reply, {
        request,
        client: clientOf(request, requestState?.proof),
        isAuthenticated: requestState?.identity !== undefined,
        longPollMethods: entry?.isLongPoll ? entry.allowHeader : null,
        isSameOriginOnly: entry?.isSameOriginOnly ?? false,
        isForBrowsers: entry?.style === 'browser',
        isSecure: this.browsers.isSecure(request),
        limitHeaders: requestState?.limit && rateLimitHeaders(requestState.limit),
        closes: this.requests.isDraining || reply.status === 408,
      });
    } catch (error) {
      this.breakOff(error, response, request);
      return { status: reply.status, done: null };
    }
  }

  private taken(done: Promise<void>, response: ServerResponse, request: ReceivedRequest): Promise<void> {
    return done.catch((error: unknown) => this.breakOff(error, response, request));
  }

  private breakOff(error: unknown, response: ServerResponse, request: ReceivedRequest): void {
    this.logger.error({ requestId: request.id, err: error }, 'cannot write the response');
    response.destroy();
  }
}

/** Returns the client name of the request. */
const programOf = (request: ReceivedRequest, { match }: RequestState): string =>
  clientNameOf(request.client, request.parameters.get('client'), match.entry.style === 'browser');

/** Returns null for an anonymous caller. */
function callerOf(request: ReceivedRequest, requestState: RequestState): Caller | null {
  if (!requestState.identity) return null;
  const { realmId, userId, session } = requestState.identity;
  const clientName = programOf(request, requestState);
  return session ? { realmId, userId, clientName, sessionId: session.id } : { realmId, userId, clientName };
}

/** Returns the route of the request, even if it was rejected earlier. */
const routeOf = (request: ReceivedRequest, requestState: RequestState | null): Route | undefined =>
  (requestState?.endpoint ?? requestState?.match.entry.endpoints.get(request.method))?.route;

/**
 * True if the response may need many reads, such as access checks of files. Public pictures are exempt because they
 * cost little.
 */
const isQueued = ({ method, auth, isExpensive = false, longPoll, body, limit }: Route): boolean =>
  (method === 'GET' || isExpensive) && !longPoll && body !== 'stream' && (auth === 'user' || limit !== 'none');
