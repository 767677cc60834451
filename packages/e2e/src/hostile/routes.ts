import { createRoutes, type Route, type RouteDependencies } from '@parley/http';

export const nameOf = ({ method, path }: { readonly method: string; readonly path: string }): string =>
  `${method} ${path}`;

/** Nobody could ask for anything after it. */
const ENDS_EVERYTHING = 'POST /realm/deactivate';

/** After which whoever called is signed out. */
const SIGNING_OUT: ReadonlySet<string> = new Set([
  'POST /users/me/api_key/regenerate',
  'DELETE /users/me',
  ENDS_EVERYTHING,
]);

export const signsOut = (route: { readonly method: string; readonly path: string }): boolean =>
  SIGNING_OUT.has(nameOf(route));

/** What these take away, others are tried with before. */
const TAKING_AWAY: ReadonlySet<string> = new Set([
  'PATCH /streams/:stream_id',
  'DELETE /streams/:stream_id',
  'PATCH /messages/:message_id',
  'DELETE /messages/:message_id',
  'POST /streams/:stream_id/delete_topic',
]);
const isLast = (route: Route): number => Number(TAKING_AWAY.has(nameOf(route)));

/**
 * The route table as it is served, but for what ends the organization. What presenting needs is asked for by requests only,
 * and none is served here.
 */
export const ROUTES: readonly Route[] = createRoutes({} as RouteDependencies)
  .filter((route) => nameOf(route) !== ENDS_EVERYTHING)
  .sort((a, b) => isLast(a) - isLast(b));

/** Form fields: texts as they are, everything else as JSON. */
export type Fields = Readonly<Record<string, unknown>>;

export const hasQuery = ({ method }: Pick<Route, 'method'>): boolean => method === 'GET';
