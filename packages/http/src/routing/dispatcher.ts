import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ReceivedBlob } from '@parley/domain/files';
import { type Caller, type Clock, DomainError, type RealmId } from '@parley/domain/shared';
import { contractPathOf } from '../contract-operations.js';
import { AnswerWriter, type Written } from './answer-writer.js';
import { isAdministration, isFailedLogin } from './audit.js';
import {
  type Authenticator,
  type Identity,
  notForWebhookBots,
  notLoggedIn,
  type RealmDirectory,
} from './authenticate.js';
import { type Body, ClientGone, type FileRules, type FileSink, parseForm, readBody } from './body.js';
import { ByteBudget, Charge, type ClientKey } from './byte-budget.js';
import { CallLimits } from './call-limits.js';
import { BASIC_CHALLENGE, SESSION_CHALLENGE } from './challenges.js';
import { clientNameOf } from './client-identity.js';
import { ClientTurns } from './client-turns.js';
import { CSRF_COOKIE, readCookie, SessionCookies } from './cookies.js';
import {
  CSRF_FIELD,
  checkCsrf,
  checkOwnPage,
  checkSameOrigin,
  isSafeMethod,
  newCsrfToken,
  type TrustedOrigins,
} from './csrf.js';
import { replyToError } from './error-replies.js';
import { HttpRefusal, malformedRequest, methodNotAllowed, serverBusy, unknownPath } from './errors.js';
import { type LoadGauge, noLoad } from './load.js';
import { checkLocalAccess, type PagesAllowed } from './local-access.js';
import { type Logger, silentLogger, warn } from './logger.js';
import { type Endpoint, isMethod, type Match, Matcher, pathParameters, type Style } from './matcher.js';
import type { AnsweredRequest, RequestObserver, RequestTracer } from './observation.js';
import { parse } from './params.js';
import { ipGroup, type LimitState, type RateLimiter, rateLimitHeaders } from './rate-limit.js';
import { ReceivedRequest } from './received-request.js';
import { type Reply, success, withIgnoredParameters } from './reply.js';
import { Parameters } from './request.js';
import { hasOneHost, type RequestTarget, targetOf } from './request-target.js';
import { RequestsInFlight } from './requests-in-flight.js';
import { enforceRoles, type RoleLookup } from './role-requirements.js';
import type { AnonymousClient, Auth, CallerOf, Context, Route, UseCaseKey } from './route.js';
import { CLIENT_SHARE, TRANSPORT_LIMITS, type TransportLimits } from './transport-limits.js';
import { type ProxyTrust, TrustedProxies } from './trusted-proxies.js';

export interface DispatcherOptions {
  readonly routes: readonly Route[];
  /** Answers the instance of a use case; asked once for each, when it is first needed. */
  readonly resolve: <U>(useCase: UseCaseKey<U>) => U;
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
  /** Told of every answer. */
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

/** An entry of the table with what was looked up for it. */
interface CompiledRoute extends Endpoint {
  useCase: unknown;
  /** The form of it that those get who have not logged in. */
  readonly forSpectators: CompiledRoute | undefined;
}

type ExecutesInput = { execute(caller: Caller | AnonymousClient, input: unknown): Promise<unknown> };

/** Whose credentials came with a request, or what is wrong with them. */
type Proof = { readonly identity: Identity } | { readonly refusal: unknown; readonly isNobody?: boolean };

interface LocatedPath {
  /** From the mount path on, without the organization's part. */
  readonly path: string;
  /** `/` and a string id; null: there is none. */
  readonly realmPath: string | null;
  readonly match: Match<CompiledRoute> | null;
}

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

/** Of all routes but those at the root. */
const PREFIX = '/api/v1';
/** `/shop/api/v1/messages`; string ids of organizations are lower case. */
const REALM_PATH = /^(\/[a-z0-9-]+)(\/.*)$/;
/** Of the same ones, for browsers in which somebody has logged in. */
const BROWSER_PREFIX = '/json';
const styleOfRoot = (path: string): Style => (/^\/(json|accounts)\//.test(path) ? 'browser' : 'root');
const NO_BODY: Body = { fields: new Map(), files: [] };
const NO_ORIGINS: TrustedOrigins = new Set();
const OPTIONS_REPLY = { status: 204, body: '' } as const;

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new TableDispatcher(options);
}

class TableDispatcher implements Dispatcher {
  private readonly requests = new RequestsInFlight();
  private readonly clientTurns = new ClientTurns();
  private readonly matcher = new Matcher<CompiledRoute>();
  private readonly limits: TransportLimits;
  private readonly budgets;
  private readonly answers: AnswerWriter;
  private readonly load: LoadGauge;
  private readonly logger: Logger;
  private readonly proxies: TrustedProxies;
  private readonly callLimits: CallLimits;
  private readonly publicUrl: URL;
  private readonly cookies: SessionCookies;
  private readonly authenticators: Readonly<Record<Style, readonly Authenticator[]>>;
  private readonly observers: readonly RequestObserver[];

