import type { IncomingMessage, ServerResponse } from 'node:http';
import { OpenReadContext } from '@parley/domain/channels';
import type { Resolve } from '@parley/domain/composition';
import { type Caller, DomainError, type TokenAction } from '@parley/domain/kernel';
import { RequireMessagesInScope } from '@parley/domain/messages';
import express from 'express';
import {
  type AnonymousClient,
  type Auth,
  type Authorize,
  type CallerOf,
  type Context,
  enforceRoles,
  type Route,
} from '../declarations/route.js';
import { ClientGone } from '../limits/budgets.js';
import { parse } from '../params/params.js';
import { clientOf, isProven } from '../security/authenticate.js';
import { csrfTokenOf, withoutCsrfToken } from '../security/csrf.js';
import { parseForm } from '../transport/bodies.js';
import { encodingOf } from '../transport/content-encoding.js';
import {
  HttpRefusal,
  malformedRequest,
  methodNotAllowed,
  type Reply,
  serverBusy,
  success,
  unknownPath,
  withIgnoredParameters,
} from '../wire/reply.js';
import { Parameters } from '../wire/request.js';
import { type Call, callOf } from './call.js';
import { type Endpoint, isMethod } from './paths.js';
import { replyToError, send, sendError } from './replies.js';
import {
  auditedLogInOf,
  changesBetween,
  isAdministration,
  isReadingOthers,
  isRecorded,
  originOf,
} from './request-log.js';
import { endRouting, hasOneHost, targetIn } from './target.js';

/** Step of every request: an Express middleware with one job. Its errors go to `replyToError`. */
type Check = (request: IncomingMessage, response: ServerResponse, next: () => void) => void | Promise<void>;

const EVERY_PATH = /^/;
const OPTIONS_REPLY = { status: 204, body: '' } as const;

/** Holds back a pipelined request until earlier responses of its connection are sent. */
const awaitTurn: Check = async (request, response, next) => {
  const isFirst = response.socket !== null;
  if (isFirst || (await callOf(request).services.requests.turnOf(request, response))) next();
};

/** Registers the request, which `send` ends. Express has found the path, so the URL is as received again. */
const beginCall: Check = (request, _response, next) => {
  endRouting(request);
  const call = callOf(request);
  call.startedAt = performance.now();
  call.services.requests.add(request);
  next();
};

const traceCall: Check = (request, _response, next) => {
  const call = callOf(request);
  call.span = call.services.options.tracer?.start(request) ?? null;
  if (call.span) void call.span.run(async () => next());
  else next();
};

/** @throws HttpRefusal 400 for a request with several hosts */
const checkHost: Check = (request, _response, next) => {
  if (!hasOneHost(request, targetIn(request))) throw malformedRequest();
  next();
};

const refuseUnknownPath: Check = () => {
  throw unknownPath();
};

const answerOptions: Check = (request, _response, next) => {
  const call = callOf(request);
  if (call.request.method !== 'OPTIONS') return next();
  const { allowHeader, optionsHeaders } = call.known;
  return send(call, { ...OPTIONS_REPLY, headers: ['Allow', allowHeader, ...optionsHeaders()] });
};

/** Sheds load before credentials are checked. @throws HttpRefusal 503 */
const shedUnproven: Check = (request, _response, next) => {
  const call = callOf(request);
  shed(call, call.route);
  next();
};

/**
 * Reads a small body early, because its form field `method` may change the method. Errors in body and credentials are
 * reported later, in contract order; credentials determine the body limit.
 */
const overrideMethod: Check = async (message, _response, next) => {
  const call = callOf(message);
  const { services, request, known } = call;
  if (request.method !== 'POST' || !services.bodies.isSmall(message)) return next();
  const route = known.endpoints.get('POST')?.route;
  if (known.isForUsers) call.proof = await services.callers.prove(request, known.style, route);
  // Decoded once the caller is authenticated.
  if (encodingOf(message) !== null && !isProven(call.proof)) return next();
  try {
    call.body = await services.bodies.read(request, call, route);
  } catch (error) {
    if (error instanceof ClientGone) throw error;
    call.bodyRefusal = error;
  }
  const override = call.body?.fields.get('method')?.toUpperCase();
  if (override !== undefined && isMethod(override)) request.method = override;
  next();
};

