import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Resolve as ResolveUseCase } from '@parley/domain/composition';
import { DomainError, type LogFollower, type RealmId, type RealmUrls, type UnitOfWork } from '@parley/domain/kernel';
import type { Middleware } from '@parley/http';
import type { Resolve } from '../kernel/resolve.js';
import type { AuditTrail } from '../observation/audit-trail.js';
import type { ReadinessReport } from '../observation/readiness.js';
import { argument, EVENT_TYPE, FUNCTION } from './argument-types.js';
import { type Chat, type ChatOptions, chatAs } from './chat.js';
import type { ConsumeOptions, Consumer, Consumers, EventHandler } from './consumers.js';
import { FacadeEvents, type ParleyEvent, type ParleyEventType } from './events.js';
import { type Holds, holdsOf } from './holds.js';
import { type Imports, importsOf } from './imports.js';
import { type Hook, type HookOptions, type HookTypes, HostHooks } from './message-hooks.js';
import { type Users, usersOf } from './people.js';
import { type Realms, realmsOf } from './realms.js';
import type { UserRef } from './references.js';
import { type ScimTokens, scimTokensOf } from './scim-tokens.js';
import { type Tokens, tokensOf } from './tokens.js';
import { type Visitors, visitorsOf } from './visitors.js';

/** Middleware; without `next`, a request listener for Node's own server. */
export type MountedHandler = (request: IncomingMessage, response: ServerResponse, next?: () => void) => void;

/**
 * Handler of requests in the form of the Fetch standard. Rejects with a TypeError if the body was read before, or is not as
 * long as its `Content-Length`.
 */
export type WebHandler = (
  request: Request,
  options?: {
    /** Address of the client, for limits and logs: frameworks know it apart from the request. */
    readonly address?: string | undefined;
  },
) => Promise<Response>;

/** @throws TypeError for a prefix that does not begin with a slash */
export function mounted(handler: RequestListener, prefix: string): MountedHandler {
  if (!prefix.startsWith('/')) throw new TypeError(`The path '${prefix}' must begin with a slash.`);
  const path = prefix.replace(/\/+$/, '');
  return (request, response, next) => {
    const below = pathBelow(path, request.url ?? '/');
    if (below !== null) {
      request.url = below;
      handler(request, response);
    } else if (next) next();
    else response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Not found');
  };
}

/** Returns the path below the prefix; null for other URLs. */
function pathBelow(path: string, url: string): string | null {
  if (!url.startsWith(path)) return null;
  const below = url.slice(path.length);
  if (below.startsWith('/')) return below;
  return below === '' || below.startsWith('?') ? `/${below}` : null;
}

export interface ErrorHandlerOptions {
  /** Returns the text to show instead of the error message. */
  readonly textOf?: (error: DomainError) => string;
}

/**
 * Error middleware for Express and compatible frameworks: responds to a `DomainError` with its status and `{ code,
 * message }` as JSON, and passes on other errors. Register it after the application's own routes.
 */
export const errorHandler =
  ({ textOf = ({ message }) => message }: ErrorHandlerOptions = {}) =>
  (error: unknown, _request: IncomingMessage, response: ServerResponse, next: (error: unknown) => void): void => {
    if (!(error instanceof DomainError) || response.headersSent) {
      next(error);
      return;
    }
    const { retryAfter } = error.details as { readonly retryAfter?: number };
    response.statusCode = error.status;
    response.setHeader('Content-Type', 'application/json');
    if (retryAfter !== undefined) response.setHeader('Retry-After', String(Math.ceil(retryAfter)));
    response.end(JSON.stringify({ code: error.code, message: textOf(error) }));
  };

