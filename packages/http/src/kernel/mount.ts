import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Dispatcher } from './dispatcher.js';
import { PacedCalls } from './paced-calls.js';

/** Middleware of Express, Connect and whatever calls it like this; without their types, which not everybody has. */
export type Middleware = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void;

/** Requests handled in one turn of the event loop, once those of a turn have taken `IMMEDIATE_MS`. */
const REQUESTS_PER_TURN = 16;
const IMMEDIATE_MS = 5;

/** For a host application: `app.use('/chat', createRouter(dispatcher))` serves `/chat/api/v1/…`. */
export const createRouter =
  (dispatcher: Dispatcher): Middleware =>
  (request, response, next) => {
    // `url` is what remains below the mount path.
    dispatcher.handle(request, response).then((isOurs) => {
      if (!isOurs) next();
    }, next);
  };

/** A listener for Node's own server: hot routes go straight to the dispatcher, the rest to `otherwise` (an Express app). */
export function dispatchHotFirst(
  dispatcher: Dispatcher,
  otherwise: (request: IncomingMessage, response: ServerResponse) => void,
): RequestListener {
  const calls = new PacedCalls(REQUESTS_PER_TURN, IMMEDIATE_MS);
  return (request, response) => {
    if (!dispatcher.isHot(request)) otherwise(request, response);
    else calls.run(() => void dispatcher.handle(request, response).catch(() => response.destroy()));
  };
}
