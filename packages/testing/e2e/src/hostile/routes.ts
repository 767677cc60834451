import { createRoutes, type Route, type RouteDependencies } from '@parley/http';

export const nameOf = ({ method, path }: { readonly method: string; readonly path: string }): string =>
  `${method} ${path}`;

/** Excluded, since no further request could succeed. */
const ENDS_EVERYTHING = 'POST /realm/deactivate';

/** Operations that log the caller out. */
const SIGNING_OUT: ReadonlySet<string> = new Set([
  'POST /users/me/api_key/regenerate',
  'DELETE /users/me',
  'DELETE /users/:user_id/sessions',
  ENDS_EVERYTHING,
]);

export const signsOut = (route: { readonly method: string; readonly path: string }): boolean =>
  SIGNING_OUT.has(nameOf(route));

/** Operations that destroy objects needed by others, so they run last. */
const TAKING_AWAY: ReadonlySet<string> = new Set([
  'PATCH /streams/:stream_id',
  'DELETE /streams/:stream_id',
  'PATCH /messages/:message_id',
  'DELETE /messages/:message_id',
  'POST /streams/:stream_id/delete_topic',
]);
const isLast = (route: Route): number => Number(TAKING_AWAY.has(nameOf(route)));

/**
 * Route table without the operation that deactivates the organization. Dependencies are used only by requests, and none
 * are served here.
 */
export const ROUTES: readonly Route[] = createRoutes({} as RouteDependencies)
  .filter((route) => nameOf(route) !== ENDS_EVERYTHING)
  .sort((a, b) => isLast(a) - isLast(b));

/** Form fields: strings verbatim, other values as JSON. */
export type Fields = Readonly<Record<string, unknown>>;

export const hasQuery = ({ method }: Pick<Route, 'method'>): boolean => method === 'GET';
