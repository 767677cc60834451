import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Injectable } from '@parley/domain/composition';
import type { ReceivedBlob } from '@parley/domain/files';
import { type Caller, type Clock, type RealmId, WorkQueue } from '@parley/domain/kernel';
import { AnswerWriter, type Written } from './answer-writer.js';
import type { Authenticator, Identity, RealmDirectory } from './authenticate.js';
import { CallerProof, CallLimits, clientOf, isProven, type Proof } from './caller-proof.js';
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
  malformedRequest,
  methodNotAllowed,
  type Reply,
  SESSION_CHALLENGE,
  serverBusy,
  success,
  tooMuchAtOnce,
  unknownPath,
  withIgnoredParameters,
} from './reply.js';
import { clientNameOf, hasOneHost, Parameters, ReceivedRequest, type RequestTarget, targetOf } from './request.js';
import { parseForm, RequestBodies } from './request-body.js';
import {
  isFailedLogin,
  type Logger,
  RequestLog,
  type RequestObserver,
  type RequestTracer,
  silentLogger,
} from './request-log.js';
import {
  type AnonymousClient,
  type Auth,
  type CallerOf,
  type Context,
  enforceRoles,
  type RoleLookup,
  type Route,
} from './route.js';
import { type ProxyTrust, TrustedProxies } from './trusted-proxies.js';

export interface DispatcherOptions {
  readonly routes: readonly Route[];
  readonly errorReplies: ErrorReplies;
  /** The contract's pattern of a request path, for the log; undefined if the contract has none. */
  readonly contractPathOf: (requestPath: string) => string | undefined;
  /** Answers the instance of a use case; asked once for each, when it is first needed. */
  readonly resolve: <C extends Injectable>(useCase: C) => InstanceType<C>;
  /** Of programs, tried in order. */
  readonly authenticators: readonly Authenticator[];
  /** Of browsers, for paths under `/json`; default: nobody is logged in there. */
  readonly browserAuthenticators?: readonly Authenticator[];
  /** People log in with the host application: a browser is not to ask them for a password of its own accord. */
  readonly isHostAuthenticated?: boolean;
  /** Beside our own, origins whose pages may act for those whom the host application has logged in; default: none. */
  readonly trustedOrigins?: TrustedOrigins;
  /** Default: those of `http://localhost`. */
  readonly publicUrl?: string;
  readonly realms: RealmDirectory;
  /** Whether paths may begin with the name of an organization: `/shop/api/v1/…`; default: no. */
  readonly realmsByPath?: boolean;
  readonly roleLookup: RoleLookup;
  /** Of files that routes have stored; default: such routes get no files. */
  readonly files?: FileSink;
  /** Checks an API key that came as a parameter; default: none proves anything. */
  readonly keyParameter?: Authenticator;
  readonly limiter: RateLimiter;
  readonly clock: Clock;
  readonly logger?: Logger;
  /** Called with every answer. */
  readonly observers?: readonly RequestObserver[];
  readonly tracer?: RequestTracer;
  /** Proxies in front of us whose `X-Forwarded-*` headers are true; default: none. */
  readonly trustedProxies?: ProxyTrust;
  readonly limits?: Partial<TransportLimits>;
  /** What requests are shed by; default: none ever. */
  readonly load?: LoadGauge;
  /** Passwords are as good as published, so that no web site may try them through the browser of whoever runs this. */
  readonly hasKnownPasswords?: boolean;
}

export interface Dispatcher {
  /** Answers the request, if it is one of ours; false leaves it untouched. Never rejects. Its URL begins where we are mounted. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  /** Whether the request is for a path that is dispatched ahead of everything else. */
  isHot(request: IncomingMessage): boolean;
  /** Requests that are not answered yet, long polls among them. */
  readonly inFlight: number;
  /** What they hold, and what answers hold that are not read yet. */
  readonly bytesInFlight: { readonly bodies: number; readonly answers: number };
  /**
   * From now on answers close their connections. Resolves when none is in flight; ending long polls is up to them. What is
   * not answered after so long, such as a request that never arrives as a whole, loses its connection.
   */
  drain(patienceMs: number): Promise<void>;
}

type ExecutesInput = { execute(caller: Caller | AnonymousClient, input: unknown): Promise<unknown> };

/** What is known of a request so far, for its answer and its line in the log. */
interface RequestState {
  readonly match: Match<CompiledRoute>;
  endpoint: CompiledRoute | undefined;
  /** Undefined until the credentials were looked at. */
  proof: Proof | undefined;
  /** Of whoever calls an operation for users. */
  identity: Identity | undefined;
  /** Credentials came, and were not good enough. */
  hasFailedLogin: boolean;
  limit: LimitState | undefined;
  /** For its body, as long as it is worked on. */
  readonly charges: Charge[];
  /** Files that were stored for it, which belong to nothing where it fails. */
  readonly blobs: ReceivedBlob[];
}

