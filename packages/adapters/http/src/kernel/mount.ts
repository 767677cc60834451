import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Dispatcher } from './dispatcher.js';
import { YieldingCalls } from './yielding.js';

/** Middleware signature of Express and Connect, declared here because their types may not be installed. */
export type Middleware = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void;

/** Requests handled per event loop turn, once the requests of a turn have taken `IMMEDIATE_MS`. */
const REQUESTS_PER_TURN = 16;
const IMMEDIATE_MS = 5;

/** Mounts the API in a host application: `app.use('/chat', createRouter(dispatcher))` serves `/chat/api/v1/…`. */
export const createRouter =
  (dispatcher: Dispatcher): Middleware =>
  (request, response, next) => {
    // `url` is relative to the mount path.
    dispatcher.handle(request, response).then((isOurs) => {
      if (!isOurs) next();
    }, next);
  };

/**
 * Creates a Node server listener that dispatches hot routes directly and passes others to `otherwise`, such as an
 * Express app. If one caller sends many requests at once, other callers do not wait behind them.
 */
export function dispatchHotFirst(
  dispatcher: Dispatcher,
  otherwise: (request: IncomingMessage, response: ServerResponse) => void,
): RequestListener {
  const calls = new YieldingCalls(REQUESTS_PER_TURN, IMMEDIATE_MS);
  return (request, response) =>
    calls.run(() => {
      if (!dispatcher.isHot(request)) otherwise(request, response);
      else void dispatcher.handle(request, response).catch(() => response.destroy());
    }, request.headers.authorization);
}
