import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Resolve as ResolveUseCase } from '@parley/domain/composition';
import { DomainError, type RealmId, type RealmUrls, type UnitOfWork } from '@parley/domain/kernel';
import type { Middleware } from '@parley/http';
import type { Resolve } from '../injector.js';
import type { ReadinessReport } from '../observation/readiness.js';
import { type Chat, type ChatOptions, chatAs } from './chat.js';
import type { ConsumeOptions, Consumer, Consumers, EventHandler } from './consumers.js';
import { LiveEvents, type ParleyEvent, type ParleyEventType } from './events.js';
import { type Hook, type HookOptions, type HookTypes, HostHooks } from './message-hooks.js';
import { type Realms, realmsOf, type Users, usersOf } from './people.js';
import type { UserRef } from './references.js';

/** Middleware for whatever calls it so; without `next` a listener of Node's own server. */
export type MountedHandler = (request: IncomingMessage, response: ServerResponse, next?: () => void) => void;

/** @throws TypeError for a prefix that does not begin with a slash */
export function mounted(handler: RequestListener, prefix: string): MountedHandler {
  if (!prefix.startsWith('/')) throw new TypeError(`A path begins with a slash: '${prefix}' does not.`);
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

/** Null: it is not below the path. */
function pathBelow(path: string, url: string): string | null {
  if (!url.startsWith(path)) return null;
  const below = url.slice(path.length);
  if (below.startsWith('/')) return below;
  return below === '' || below.startsWith('?') ? `/${below}` : null;
}

export interface ErrorHandlerOptions {
  /** What people get to read, instead of the text of the refusal. */
  readonly textOf?: (error: DomainError) => string;
}

/**
 * Middleware for errors, of Express and whatever calls it like this: answers refusals in JSON, `{ code, message }`, with their
 * status, and hands everything else on. Put it behind the application's own routes.
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

/** What an application calls every day. Refusals are thrown as `DomainError`, with a `code` and a `status`. */
export interface Facade {
  readonly realms: Realms;
  readonly users: Users;
  /** The chat as one user has it. Cheap: may be called for each request. */
  as(user: UserRef, options?: ChatOptions): Chat;
  /**
   * Calls back after the commit, also for what other processes of the same database commit; for what happens while nobody
   * listens use `consume`. Answers how it is ended.
   */
  on<T extends ParleyEventType>(type: T, listener: (event: ParleyEvent<T>) => unknown): () => void;
  /**
   * Hands every event to the handler, at least once, in the order of its organization, across restarts and crashes: where it
   * stands is stored under the name. A throw brings the same events again, later and later.
   * @throws DomainError INVALID_CONSUMER_NAME, TOO_MANY_CONSUMERS
   */
  consume<T extends ParleyEventType = ParleyEventType>(
    name: string,
    handler: EventHandler<T>,
    options?: ConsumeOptions<T>,
  ): Promise<Consumer>;
  /** Gives up the place of a consumer that is not needed any more: the log keeps what it has yet to read. Whether there was one. */
  forgetConsumer(name: string): Promise<boolean>;
  /** Asks before messages are sent or edited, whichever way. Answers how it is ended. */
  before<T extends keyof HookTypes>(type: T, hook: Hook<T>, options?: HookOptions): () => void;
}

export function facadeOf(resolve: Resolve, consumers: Consumers, uow: UnitOfWork, urls: RealmUrls): Facade {
  return {
    realms: realmsOf(uow, urls, resolve),
    users: usersOf(resolve),
    as: (ref, options) => chatAs(resolve, ref, options),
    on: (type, listener) => resolve(LiveEvents).on(type, listener),
    consume: (name, handler, options = {}) => consumers.consume(name, handler, options),
    forgetConsumer: (name) => consumers.forget(name),
    before: (type, hook, options) => resolve(HostHooks).before(type, hook, options),
  };
}

/** A chat engine at work. */
export interface Parley extends Facade {
  /** For an Express app, or another that takes its middleware, under any path: `app.use('/chat', parley.router)`. */
  readonly router: Middleware;
  /**
   * For a server of Node's own, quicker than through Express: `createServer(parley.handler)`. Paths begin at the root, whatever
   * the public address says.
   */
  readonly handler: RequestListener;
  /**
   * The same below a path, by default that of the public address: for a server of Node's own that has other things to answer, and
   * for frameworks that hand on Node's requests. Other paths go to `next`, or are not found.
   */
  mount(prefix?: string): MountedHandler;
  /** The one instance of a use case, for calling it in process: `parley.useCase(CreateRealm)`. */
  readonly useCase: ResolveUseCase;
  /** The organization with this string id; null when there is none. */
  findRealm(stringId: string): Promise<RealmId | null>;
  /** Whether requests are to be sent here, and otherwise what is wrong: it cannot write, the disk is full, it is ending. */
  ready(): Promise<ReadinessReport>;
  /**
   * What Prometheus reads, as `text/plain; version=0.0.4`: everything that begins with `parley_`, to be shown beside your own.
   * @throws Error without the option `metrics`
   */
  metrics(): Promise<string>;
  /** Finishes what is in flight, answers long polls, and closes the database. Idempotent. */
  close(): Promise<void>;
}
