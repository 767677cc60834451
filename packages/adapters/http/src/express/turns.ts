import type { RequestListener } from 'node:http';
import { YieldingCalls } from '../limits/yielding.js';
import type { Middleware } from './router.js';

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
