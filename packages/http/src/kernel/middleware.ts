import type { IncomingMessage, ServerResponse } from 'node:http';

/** Middleware of Express, Connect and whatever calls it like this; without their types, which not everybody has. */
export type Middleware = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void;
