import { type Endpoint, type Match, Matcher, type Style } from './matcher.js';
import type { Route } from './route.js';

/** An entry of the table with what was looked up for it. */
export interface CompiledRoute extends Endpoint {
  useCase: unknown;
  /** The form of it that those get who have not logged in. */
  readonly forSpectators: CompiledRoute | undefined;
}

export interface LocatedPath {
  /** From the mount path on, without the organization's part. */
  readonly path: string;
  /** `/` and a string id; null: there is none. */
  readonly realmPath: string | null;
  readonly match: Match<CompiledRoute> | null;
}

/** Of all routes but those at the root. */
const PREFIX = '/api/v1';
/** `/shop/api/v1/messages`; string ids of organizations are lower case. */
const REALM_PATH = /^(\/[a-z0-9-]+)(\/.*)$/;
/** Of the same ones, for browsers in which somebody has logged in. */
const BROWSER_PREFIX = '/json';
const styleOfRoot = (path: string): Style => (/^\/(json|accounts)\//.test(path) ? 'browser' : 'root');

/** All paths at which operations are found. */
export class RouteTable {
  private readonly matcher = new Matcher<CompiledRoute>();

  /** `realmsByPath`: paths may begin with the name of an organization. */
  constructor(
    routes: readonly Route[],
    private readonly realmsByPath: boolean,
  ) {
    const keyOf = ({ method }: Route, path: string) => `${method} ${path}`;
    const atRoot = new Map(routes.filter((it) => it.atRoot).map((it) => [keyOf(it, it.path), it]));
    for (const route of routes) {
      if (route.atRoot) continue;
      this.add(PREFIX + route.path, route, route.takesSessions ? 'root' : 'api');
      if (route.isApiOnly) continue;
      const path = BROWSER_PREFIX + route.path;
      this.add(path, route, 'browser', atRoot.get(keyOf(route, path)));
      atRoot.delete(keyOf(route, path));
    }
    for (const route of atRoot.values()) {
      this.add(route.path, route, route.errorPage ? 'root' : styleOfRoot(route.path), route.forSpectators);
    }
  }

  /** Whether whatever is below the path is the API's, be there such an operation or not. */
  isOurs(path: string): boolean {
    return path === PREFIX || path.startsWith(`${PREFIX}/`);
  }

  /** A path below an organization's, where there are such, is one of ours only if it is without it. */
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