/** @throws HttpRefusal 405 */
const selectOperation: Check = (request, _response, next) => {
  const call = callOf(request);
  const endpoint = call.known.endpoints.get(call.request.method);
  if (!endpoint) throw methodNotAllowed(call.known.allowed);
  call.endpoint = endpoint;
  next();
};

/** Authenticates the caller if needed; spectators may get another form of the operation. */
const authenticate: Check = async (message, _response, next) => {
  const call = callOf(message);
  const { services, request, known } = call;
  const { route, forSpectators } = call.routed;
  services.browsers.checkPage(request, route);
  if (route.authorize) await authorizeProgram(call, route.authorize);
  if (route.providesCsrfToken) await findCsrfToken(call);
  if (route.auth === 'visitor') call.proof = await services.callers.proveIfAny(request);
  if (route.auth === 'user') {
    call.proof ??= await services.callers.prove(request, known.style, route);
    if (forSpectators && 'refusal' in call.proof && call.proof.isNobody) call.endpoint = forSpectators;
    else call.identity = services.callers.identify(call.proof, request, call, route);
  }
  request.pathParameters = call.pathParameters;
  next();
};

/** Refuses changes that foreign pages send with the user's cookies. @throws HttpRefusal 403 */
const checkSender: Check = (request, _response, next) => {
  const call = callOf(request);
  const { identity, body } = call;
  call.services.browsers.checkSender(call.request, { identity, isPage: call.style === 'browser', body });
  next();
};

/** Sheds load after credentials are checked. @throws HttpRefusal 503 */
const shedProven: Check = (request, _response, next) => {
  const call = callOf(request);
  shed(call, call.routed.route);
  next();
};

/** @throws DomainError RATE_LIMITED */
const countCall: Check = (request, _response, next) => {
  const call = callOf(request);
  call.services.callLimits.countCall(call.request, call, call.routed.route);
  next();
};

/** @throws DomainError of the first role requirement that the caller does not meet */
const checkRoles: Check = async (request, _response, next) => {
  const { routed, identity, services } = callOf(request);
  const { roleRequirements } = routed.route;
  if (roleRequirements.length > 0) await enforceRoles(roleRequirements, identity!, services.options.roleLookup);
  next();
};

/** @throws HttpRefusal */
const readBody: Check = async (message, _response, next) => {
  const call = callOf(message);
  const { services, request } = call;
  if (call.bodyRefusal) throw call.bodyRefusal;
  call.body ??= await services.bodies.read(request, call, call.routed.route);
  const { body } = call;
  request.files = body.files;
  request.content = body.content ?? null;
  const fields = call.style === 'browser' ? withoutCsrfToken(body.fields) : body.fields;
  if (request.query || fields.size > 0) request.parameters = new Parameters(parseForm(request.query), fields);
  next();
};

const identifyCaller: Check = async (request, _response, next) => {
  const call = callOf(request);
  call.caller = callerOf(call) ?? (await anonymousClientOf(call));
  next();
};

/** @throws HttpRefusal of the first invalid parameter */
const readParameters: Check = (message, _response, next) => {
  const call = callOf(message);
  const { pathParameters, parameters } = call.request;
  const { dto, ignored } = parse(call.routed.route.dto, pathParameters, parameters);
  call.dto = dto;
  call.ignoredParameters = ignored;
  next();
};

