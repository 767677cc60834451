import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

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