  constructor(private readonly options: DispatcherOptions) {
    const limits = { ...TRANSPORT_LIMITS, ...options.limits };
    this.limits = limits;
    const budget = (total: number, ofOneRequest: number) =>
      new ByteBudget(total, Math.max(total * CLIENT_SHARE, 2 * ofOneRequest));
    this.budgets = {
      anonymousBodies: budget(limits.anonymousBodiesBytes, limits.anonymousBodyBytes),
      bodies: budget(limits.bodiesBytes, limits.bodyBytes),
      files: budget(limits.filesBytes, 2 * limits.fileBytes),
      uploads: new ByteBudget(limits.uploads, limits.uploadsPerUser),
    };
    this.answers = new AnswerWriter(limits);
    this.load = options.load ?? noLoad;
    this.logger = options.logger ?? silentLogger;
    this.observers = options.observers ?? [];
    this.proxies = new TrustedProxies(options.trustedProxies);
    this.callLimits = new CallLimits(options.limiter, this.proxies.exist, this.logger);
    this.publicUrl = new URL(options.publicUrl ?? 'http://localhost');
    this.cookies = new SessionCookies(this.publicUrl.href);
    const browserAuthenticators = options.browserAuthenticators ?? [];
    this.authenticators = {
      api: options.authenticators,
      browser: browserAuthenticators,
      root: [...new Set([...options.authenticators, ...browserAuthenticators])],
    };
    this.addRoutes(options.routes);
  }

  private addRoutes(routes: readonly Route[]): void {
    const add = (path: string, route: Route, style: Style, forSpectators?: Route) => {
      this.matcher.add(path, (names) => {
        const compiled = { names, style, useCase: undefined, forSpectators: undefined };
        return { ...compiled, route, forSpectators: forSpectators && { ...compiled, route: forSpectators } };
      });
    };
    const keyOf = ({ method }: Route, path: string) => `${method} ${path}`;
    const atRoot = new Map(routes.filter((it) => it.atRoot).map((it) => [keyOf(it, it.path), it]));
    for (const route of routes) {
      if (route.atRoot) continue;
      add(PREFIX + route.path, route, route.takesSessions ? 'root' : 'api');
      if (route.isApiOnly) continue;
      const path = BROWSER_PREFIX + route.path;
      add(path, route, 'browser', atRoot.get(keyOf(route, path)));
      atRoot.delete(keyOf(route, path));
    }
    for (const route of atRoot.values()) {
      add(route.path, route, route.errorPage ? 'root' : styleOfRoot(route.path), route.forSpectators);
    }
  }

  get inFlight(): number {
    return this.requests.count;
  }

  get bytesInFlight(): Dispatcher['bytesInFlight'] {
    const { anonymousBodies, bodies, files } = this.budgets;
    return { bodies: anonymousBodies.used + bodies.used + files.used, answers: this.answers.heldBytes };
  }

  async handle(raw: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const target = targetOf(raw);
    const { path, realmPath, match } = this.locate(target.path);
    if (!match && !this.isOurs(path)) return false;
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
    if (reply && requestState?.match.entry.style === 'browser') reply = this.forBrowser(reply, request, requestState);
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
    this.log(request, requestState, answered);
    return true;
  }

  /** Where this fails, the sweep finds them. */
  private discard({ blobs }: RequestState): void {
    for (const blob of blobs) {
      this.options.files?.discard(blob).catch((error) => this.logger.error({ err: error }, 'cannot remove a file'));
    }
  }

