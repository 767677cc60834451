import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Dispatcher } from './dispatcher.js';
import type { Middleware } from './middleware.js';
import { RequestTurns } from './request-turns.js';

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
  const turns = new RequestTurns();
  return (request, response) => {
    if (!dispatcher.isHot(request)) otherwise(request, response);
    else turns.run(() => void dispatcher.handle(request, response).catch(() => response.destroy()));
  };
}