/** Limits the request to the conversations of the caller's token. @throws HttpRefusal 403, DomainError UNKNOWN_MESSAGE */
const limitToScope: Check = async (request, _response, next) => {
  const call = callOf(request);
  const { routed, services, dto } = call;
  const caller = call.caller as Caller;
  const { scope } = routed.route;
  if (!caller.scope || typeof scope !== 'object') return next();
  if (caller.scope.readers === 'all') {
    call.caller = await inContext(call, caller, scope.action);
    if (scope.readers !== 'limited') return next();
  }
  if (scope.limit) {
    const limited = scope.limit(dto, { ...caller, scope: caller.scope });
    if (limited.messageIds) {
      const messages = services.options.resolve(RequireMessagesInScope);
      await messages.execute(caller, caller.scope, limited.messageIds);
    }
    call.dto = (limited.dto as object | undefined) ?? dto;
  }
  next();
};

/** Finds the context of a request with a token for a shared view. @throws DomainError READ_CONTEXT_REQUIRED for writes */
async function inContext({ request, services }: Call, caller: Caller, action: TokenAction): Promise<Caller> {
  const wanted = request.header('x-parley-context');
  if (action === 'write' && wanted === undefined) {
    throw new DomainError('READ_CONTEXT_REQUIRED', 'The header X-Parley-Context is missing.');
  }
  const context = await services.options.resolve(OpenReadContext).execute(caller, wanted);
  return { ...caller, scope: { ...caller.scope!, context } };
}

/**
 * Executes the operation and sends its reply. Returns no promise: Express would hold the state of its routers until it
 * settles, for each waiting poll.
 */
const perform: Check = (request) => {
  const call = callOf(request);
  operate(call)
    .then((reply) => send(call, reply))
    .catch((error: unknown) => sendError(error, call));
};

/** Middlewares of every request to an operation, in the contract's order. */
export const checks = express
  .Router()
  .all(
    EVERY_PATH,
    awaitTurn,
    beginCall,
    traceCall,
    checkHost,
    answerOptions,
    shedUnproven,
    overrideMethod,
    selectOperation,
    authenticate,
    checkSender,
    shedProven,
    countCall,
    checkRoles,
    readBody,
    identifyCaller,
    readParameters,
    limitToScope,
    perform,
    replyToError,
  );

/** Middlewares of requests to other paths of the API. */
export const checksOfUnknownPaths = express
  .Router()
  .all(EVERY_PATH, awaitTurn, beginCall, traceCall, checkHost, refuseUnknownPath, replyToError);

/** Sheds anonymous requests first. @throws HttpRefusal 503 */
function shed({ services, proof }: Call, route: Route | undefined): void {
  const { level } = services.load;
  if (level === 'normal' || !route || route.isNeverShed || (route.auth === 'visitor' && !proof)) return;
  const isAnonymous = route.auth !== 'user' && !isProven(proof);
  if (isAnonymous || (route.isExpensive && level === 'overloaded')) throw serverBusy();
}

async function authorizeProgram(call: Call, authorize: Authorize): Promise<void> {
  const { services, request } = call;
  const { realms, resolve } = services.options;
  try {
    call.client = await authorize(request, await realms.findRealm(request.realmAddress), resolve);
  } catch (error) {
    if (error instanceof HttpRefusal) services.callLimits.countAddress('api_by_ip', request, call);
    throw error;
  }
}

/** Finds the CSRF token for pages that cannot read the cookie. @throws HttpRefusal 403 for pages of another origin */
async function findCsrfToken(call: Call): Promise<void> {
  const { services, request, known } = call;
  services.browsers.checkOwnPage(request);
  const proof = await services.callers.prove(request, known.style);
  call.proof = proof;
  request.csrfToken = csrfTokenOf(request, 'identity' in proof ? proof.identity : undefined);
}

/** Returns null for an anonymous caller. */
function callerOf({ identity, clientName }: Call): Caller | null {
  if (!identity) return null;
  const { realmId, userId, session, scope } = identity;
  const caller = scope ? { realmId, userId, clientName, scope } : { realmId, userId, clientName };
  return session ? { ...caller, sessionId: session.id } : caller;
}

async function anonymousClientOf({ services, request, clientName }: Call): Promise<AnonymousClient> {
  const realmId = await services.options.realms.findRealm(request.realmAddress);
  return { realmId, host: request.host, ip: request.ip, clientName };
}

