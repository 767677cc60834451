import { pieceOf } from '@parley/domain/kernel';
import type { PathParameters } from './request.js';
import type { Method, Route } from './route.js';

/**
 * Matching of route paths by segments:
 * - `streams`: this literal;
 * - `:stream_id`, a name ending in `_id`: digits only;
 * - `:email`: any text without a slash, URL-decoded;
 * - `*fragment`, only at the end: any text including slashes (also as `%2F`), URL-decoded.
 * A path also matches without its trailing slash. Earlier kinds take precedence; matching backtracks if they fail.
 */
export interface Match<E> {
  readonly entry: PathEntry<E>;
  /** Values of the named segments, in order. */
  readonly values: readonly string[];
}

/** Entry of one path in the route table. */
export interface PathEntry<E> {
  /** Pattern of the path in the route table. */
  readonly pattern: string;
  /** Endpoints by method; `HEAD` maps to that of `GET`. */
  readonly endpoints: ReadonlyMap<string, E>;
  /** Methods for a 405 response, in table order with HEAD last. */
  readonly allowed: readonly string[];
  /** Sorted methods for OPTIONS. */
  readonly allowHeader: string;
  /** Additional headers for OPTIONS. */
  readonly optionsHeaders: () => readonly string[];
  readonly isLongPoll: boolean;
  /** True if at least one method requires authentication. */
  readonly isForUsers: boolean;
  /**
   * True if pages of other origins must not read the response: pages, and paths with a method that impersonates any
   * user.
   */
  readonly isSameOriginOnly: boolean;
  readonly style: Style;
}

/**
 * Style of a path: `/api/v1`, browser log-in by cookie (`/json`, `/accounts`), or the root, for resources used by
 * both.
 */
export type Style = 'api' | 'browser' | 'root';

export interface Endpoint {
  readonly route: Route;
  readonly style: Style;
  /** Names of path parameters, in the order of `Match.values`. */
  readonly names: readonly string[];
}

class MutablePathEntry<E extends Endpoint> implements PathEntry<E> {
  pattern = '';
  readonly endpoints = new Map<string, E>();
  allowed: readonly string[] = [];
  allowHeader = '';
  optionsHeaders: () => readonly string[] = () => [];
  isLongPoll = false;
  isForUsers = false;
  isSameOriginOnly = false;
  style: Style = 'api';

  add(endpoint: E): void {
    const { method, path } = endpoint.route;
    if (this.endpoints.has(method)) throw new Error(`${method} ${path} is declared twice`);
    this.endpoints.set(method, endpoint);
    this.pattern = path;
    this.style = endpoint.style;
    if (endpoint.route.auth === 'user') this.isForUsers = true;
    this.optionsHeaders = endpoint.route.optionsHeaders ?? this.optionsHeaders;
    if (endpoint.route.isDevelopment || endpoint.route.errorPage) this.isSameOriginOnly = true;
    if (endpoint.route.longPoll) this.isLongPoll = true;
    else if (method === 'GET') this.endpoints.set('HEAD', endpoint);

    const methods = [...this.endpoints.keys()].filter((name) => name !== 'HEAD');
    if (this.endpoints.has('HEAD')) methods.push('HEAD');
    this.allowed = this.isLongPoll ? ['OPTIONS', ...methods] : methods;
    this.allowHeader = (this.isLongPoll ? this.allowed : [...methods].sort()).join(', ');
  }
}

class Node<E extends Endpoint> {
  readonly literals = new Map<string, Node<E>>();
  integer: Node<E> | undefined;
  text: Node<E> | undefined;
  tail: MutablePathEntry<E> | undefined;
  entry: MutablePathEntry<E> | undefined;
}

/** Finds route table entries by path; compiled once. */
export class Matcher<E extends Endpoint> {
  private readonly literalPaths = new Map<string, Match<E>>();
  private readonly root = new Node<E>();

  /** @param path complete path including the prefix */
  add(path: string, compile: (names: readonly string[]) => E): void {
    const names: string[] = [];
    let node = this.root;
    const segments = path.slice(1).split('/');
    for (const [index, segment] of segments.entries()) {
      if (segment.startsWith('*')) {
        if (index !== segments.length - 1) throw new Error(`${path}: only the last segment may begin with *`);
        names.push(segment.slice(1));
        node.tail ??= new MutablePathEntry();
        node.tail.add(compile(names));
        return;
      }
      if (!segment.startsWith(':')) {
        node = getOrAdd(node.literals, segment);
      } else {
        names.push(segment.slice(1));
        if (segment.endsWith('_id')) node = node.integer ??= new Node();
        else node = node.text ??= new Node();
      }
    }
    node.entry ??= new MutablePathEntry();
    node.entry.add(compile(names));
    if (names.length === 0) this.literalPaths.set(path, { entry: node.entry, values: [] });
  }

  /** @param path undecoded path without query */
  match(path: string): Match<E> | null {
    const literal = this.literalPaths.get(path);
    if (literal) return literal;
    if (path.charCodeAt(0) !== 47) return null;
    return find(this.root, path, 1, []);
  }
}

