import { createRoutes, type Member, membersOfDto, type Route, type RouteDependencies } from '@parley/http';
import { fieldTextOf, type ParameterSchema } from '@parley/testkit';
import { nameOf } from './coverage.js';
import type { Person } from './organization.js';
import { eventKindsOf } from './response-types.js';

export type Params = Record<string, unknown>;

/** Routes that are not called. */
const UNCALLED = new Set([
  // Ends only with its connection.
  'GET /events/stream',
  // Write files in real time, in which other work would go on.
  'POST /export/realm',
  'POST /export/users',
]);

export const ROUTES: readonly Route[] = createRoutes({} as RouteDependencies);
export const BY_NAME: ReadonlyMap<string, Route> = new Map(ROUTES.map((route) => [nameOf(route), route]));
export const CALLED = ROUTES.filter((route) => !UNCALLED.has(nameOf(route)));
export const EVENT_KINDS = eventKindsOf(BY_NAME.get('GET /events')!);

/** Patterns of addresses by the path of their routes. */
const PATTERNS = new Map(
  ROUTES.filter(({ path, atRoot }) => /[:*]/.test(path) && (atRoot || /^\/(tus|user_uploads)/.test(path))).map(
    (route) => {
      const path = route.path
        .replaceAll('.', '\\.')
        .replace(/:(\w+)/g, '(?<$1>[^/]+)')
        .replace(/\*(\w+)/g, '(?<$1>.+)');
      return [route.path, new RegExp(`^${route.path.startsWith('/tus') ? '/api/v1' : ''}${path}$`)] as const;
    },
  ),
);

/** Parameters of the paths of all routes that have the address. */
export function parametersIn(
  address: string,
): readonly (readonly [path: string, params: Readonly<Record<string, string>>])[] {
  return [...PATTERNS].flatMap(([path, pattern]) => {
    const { groups } = pattern.exec(address) ?? {};
    if (!groups) return [];
    const decoded = Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]);
    return [[path, Object.fromEntries(decoded)] as const];
  });
}

export const namesInPath = ({ path }: Route): readonly string[] =>
  [...path.matchAll(/[:*](\w+)/g)].map(([, name]) => name!);

/** True for the pages of a browser in which somebody has logged in. */
export const usesSession = ({ atRoot, auth, path }: Route): boolean =>
  atRoot === true && (auth === 'visitor' || /^\/(json|accounts|login)/.test(path));

/** The owner of a bot gets a notice when a message of the bot is refused. */
export const isNotice = ({ path }: Route, person: Person | null): boolean =>
  (person?.role === 'bot' && path === '/messages') || path === '/external/:integration';

/** Name of the route that adds to the collection of a parameter. */
export function creatorOf(route: Route, name: string): string | undefined {
  const before = route.path.slice(0, route.path.search(new RegExp(`/[:*]${name}`)));
  const root = route.atRoot ? '/' : '';
  const names = [`POST ${root}${before}`, `POST ${root}${before}/create`];
  return names.find((each) => BY_NAME.has(each) && !UNCALLED.has(each));
}

/** True if the roles before parameters permit the call. */
export function mayCall({ roleRequirements, path }: Route, { role }: Person): boolean {
  if (path === '/external/:integration' || role === 'webhook')
    return path === '/external/:integration' && role === 'webhook';
  return roleRequirements.every((requirement) => {
    if (requirement === 'bot') return role === 'bot';
    if (requirement === 'human') return role !== 'bot';
    if (requirement === 'owner') return role === 'owner';
    if (requirement === 'administrator') return role === 'owner' || role === 'administrator';
    return role !== 'guest';
  });
}

/** Value of another type, or longer than permitted. */
export function wrongOf({ type }: Member): unknown {
  const { maxLength = Number.POSITIVE_INFINITY, type: kind } = type.schema as ParameterSchema;
  if (kind === 'string') return maxLength < 20_000 ? 'x'.repeat(maxLength + 1) : '';
  return '[';
}

export function pathOf({ path }: Route, params: Params): string {
  const text = (name: string) => String(params[name] ?? 'x');
  return path
    .replace(/\*(\w+)/g, (_, name) => text(name).split('/').map(encodeURIComponent).join('/') || 'x')
    .replace(/:(\w+)/g, (_, name) => encodeURIComponent(text(name)) || 'x');
}

/** Form fields: bare words need no quotes. */
export function fieldsOf(route: Route, params: Params): Params {
  const members = new Map(membersOfDto(route.dto).map((member) => [member.name, member]));
  const inPath = namesInPath(route);
  const given = Object.entries(params).filter(([name, value]) => value !== undefined && !inPath.includes(name));
  const textOf = (value: unknown, type?: Member['type']) =>
    type && (typeof value !== 'string' || type.holdsJson) ? fieldTextOf(type, value) : value;
  return Object.fromEntries(given.map(([name, value]) => [name, textOf(value, members.get(name)?.type)]));
}
