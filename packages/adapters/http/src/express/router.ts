import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express from 'express';
import { YieldingCalls } from '../limits/yielding.js';
import type { Reply } from '../wire/reply.js';
import type { PathParameters } from '../wire/request.js';
import { beginCallOf, Call } from './call.js';
import { checks, checksOfUnknownPaths } from './checks.js';
import { API_PREFIX, type TablePath, tablePathsOf } from './paths.js';
import { ReceivedRequest } from './received-request.js';
import { respond } from './replies.js';
import { warn } from './request-log.js';
import { type AdapterOptions, Services } from './services.js';
import { aim, belowOrganization, readTarget, restoreTarget, targetIn } from './target.js';

/** Middleware signature of Express and Connect, declared here because their types may not be installed. */
export type Middleware = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void;

export interface ExpressAdapter {
  /** `express.Router` of all operations. Requests to other paths go on to the next middleware, with their own URL. */
  readonly router: Middleware;
  /** Writes a reply to a request that the router did not take, with the headers of all responses (protocol §13). */
  respond(request: IncomingMessage, response: ServerResponse, reply: Reply): void;
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

export function createExpressAdapter(options: AdapterOptions): ExpressAdapter {
  const services = new Services(options);
  return {
    // Express's types require its prototypes, which its router does not need.
    router: routerOf(services) as unknown as Middleware,
    respond: (request, response, reply) => respond(services, request, response, reply),
    get inFlight() {
      return services.requests.count;
    },
    get bytesInFlight() {
      return { bodies: services.bodies.heldBytes, responses: services.responses.heldBytes };
    },
    drain: (patienceMs) => services.requests.drain(patienceMs),
  };
}

/** Requests handled per event loop turn, once the requests of a turn have taken `IMMEDIATE_MS`. */
const REQUESTS_PER_TURN = 16;
const IMMEDIATE_MS = 5;

/**
 * Creates a Node server listener of a router; other requests go to `otherwise`. If one caller sends many requests at
 * once, other callers do not wait behind them.
 */
export function serveInTurns(router: Middleware, otherwise: RequestListener): RequestListener {
  const calls = new YieldingCalls(REQUESTS_PER_TURN, IMMEDIATE_MS);
  return (request, response) =>
    calls.run(() => router(request, response, () => otherwise(request, response)), request.headers.authorization);
}

const EXACT = { caseSensitive: true, strict: true };

function routerOf(services: Services): express.Router {
  const operations = operationsOf(services);
  const refuseUnknownPath = beginning(services, null, checksOfUnknownPaths);
  const router = express.Router(EXACT).use(mountCheck(services), readTarget, operations);
  router.use(API_PREFIX, refuseUnknownPath);
  if (services.options.realmsByPath) {
    router.use(organizationsOf(express.Router(EXACT).use(operations).use(API_PREFIX, refuseUnknownPath)));
  }
  return router.use(restoreTarget);
}

/** Warns at the first request from an application that mounts the router elsewhere than at the path of the public URL. */
function mountCheck({ logger, options: { publicUrl } }: Services): express.RequestHandler {
  const expected = publicUrl === undefined ? null : new URL(publicUrl).pathname.replace(/\/$/, '') || '/';
  let isChecked = expected === null;
  return (request, _response, next) => {
    const path = request.baseUrl || '/';
    // Without an application, `parley serve` uses the router itself.
    if (!isChecked && 'app' in request && path !== expected) {
      warn(
        logger,
        {},
        `The router is mounted at ${path}, but the path of \`url\` is ${expected}. Links and pictures lead there: use ` +
          `app.use('${expected}', parley.router), change \`url\`, or let the proxy map the paths.`,
      );
    }
    isChecked = true;
    next();
  };
}

/** Tries paths that begin with an organization name without it; they belong to the API only if the remainder does. */
function organizationsOf(below: express.Router): express.RequestHandler {
  return (request, response, next) => {
    const target = belowOrganization(targetIn(request));
    if (!target) return next();
    aim(request, target);
    below(request, response, next);
  };
}

/** Prefix and first segment of a path. */
const GROUP = /^(?:\/api\/v1|\/json)?\/[^/]*/;

/**
 * Finds the router of the first path segment, because a router compares its paths one after the other. Routers are
 * made on first use, since compiling all of them takes long.
 */
function operationsOf(services: Services): express.RequestHandler {
  const groups = new Map<string, { readonly paths: TablePath[]; router?: express.Router }>();
  for (const path of tablePathsOf(services.options.routes)) {
    const [name] = GROUP.exec(path.path)!;
    const group = groups.get(name);
    if (group) group.paths.push(path);
    else groups.set(name, { paths: [path] });
  }
  return (request, response, next) => {
    const group = groups.get(GROUP.exec(request.url)?.[0] ?? '');
    if (!group) return next();
    group.router ??= groupRouter(group.paths, services);
    group.router(request, response, next);
  };
}

function groupRouter(paths: readonly TablePath[], services: Services): express.Router {
  const group = express.Router(EXACT);
  for (const name of new Set(paths.flatMap(({ integers }) => integers))) group.param(name, acceptDigits);
  for (const name of new Set(paths.flatMap(({ rest }) => rest ?? []))) group.param(name, joinSegments);
  // One handler for all methods: `PATCH /users/me` must not reach `/users/:email`.
  for (const path of paths) group.all(path.express, beginning(services, path, checks));
  return group;
}

const acceptDigits: express.RequestParamHandler = (request, _response, next, value: string, name) => {
  if (!/^\d+$/.test(value)) return next('route');
  request.params[name] = value.replace(/^0+(?=\d)/, '');
  next();
};

const joinSegments: express.RequestParamHandler = (request, _response, next, segments: string[], name) => {
  if (segments[0] === '') return next('route');
  request.params[name] = segments.join('/');
  next();
};

/** Begins a call and passes the request to its checks. */
function beginning(services: Services, path: TablePath | null, next: express.Router): express.RequestHandler {
  return (message, response, done) => {
    const request = new ReceivedRequest(message, response, targetIn(message), services.proxies);
    beginCallOf(message, new Call(services, request, response, path, message.params as PathParameters));
    next(message, response, done);
  };
}