export function pathParameters(names: readonly string[], values: readonly string[]): PathParameters {
  const parameters: Record<string, string> = {};
  for (let index = 0; index < names.length; index++) parameters[names[index]!] = values[index]!;
  return parameters;
}

export function isMethod(text: string): text is Method {
  return text === 'GET' || text === 'POST' || text === 'PUT' || text === 'PATCH' || text === 'DELETE';
}

function find<E extends Endpoint>(
  node: Node<E>,
  path: string,
  start: number,
  values: readonly string[],
): Match<E> | null {
  const slash = path.indexOf('/', start);
  const isLast = slash === -1;
  const raw = pieceOf(path, start, isLast ? path.length : slash);
  if (raw === '') return isLast ? entryOf(node.literals.get(''), values) : null;
  const segment = decode(raw);

  const onwards = (next: Node<E> | undefined, found: readonly string[]): Match<E> | null => {
    if (!next) return null;
    if (!isLast) return find(next, path, slash + 1, found);
    return entryOf(next, found) ?? entryOf(next.literals.get(''), found);
  };
  const integer = node.integer && /^\d+$/.test(segment) ? segment.replace(/^0+(?=\d)/, '') : null;
  return (
    onwards(node.literals.get(segment), values) ??
    (integer === null ? null : onwards(node.integer, [...values, integer])) ??
    onwards(node.text, [...values, segment]) ??
    (node.tail ? { entry: node.tail, values: [...values, decode(pieceOf(path, start))] } : null)
  );
}

function entryOf<E extends Endpoint>(node: Node<E> | undefined, values: readonly string[]): Match<E> | null {
  return node?.entry ? { entry: node.entry, values } : null;
}

/** Decodes percent-encoded text; returns it unchanged if invalid. */
function decode(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function getOrAdd<E extends Endpoint>(nodes: Map<string, Node<E>>, segment: string): Node<E> {
  let node = nodes.get(segment);
  if (!node) {
    node = new Node();
    nodes.set(segment, node);
  }
  return node;
}

/** Route with its resolved dependencies. */
export interface CompiledRoute extends Endpoint {
  useCase: unknown;
  /** Variant for spectators. */
  readonly forSpectators: CompiledRoute | undefined;
}

export interface LocatedPath {
  /** Relative to the mount path, without the organization segment. */
  readonly path: string;
  /** `/` and a string id; null if absent. */
  readonly realmPath: string | null;
  readonly match: Match<CompiledRoute> | null;
}

/** Prefix of all routes except root routes. */
const PREFIX = '/api/v1';
/** Path such as `/shop/api/v1/messages`; string ids of organizations are lower case. */
const REALM_PATH = /^(\/[a-z0-9-]+)(\/.*)$/;
/** Prefix of the same routes for browser sessions. */
const BROWSER_PREFIX = '/json';
const styleOfRoot = (path: string): Style => (/^\/(json|accounts)\//.test(path) ? 'browser' : 'root');

/** All paths of operations. */
export class RouteTable {
  private readonly matcher = new Matcher<CompiledRoute>();

  /** @param realmsByPath true if paths may begin with an organization name */
  constructor(
    routes: readonly Route[],
    private readonly realmsByPath: boolean,
  ) {
    const keyOf = ({ method }: Route, path: string) => `${method} ${path}`;
    const atRoot = new Map(routes.filter((it) => it.atRoot).map((it) => [keyOf(it, it.path), it]));
    for (const route of routes) {
      if (route.atRoot) continue;
      this.add(PREFIX + route.path, route, route.sessions === 'everywhere' ? 'root' : 'api');
      if (route.sessions === 'none') continue;
      const path = BROWSER_PREFIX + route.path;
      this.add(path, route, 'browser', atRoot.get(keyOf(route, path)));
      atRoot.delete(keyOf(route, path));
    }
    for (const route of atRoot.values()) {
      this.add(route.path, route, route.errorPage ? 'root' : styleOfRoot(route.path), route.forSpectators);
    }
  }

  /** True if the path is in the API's namespace, with or without an operation. */
  isOurs(path: string): boolean {
    return path === PREFIX || path.startsWith(`${PREFIX}/`);
  }

  /** Locates a path; organization paths belong to the API only if the remainder does. */
  locate(path: string): LocatedPath {
    const match = this.matcher.match(path);
    if (match || !this.realmsByPath || this.isOurs(path)) return { path, realmPath: null, match };
    const [, realmPath, below] = REALM_PATH.exec(path) ?? [];
    if (realmPath === undefined) return { path, realmPath: null, match };
    return { path: below!, realmPath, match: this.matcher.match(below!) };
  }

  private add(path: string, route: Route, style: Style, forSpectators?: Route): void {
    this.matcher.add(path, (names) => {
      const compiled = { names, style, useCase: undefined, forSpectators: undefined };
      return { ...compiled, route, forSpectators: forSpectators && { ...compiled, route: forSpectators } };
    });
  }
}