/** Main API for applications. Methods throw a `DomainError` with a `code` and a `status`. */
export interface Facade {
  readonly realms: Realms;
  readonly users: Users;
  readonly visitors: Visitors;
  readonly scimTokens: ScimTokens;
  readonly tokens: Tokens;
  readonly imports: Imports;
  readonly holds: Holds;
  /** Returns the chat with one user's permissions. Cheap enough to call for each request. */
  as(user: UserRef, options?: ChatOptions): Chat;
  /**
   * Calls the listener after each commit, including commits by other processes on the same database. Events without a
   * listener are lost; `consume` delivers all events. Returns a function that removes the listener.
   */
  on<T extends ParleyEventType>(type: T, listener: (event: ParleyEvent<T>) => unknown): () => void;
  /**
   * Delivers every event to the handler at least once, in order per organization, across restarts and crashes. The
   * position is stored under the name. An exception redelivers the events with increasing delays.
   * @throws DomainError INVALID_CONSUMER_NAME, TOO_MANY_CONSUMERS
   */
  consume<T extends ParleyEventType = ParleyEventType>(
    name: string,
    handler: EventHandler<T>,
    options?: ConsumeOptions<T>,
  ): Promise<Consumer>;
  /**
   * Removes the position of an unneeded consumer, which would otherwise hold back log cleanup. Returns true if there
   * was one.
   */
  forgetConsumer(name: string): Promise<boolean>;
  /**
   * Calls the hook before every send or edit of a message, in process or over HTTP. Returns a function that removes the
   * hook.
   */
  before<T extends keyof HookTypes>(type: T, hook: Hook<T>, options?: HookOptions): () => void;
}

export interface FacadeParts {
  readonly consumers: Consumers;
  readonly follower: Pick<LogFollower, 'followAll'>;
  readonly uow: UnitOfWork;
  readonly urls: RealmUrls;
  readonly audits: AuditTrail;
}

export function facadeOf(resolve: Resolve, { consumers, follower, uow, urls, audits }: FacadeParts): Facade {
  const users = usersOf(resolve, audits);
  return {
    realms: realmsOf(uow, urls, resolve, audits),
    users,
    visitors: visitorsOf(resolve, users),
    scimTokens: scimTokensOf(resolve, audits),
    tokens: tokensOf(resolve, audits),
    imports: importsOf(resolve, audits),
    holds: holdsOf(resolve, uow, audits),
    as: (ref, options) => chatAs(resolve, ref, options),
    on(type, listener) {
      argument('The type', EVENT_TYPE, type);
      argument('The listener', FUNCTION, listener);
      follower.followAll();
      return resolve(FacadeEvents).on(type, listener);
    },
    consume: (name, handler, options = {}) => {
      follower.followAll();
      return consumers.consume(name, handler, options);
    },
    forgetConsumer: (name) => consumers.forget(name),
    before: (type, hook, options) => resolve(HostHooks).before(type, hook, options),
  };
}

/** Running chat engine. */
export interface Parley extends Facade {
  /** Router for an Express app or compatible framework, under any path: `app.use('/chat', parley.router)`. */
  readonly router: Middleware;
  /**
   * Request listener for Node's own server, faster than Express: `createServer(parley.handler)`. Paths begin at the
   * root regardless of the public URL.
   */
  readonly handler: RequestListener;
  /**
   * Returns a handler below a path; default: the path of the public URL. For Node servers with other paths, and for
   * frameworks that pass on Node's requests. Other paths go to `next`, or get 404.
   */
  mount(prefix?: string): MountedHandler;
  /**
   * Handles requests of frameworks that speak the Fetch standard, below the path of the public URL; others get 404. Bodies
   * are streamed, and an aborted request ends a waiting poll.
   */
  readonly fetch: WebHandler;
  /** Singleton of a use case for in-process calls: `parley.useCase(CreateRealm)`. */
  readonly useCase: ResolveUseCase;
  /** Returns the organization with this string id; null if there is none. */
  findRealm(stringId: string): Promise<RealmId | null>;
  /**
   * Reports whether the server can accept requests. If not, includes the reason: storage not writable, disk full,
   * shutting down.
   */
  ready(): Promise<ReadinessReport>;
  /**
   * Returns Prometheus metrics as `text/plain; version=0.0.4`. All names begin with `parley_`, so the text can be
   * appended to your own.
   * @throws Error without the option `metrics`
   */
  metrics(): Promise<string>;
  /** Finishes pending requests, ends long polls and closes the database. Idempotent. */
  close(): Promise<void>;
}