/** Compares the state of an administrative operation's target before and after the operation. */
async function auditedReplyOf(call: Call): Promise<Reply> {
  const { services, identity, request } = call;
  const { audits } = services.options;
  const { route } = call.routed;
  if (!audits || !identity || !isAdministration(route)) return recordedReplyOf(call);
  const read = () =>
    audits.stateOf(identity.realmId, route, request.pathParameters).catch((error) => {
      services.logger.error({ err: error }, 'cannot read what an audit line describes');
      return null;
    });
  const before = await read();
  const reply = await recordedReplyOf(call);
  call.changes = changesBetween(before, await read());
  return reply;
}

/** Writes rows of the audit log in the operation's units of work. */
function recordedReplyOf(call: Call): Promise<Reply> {
  const { services, identity, client, request } = call;
  const { route } = call.routed;
  const { auditRecorder } = services.options;
  if (!auditRecorder || !(identity || client) || !isRecorded(route)) return replyOf(call);
  const operation = {
    action: `${route.method} ${route.path}`,
    path: route.path,
    actorId: identity?.userId ?? null,
    ...(client ? { program: 'scim' as const, programName: client.name } : { program: null }),
    target: request.pathParameters,
    ...originOf(request),
    reads: identity && isReadingOthers(route) ? identity.realmId : null,
  };
  return auditRecorder.run(operation, () => replyOf(call));
}

async function operate(call: Call): Promise<Reply> {
  const { services, proof, dto } = call;
  const { route } = call.routed;
  let reply: Reply;
  try {
    const operation = async () => {
      if (call.request.isGone) throw new ClientGone();
      const performed = await auditedReplyOf(call);
      const logIn = auditedLogInOf(performed, call.caller!.realmId, call.request);
      if (logIn) await call.services.options.auditRecorder?.recordLogIn(logIn);
      return performed;
    };
    reply = isQueued(route) ? await services.reads.run(clientOf(call.request, proof), operation) : await operation();
  } finally {
    if (typeof route.limit === 'object') services.callLimits.show(route.limit, dto, call.caller!, call);
  }
  // Protocol §4 excepts incoming webhooks.
  const whole = route.body === 'raw' ? reply : withIgnoredParameters(reply, call.ignoredParameters);
  const { scope } = call.caller as Partial<Caller>;
  return scope?.context === undefined
    ? whole
    : { ...whole, headers: [...(whole.headers ?? []), 'X-Parley-Context', scope.context] };
}

type ExecutesInput = { execute(caller: Caller | AnonymousClient, input: unknown): Promise<unknown> };

async function replyOf(call: Call): Promise<Reply> {
  const { request, proof, client, dto, services } = call;
  const { route } = call.routed;
  const { resolve } = services.options;
  const useCase = useCaseOf(call.routed, resolve);
  const caller = call.caller as CallerOf<Auth>;
  if (route.handle) {
    const identity = isProven(proof) ? proof.identity : undefined;
    const refusal = proof && 'refusal' in proof ? proof.refusal : undefined;
    const context = { request, caller, dto, identity, refusal, client, useCase, resolve };
    return route.handle(context as Context<Auth, unknown, unknown>);
  }
  const output = await (useCase as ExecutesInput).execute(caller, route.toInput?.(dto, request, caller));
  if (!route.present) return success();
  return success(await route.present(output, { dto, caller, variant: request.variant, request }));
}

function useCaseOf(endpoint: Endpoint, resolve: Resolve): unknown {
  if (endpoint.route.useCase) endpoint.useCase ??= resolve(endpoint.route.useCase);
  return endpoint.useCase;
}

/**
 * True if the response may need many reads, such as access checks of files. Public pictures are exempt because they
 * cost little.
 */
const isQueued = ({ method, auth, isExpensive = false, longPoll, body, limit }: Route): boolean =>
  (method === 'GET' || isExpensive) && !longPoll && body !== 'stream' && (auth === 'user' || limit !== 'none');
