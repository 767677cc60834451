import { createRoutes, type Route, type RouteDependencies } from '@parley/http';

/** What presenting needs is asked for by requests only, and none is served here. */
const addresses = { urlOf: () => 'http://localhost', emailDomainOf: () => 'localhost' };

/** The route table as it is served. */
export const ROUTES: readonly Route[] = createRoutes({ addresses } as unknown as RouteDependencies);

export const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`;

/** Form fields: texts as they are, everything else as JSON. */
export type Fields = Readonly<Record<string, unknown>>;

export const hasQuery = ({ method }: Pick<Route, 'method'>): boolean => method === 'GET';