  isHot(raw: IncomingMessage): boolean {
    const endpoints = this.locate(targetOf(raw).path).match?.entry.endpoints;
    return endpoints?.get(raw.method ?? '')?.route.hot ?? false;
  }

  drain(patienceMs: number): Promise<void> {
    return this.requests.drain(patienceMs);
  }

  /** A path below an organization's, where there are such, is one of ours only if it is without it. */
  private locate(path: string): LocatedPath {
    const match = this.matcher.match(path);
    if (match || !this.options.realmsByPath || this.isOurs(path)) return { path, realmPath: null, match };
    const [, realmPath, below] = REALM_PATH.exec(path) ?? [];
    if (realmPath === undefined) return { path, realmPath: null, match };
    return { path: below!, realmPath, match: this.matcher.match(below!) };
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
    if (request.method === 'POST' && this.isSmall(request.raw)) {
      if (entry.isForUsers) requestState.proof = await this.prove(request, entry.style);
      try {
        body = await this.readBody(request, requestState, entry.endpoints.get('POST')?.route);
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
    this.checkSender(request, requestState, body);
    this.shed(route);
    this.callLimits.countCall(request, requestState, route);
    if (route.roleRequirements.length > 0)
      await enforceRoles(route.roleRequirements, requestState.identity!, this.options.roleLookup);

    if (bodyRefusal) throw bodyRefusal;
    body ??= await this.readBody(request, requestState, route);
    request.files = body.files;
    const fields = entry.style === 'browser' ? withoutCsrfToken(body.fields) : body.fields;
    request.parameters = query || fields.size > 0 ? new Parameters(parseForm(query), fields) : Parameters.none;
    const caller = await this.callerOf(request, requestState);

    const { dto, ignored } = parse(route.dto, request.pathParameters, request.parameters);
    try {
      const operate = () => this.operate(endpoint, request, caller, dto);
      const client = this.clientOf(request, requestState);
      return withIgnoredParameters(
        await (takesTurns(route) ? this.clientTurns.run(client, request, operate) : operate()),
        ignored,
      );
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
    this.guard(request, route);
    if (route.tellsCsrfToken) await this.findCsrfToken(request, requestState);
    if (route.auth !== 'user') return found;
    requestState.proof ??= await this.prove(request, style, route);
    const { proof } = requestState;
    if (forSpectators && 'refusal' in proof && proof.isNobody) {
      requestState.endpoint = forSpectators;
      return forSpectators;
    }
    requestState.identity = this.identify(proof, request, requestState, route);
    return found;
  }

  /** Lets only our own pages change something by what browsers send of their own accord. @throws HttpRefusal 403 */
  private checkSender(request: ReceivedRequest, { identity, match }: RequestState, body: Body | undefined): void {
    const isBrowser = match.entry.style === 'browser' || identity?.session !== undefined;
    if (isSafeMethod(request.method) || !(isBrowser || identity?.isHostLogin)) return;
    const { publicUrl } = this;
    const isSecure = this.cookies.isSecure(request);
    if (isBrowser) {
      const field = body?.fields.get(CSRF_FIELD);
      checkCsrf(request, { isSecure, publicUrl, expected: identity?.session?.csrfToken, field });
    } else checkSameOrigin(request, { isSecure, publicUrl, trusted: this.options.trustedOrigins ?? NO_ORIGINS });
  }

  /** For pages that cannot read the cookie, as they are elsewhere. @throws HttpRefusal 403, to pages of another origin */
  private async findCsrfToken(request: ReceivedRequest, requestState: RequestState): Promise<void> {
    checkOwnPage(request, { isSecure: this.cookies.isSecure(request), publicUrl: this.publicUrl });
    const proof = await this.prove(request, requestState.match.entry.style);
    requestState.proof = proof;
    request.csrfToken = csrfTokenOf(request, 'identity' in proof ? proof.identity : undefined);
  }

  /** Sees to it that the browser's pages have a token to send, before they have anything to send. */
  private forBrowser(reply: Reply, request: ReceivedRequest, { identity }: RequestState): Reply {
    if (!isSafeMethod(request.method) || request.method === 'OPTIONS' || reply.cacheControl !== undefined) return reply;
    const token = request.csrfToken ?? csrfTokenOf(request, identity);
    if (token === readCookie(request, CSRF_COOKIE)) return reply;
    return { ...reply, headers: [...(reply.headers ?? []), ...this.cookies.csrf(request, token)] };
  }

  /** @throws HttpRefusal 503, anonymous requests first. */
  private shed(route: Route | undefined): void {
    const { level } = this.load;
    if (level === 'normal' || !route) return;
    if (route.auth === 'anyone' || (route.isExpensive && level === 'overloaded')) throw serverBusy();
  }

  /** Whether anybody may make us keep it. */
  private isSmall(raw: IncomingMessage): boolean {
    return Number(raw.headers['content-length'] ?? Number.NaN) <= this.limits.anonymousBodyBytes;
  }

  /** More from those who have proved who they are. */
  private readBody(
    request: ReceivedRequest,
    requestState: RequestState,
    route: Route | undefined,
  ): Promise<Body> | Body {
    if (request.raw.headers['content-type'] === undefined) return NO_BODY;
    return this.receiveBody(request, requestState, route);
  }

  private async receiveBody(
    request: ReceivedRequest,
    requestState: RequestState,
    route: Route | undefined,
  ): Promise<Body> {
    const { limits, budgets } = this;
    const isProven = requestState.proof !== undefined && 'identity' in requestState.proof;
    const client = this.clientOf(request, requestState);
    const charge = new Charge(isProven ? budgets.bodies : budgets.anonymousBodies, client);
    requestState.charges.push(charge);
    const sink = route?.storesFiles ? (this.options.files ?? null) : null;
    const takesFiles = route?.takesFiles && (sink !== null || !route.storesFiles);
    const files = isProven && takesFiles ? new Charge(budgets.files, client) : null;
    if (files) requestState.charges.push(files);
    if (sink || route?.streamsBody) requestState.charges.push(this.uploadOf(client));
    const body = await readBody(request.raw, {
      maxBytes: isProven ? limits.bodyBytes : limits.anonymousBodyBytes,
      timeoutMs: files ? limits.filesMs : limits.bodyMs,
      charge,
      files: files && this.fileRules(files, sink, route),
    });
    for (const { blob } of body.files) if (blob) requestState.blobs.push(blob);
    return body;
  }

  /** One of those that may go on at the same time. @throws HttpRefusal */
  private uploadOf(client: ClientKey): Charge {
    const upload = new Charge(this.budgets.uploads, client);
    upload.add(1);
    return upload;
  }

  private fileRules(charge: Charge, sink: FileSink | null, route: Route | undefined): FileRules {
    const { fileBytes } = this.limits;
    const maxBytes = sink?.maxBytes ?? route?.maxFileBytes ?? fileBytes;
    return { maxBytes, maxSentBytes: 2 * Math.max(maxBytes, fileBytes), charge, sink };
  }

  private clientOf(request: ReceivedRequest, requestState: RequestState | null): ClientKey {
    const proof = requestState?.proof;
    return proof && 'identity' in proof ? proof.identity.userId : ipGroup(request.ip);
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

  /** Refuses what somebody else's page may have sent, where that could do harm. */
  private guard(request: ReceivedRequest, route: Route): void {
    let pages: PagesAllowed;
    if (route.isDevelopment) pages = 'own';
    else if (this.options.hasKnownPasswords && route.auth === 'anyone' && route.method === 'POST') pages = 'local';
    else return;
    checkLocalAccess(request, this.publicUrl.hostname, pages);
  }

  /** Whose the credentials are. What is wrong with them matters only where somebody has to have some. */
  private async prove(request: ReceivedRequest, style: Style, route?: Route): Promise<Proof> {
    const { keyParameter } = this.options;
    const authenticators = this.authenticators[style];
    try {
      for (const authenticator of route?.takesKeyParameter && keyParameter
        ? [...authenticators, keyParameter]
        : authenticators) {
        const identity = await authenticator.authenticate(request);
        if (identity) return { identity };
      }
      return { refusal: notLoggedIn(), isNobody: true };
    } catch (refusal) {
      return { refusal };
    }
  }

  /** @throws HttpRefusal 401, or whatever the credentials were refused with. */
  private identify(proof: Proof, request: ReceivedRequest, requestState: RequestState, route: Route): Identity {
    if ('refusal' in proof) {
      if (isRefusedCredentials(proof.refusal)) this.callLimits.countAddress('api_by_ip', request, requestState);
      throw proof.refusal;
    }
    if (proof.identity.botKind === 'incomingWebhook' && !route.allowsWebhookBots) throw notForWebhookBots();
    return proof.identity;
  }

  private async callerOf(
    request: ReceivedRequest,
    { identity, match }: RequestState,
  ): Promise<Caller | AnonymousClient> {
    const parameter = request.parameters.get('client');
    const clientName = clientNameOf(request.client, parameter, match.entry.style === 'browser');
    if (identity?.session) {
      const { realmId, userId, session } = identity;
      return { realmId, userId, clientName, sessionId: session.id };
    }
    if (identity) return { realmId: identity.realmId, userId: identity.userId, clientName };
    const realmId: RealmId | null = await this.options.realms.findRealm(request.realmAddress);
    return { realmId, host: request.host, ip: request.ip, clientName };
  }

  /** Null when nobody is left to be answered. */
  private replyTo(error: unknown, request: ReceivedRequest, requestState: RequestState | null): Reply | null {
    if (error instanceof ClientGone) return null;
    if (requestState) {
      const isProven = requestState.proof !== undefined && 'identity' in requestState.proof;
      const triesHeader = !isProven && request.header('authorization') !== undefined;
      requestState.hasFailedLogin = isFailedLogin(error, triesHeader);
    }
    const { reply, message, isBug } = replyToError(error, request.variant);
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
        client: this.clientOf(request, requestState),
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

  private isOurs(path: string): boolean {
    return path === PREFIX || path.startsWith(`${PREFIX}/`);
  }

  /** Never parameters, bodies or credentials; the path's pattern, not the path, which may hold an address. */
  private log(request: ReceivedRequest, requestState: RequestState | null, answered: AnsweredRequest): void {
    if (this.logger === silentLogger) return;
    const { route, status, durationMs } = answered;
    const { identity, hasFailedLogin } = requestState ?? {};
    const fields = {
      requestId: request.id,
      method: request.method,
      route: route?.path ?? contractPathOf(request.path),
      status,
      durationMs: Math.round(durationMs * 100) / 100,
      realmId: identity?.realmId,
      userId: identity?.userId,
      host: request.host.slice(0, MAX_LOGGED_LENGTH),
      ip: request.ip.slice(0, MAX_LOGGED_LENGTH),
      userAgent: request.header('user-agent')?.slice(0, MAX_LOGGED_LENGTH),
    };
    if (hasFailedLogin) warn(this.logger, { audit: 'failed log-in', ...fields }, 'failed log-in');
    else if (route && isAdministration(route))
      warn(this.logger, { audit: 'administration', ...fields }, 'administration');
    else this.logger.info(fields, 'request');
  }
}

/** What was asked for, or would have been, had the request got that far. */
const routeOf = (request: ReceivedRequest, requestState: RequestState | null): Route | undefined =>
  (requestState?.endpoint ?? requestState?.match.entry.endpoints.get(request.method))?.route;

/** What pages have to send: the session's, or anything that the browser's cookie says as well. */
const csrfTokenOf = (request: ReceivedRequest, identity: Identity | undefined): string =>
  identity?.session?.csrfToken ?? readCookie(request, CSRF_COOKIE) ?? newCsrfToken();

/** Whether much may be read for the answer. What sends bytes of a file has them read as they are sent. */
const takesTurns = ({ method, isExpensive, longPoll, streamsBody, limit }: Route): boolean =>
  (method === 'GET' || isExpensive) && !longPoll && !streamsBody && limit !== 'none';

/** It is no parameter of any operation. */
function withoutCsrfToken(fields: Body['fields']): Body['fields'] {
  if (!fields.has(CSRF_FIELD)) return fields;
  const others = new Map(fields);
  others.delete(CSRF_FIELD);
  return others;
}
/** Of what clients say of themselves. */
const MAX_LOGGED_LENGTH = 200;

/** The sender's mistake, and not our storage's. */
const isRefusedCredentials = (error: unknown): boolean =>
  error instanceof HttpRefusal || (error instanceof DomainError && error.code === 'UNAUTHENTICATED');