const NO_ORIGINS: TrustedOrigins = new Set();
/** Reading operations of one client at the same time: what an answer is made of is in memory before its bytes are charged. */
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
  private readonly answers: AnswerWriter;
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
    this.answers = new AnswerWriter(limits);
    this.load = options.load ?? noLoad;
    this.logger = options.logger ?? silentLogger;
    this.log = new RequestLog(this.logger, options.contractPathOf);
    this.observers = options.observers ?? [];
    this.proxies = new TrustedProxies(options.trustedProxies);
    this.callLimits = new CallLimits(options.limiter, this.proxies.exist, this.logger);
    this.browsers = new BrowserChecks({
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
    return { bodies: this.bodies.heldBytes, answers: this.answers.heldBytes };
  }

  async handle(raw: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const target = targetOf(raw);
    const { path, realmPath, match } = this.table.locate(target.path);
    if (!match && !this.table.isOurs(path)) return false;
    // Answers go out in the order of requests: what waits for its turn is not worked on yet.
    if (response.socket === null && !(await this.requests.turnOf(raw, response))) return true;

    const startedAt = performance.now();
    const request = new ReceivedRequest(raw, response, path, target.query, this.proxies, realmPath);
    const requestState: RequestState | null = match && {
      match,
      endpoint: undefined,
      proof: undefined,
      identity: undefined,
      hasFailedLogin: false,
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
      const answering = () => this.answer(request, requestState, target);
      reply = await (span ? span.run(answering) : answering());
    } catch (error) {
      reply = this.replyTo(error, request, requestState);
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
    this.log.answered(request, requestState, answered);
    return true;
  }

  /** Where this fails, the sweep finds them. */
  private discard({ blobs }: RequestState): void {
    for (const blob of blobs) {
      this.options.files?.discard(blob).catch((error) => this.logger.error({ err: error }, 'cannot remove a file'));
    }
  }

  isHot(raw: IncomingMessage): boolean {
    const endpoints = this.table.locate(targetOf(raw).path).match?.entry.endpoints;
    return endpoints?.get(raw.method ?? '')?.route.hot ?? false;
  }

  drain(patienceMs: number): Promise<void> {
    return this.requests.drain(patienceMs);
  }

  /** The checks of every operation, in the contract's order. */
  private async answer(request: ReceivedRequest, requestState: RequestState, { query }: RequestTarget): Promise<Reply> {
    const { entry, values } = requestState.match;
    if (request.method === 'OPTIONS') {
      return { ...OPTIONS_REPLY, headers: ['Allow', entry.allowHeader, ...entry.optionsHeaders()] };
    }
    this.shed(entry.endpoints.get(request.method)?.route);

    // A form field may change the method, so a small body comes first. What is wrong with it is said in its turn, as is
    // what is wrong with the credentials, which decide what the body may cost.
    let body: Body | undefined;
    let bodyRefusal: unknown;
    if (request.method === 'POST' && this.bodies.isSmall(request.raw)) {
      if (entry.isForUsers) requestState.proof = await this.callers.prove(request, entry.style);
      try {
        body = await this.bodies.read(request, requestState, entry.endpoints.get('POST')?.route);
      } catch (error) {
        if (error instanceof ClientGone) throw error;
        bodyRefusal = error;
      }
      const override = body?.fields.get('method')?.toUpperCase();
      if (override !== undefined && isMethod(override)) request.method = override;
    }
    const found = entry.endpoints.get(request.method);
    if (!found) throw methodNotAllowed(entry.allowed);
    const endpoint = await this.admit(found, request, requestState);
    const { route } = endpoint;
    if (values.length > 0) request.pathParameters = pathParameters(endpoint.names, values);
    const { identity } = requestState;
    this.browsers.checkSender(request, { identity, isPage: entry.style === 'browser', body });
    this.shed(route);
    this.callLimits.countCall(request, requestState, route);
    if (route.roleRequirements.length > 0)
      await enforceRoles(route.roleRequirements, identity!, this.options.roleLookup);

    if (bodyRefusal) throw bodyRefusal;
    body ??= await this.bodies.read(request, requestState, route);
    request.files = body.files;
    const fields = entry.style === 'browser' ? withoutCsrfToken(body.fields) : body.fields;
    request.parameters = query || fields.size > 0 ? new Parameters(parseForm(query), fields) : Parameters.none;
    const caller = callerOf(request, requestState) ?? (await this.anonymousClient(request, requestState));

    const { dto, ignored } = parse(route.dto, request.pathParameters, request.parameters);
    try {
      const operate = async () => {
        if (request.isGone) throw new ClientGone();
        return this.operate(endpoint, request, caller, dto);
      };
      const client = clientOf(request, requestState.proof);
      const reply = takesTurns(route)
        ? await this.reads.run(client, operate)
        : await this.operate(endpoint, request, caller, dto);
      return withIgnoredParameters(reply, ignored);
    } finally {
      if (typeof route.limit === 'object') this.callLimits.show(route.limit, dto, caller, requestState);
    }
  }

  /** Finds out who calls, where that matters: those who have not logged in may get another form of the operation. */
  private async admit(
    found: CompiledRoute,
    request: ReceivedRequest,
    requestState: RequestState,
  ): Promise<CompiledRoute> {
    requestState.endpoint = found;
    const { route, style, forSpectators } = found;
    this.browsers.checkPage(request, route);
    if (route.tellsCsrfToken) await this.findCsrfToken(request, requestState);
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

  /** For pages that cannot read the cookie, as they are elsewhere. @throws HttpRefusal 403, to pages of another origin */
  private async findCsrfToken(request: ReceivedRequest, requestState: RequestState): Promise<void> {
    this.browsers.checkOwnPage(request);
    const proof = await this.callers.prove(request, requestState.match.entry.style);
    requestState.proof = proof;
    request.csrfToken = csrfTokenOf(request, 'identity' in proof ? proof.identity : undefined);
  }

  /** @throws HttpRefusal 503, anonymous requests first. */
  private shed(route: Route | undefined): void {
    const { level } = this.load;
    if (level === 'normal' || !route) return;
    if (route.auth === 'anyone' || (route.isExpensive && level === 'overloaded')) throw serverBusy();
  }

  private async operate(
    endpoint: CompiledRoute,
    request: ReceivedRequest,
    caller: Caller | AnonymousClient,
    dto: object,
  ): Promise<Reply> {
    const { route } = endpoint;
    if (route.useCase && endpoint.useCase === undefined) endpoint.useCase = this.options.resolve(route.useCase);
    const { useCase } = endpoint;
    const { resolve } = this.options;
    if (route.handle)
      return route.handle({ request, caller, dto, useCase, resolve } as Context<Auth, unknown, unknown>);
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

  /** Null when nobody is left to be answered. */
  private replyTo(error: unknown, request: ReceivedRequest, requestState: RequestState | null): Reply | null {
    if (error instanceof ClientGone) return null;
    if (requestState) {
      const triesHeader = !isProven(requestState.proof) && request.header('authorization') !== undefined;
      requestState.hasFailedLogin = isFailedLogin(error, triesHeader);
    }
    const { reply, message, isBug } = this.options.errorReplies.replyTo(error, request.variant);
    const route = routeOf(request, requestState);
    if (reply.headers === BASIC_CHALLENGE) return { ...reply, headers: this.challengeOf(requestState) };
    if (isBug) {
      this.logger.error(
        { requestId: request.id, method: request.method, route: route?.path, err: error },
        'unexpected error',
      );
    }
    if (!route?.errorPage) return reply;
    return route.errorPage({ status: reply.status, message, headers: reply.headers ?? [] });
  }

  private challengeOf(requestState: RequestState | null): readonly string[] {
    if (requestState?.match.entry.style === 'browser') return SESSION_CHALLENGE;
    return this.options.isHostAuthenticated ? [] : BASIC_CHALLENGE;
  }

  private write(
    response: ServerResponse,
    reply: Reply,
    request: ReceivedRequest,
    requestState: RequestState | null,
  ): Written {
    try {
      return this.answers.write(response, reply, {
        request,
        client: clientOf(request, requestState?.proof),
        isAuthenticated: requestState?.identity !== undefined,
        isLongPoll: requestState?.match.entry.isLongPoll ?? false,
        isSameOriginOnly: requestState?.match.entry.isSameOriginOnly ?? false,
        isForBrowsers: requestState?.match.entry.style === 'browser',
        limitHeaders: requestState?.limit && rateLimitHeaders(requestState.limit),
        closes: this.requests.isDraining || reply.status === 408,
      });
    } catch (error) {
      this.breakOff(error, response, request);
      return { status: reply.status, done: null };
    }
  }

  private async taken(done: Promise<void>, response: ServerResponse, request: ReceivedRequest): Promise<void> {
    try {
      await done;
    } catch (error) {
      this.breakOff(error, response, request);
    }
  }

  private breakOff(error: unknown, response: ServerResponse, request: ReceivedRequest): void {
    this.logger.error({ requestId: request.id, err: error }, 'cannot write the answer');
    response.destroy();
  }
}

/** What the client calls itself. */
const programOf = (request: ReceivedRequest, { match }: RequestState): string =>
  clientNameOf(request.client, request.parameters.get('client'), match.entry.style === 'browser');

/** Null: somebody who need not have said who they are. */
function callerOf(request: ReceivedRequest, requestState: RequestState): Caller | null {
  if (!requestState.identity) return null;
  const { realmId, userId, session } = requestState.identity;
  const clientName = programOf(request, requestState);
  return session ? { realmId, userId, clientName, sessionId: session.id } : { realmId, userId, clientName };
}

/** What was asked for, or would have been, had the request got that far. */
const routeOf = (request: ReceivedRequest, requestState: RequestState | null): Route | undefined =>
  (requestState?.endpoint ?? requestState?.match.entry.endpoints.get(request.method))?.route;

/** Whether much may be read for the answer; of a file, to find out who may read it. Pictures, which are for anybody, cost next to nothing. */
const takesTurns = ({ method, auth, isExpensive, longPoll, streamsBody, limit }: Route): boolean =>
  (method === 'GET' || isExpensive) && !longPoll && !streamsBody && (auth === 'user' || limit !== 'none');
