import type { Method, Route } from '../declarations/route.js';

/**
 * Style of a path: `/api/v1`, browser log-in by cookie (`/json`, `/accounts`), or the root, for resources used by
 * both.
 */
export type Style = 'api' | 'browser' | 'root';

/** Operation of a path and method. */
export interface Endpoint {
  readonly route: Route;
  /** Instance of the route's use case; resolved by the first request. */
  useCase: unknown;
  /** Variant for spectators. */
  readonly forSpectators: Endpoint | undefined;
}

/**
 * Path of the route table and its operations. Kinds of segments, in order of precedence:
 * - `streams`: this literal;
 * - `:stream_id`, a name ending in `_id`: digits only;
 * - `:email`: any text without a slash, URL-decoded;
 * - `*fragment`, only at the end: any text including slashes (also as `%2F`), URL-decoded.
 * A path also matches without its trailing slash.
 */
export class TablePath {
  /** Endpoints by method; `HEAD` maps to that of `GET`. */
  readonly endpoints = new Map<string, Endpoint>();
  /** Path as declared by its routes, for logs. */
  pattern = '';
  /** Methods for a 405 response, in table order with HEAD last. */
  allowed: readonly string[] = [];
  /** Sorted methods for OPTIONS. */
  allowHeader = '';
  /** Additional headers for OPTIONS. */
  optionsHeaders: () => readonly string[] = () => [];
  isLongPoll = false;
  /** True if at least one method requires authentication. */
  isForUsers = false;
  /**
   * True if pages of other origins must not read the response: pages, and paths with a method that impersonates any
   * user.
   */
  isSameOriginOnly = false;
  style: Style = 'api';

  /** @param path complete path including the prefix */
  constructor(readonly path: string) {
    if (/\*.*\//.test(path)) throw new Error(`${path}: only the last segment may begin with *`);
  }

  /** Path in Express's notation. */
  get express(): string {
    return this.path.replace(/\/$/, '{/}');
  }

  /** Names of the digits-only segments. */
  get integers(): readonly string[] {
    return this.path.match(/(?<=\/:)\w+_id(?=\/|$)/g) ?? [];
  }

  /** Name of the rest of the path, if it has one. */
  get rest(): string | undefined {
    return /\/\*(\w+)$/.exec(this.path)?.[1];
  }

  add(route: Route, style: Style, forSpectators: Route | undefined): void {
    const { method } = route;
    if (this.endpoints.has(method)) throw new Error(`${method} ${route.path} is declared twice`);
    const endpoint = { route, useCase: undefined, forSpectators: forSpectators && endpointOf(forSpectators) };
    this.endpoints.set(method, endpoint);
    this.pattern = route.path;
    this.style = style;
    if (route.auth === 'user') this.isForUsers = true;
    this.optionsHeaders = route.optionsHeaders ?? this.optionsHeaders;
    if (route.isDevelopment || route.errorPage) this.isSameOriginOnly = true;
    if (route.longPoll) this.isLongPoll = true;
    else if (method === 'GET') this.endpoints.set('HEAD', endpoint);

    const methods = [...this.endpoints.keys()].filter((name) => name !== 'HEAD');
    if (this.endpoints.has('HEAD')) methods.push('HEAD');
    this.allowed = this.isLongPoll ? ['OPTIONS', ...methods] : methods;
    this.allowHeader = (this.isLongPoll ? this.allowed : [...methods].sort()).join(', ');
  }
}

const endpointOf = (route: Route): Endpoint => ({ route, useCase: undefined, forSpectators: undefined });

export function isMethod(text: string): text is Method {
  return text === 'GET' || text === 'POST' || text === 'PUT' || text === 'PATCH' || text === 'DELETE';
}

/** Prefix of all routes except root routes. */
export const API_PREFIX = '/api/v1';
/** Prefix of the same routes for browser sessions. */
const BROWSER_PREFIX = '/json';
const styleOfRoot = (path: string): Style => (/^\/(json|accounts)\//.test(path) ? 'browser' : 'root');

/** Returns all paths of operations by precedence. @throws Error for routes that conflict */
export function tablePathsOf(routes: readonly Route[]): readonly TablePath[] {
  const table = new PathTable();
  const keyOf = ({ method }: Route, path: string) => `${method} ${path}`;
  const atRoot = new Map(routes.filter((it) => it.atRoot).map((it) => [keyOf(it, it.path), it]));
  for (const route of routes) {
    if (route.atRoot) continue;
    table.add(API_PREFIX + route.path, route, route.sessions === 'everywhere' ? 'root' : 'api');
    if (route.sessions === 'none') continue;
    const path = BROWSER_PREFIX + route.path;
    table.add(path, route, 'browser', atRoot.get(keyOf(route, path)));
    atRoot.delete(keyOf(route, path));
  }
  for (const route of atRoot.values()) {
    table.add(route.path, route, route.errorPage ? 'root' : styleOfRoot(route.path), route.forSpectators);
  }
  return table.byPrecedence();
}

/** Kinds of the segments as digits: literal, integer, text, rest. */
const kindsOf = (path: string): string =>
  path
    .slice(1)
    .split('/')
    .map((segment) => {
      if (segment.startsWith('*')) return '3';
      if (!segment.startsWith(':')) return '0';
      return segment.endsWith('_id') ? '1' : '2';
    })
    .join('');

class PathTable {
  private readonly byShape = new Map<string, TablePath>();

  add(path: string, route: Route, style: Style, forSpectators?: Route): void {
    const shape = path.replace(/(?<=\/[:*])\w+?(?=(_id)?(?:\/|$))/g, '');
    const entry = this.byShape.get(shape) ?? new TablePath(path);
    if (entry.path !== path) throw new Error(`${path} and ${entry.path} match the same requests`);
    entry.add(route, style, forSpectators);
    this.byShape.set(shape, entry);
  }

  /**
   * Sorts by the kinds of the segments, from left to right. The order is total: a path that matches the same request
   * as another one differs from it in a kind.
   */
  byPrecedence(): readonly TablePath[] {
    const paths = Array.from(this.byShape.values(), (entry) => ({ entry, kinds: kindsOf(entry.path) }));
    paths.sort((a, b) => (a.kinds < b.kinds ? -1 : a.kinds > b.kinds ? 1 : 0));
    return paths.map(({ entry }) => entry);
  }
}
