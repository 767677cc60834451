import { eventTypeName, type Route } from '@parley/http';
import { compactResponseSchemaOf } from '@parley/http/openapi';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { sharedByTestFiles } from './shared-by-test-files.js';

type Check = (body: unknown) => string | null;

/** Found on first use, once per test file, since schemas are the same for all servers. */
const checks = new Map<string, Check | null>();

interface Entry {
  readonly route: Route;
  readonly pattern: RegExp;
  readonly rank: string;
}

/** Patterns and ranks by path, computed once per test file. */
const places = new Map<string, Omit<Entry, 'route'>>();

/** Compares responses in tests with the OpenAPI document. */
export class ResponseChecks {
  private readonly entries: readonly Entry[];

  constructor(routes: readonly Route[]) {
    this.entries = routes.map((route) => ({ route, ...placeOf(route) })).sort(byRank);
  }

  /** Returns the mismatch of a response; null if it matches or nothing is declared. */
  problemWith(method: string, path: string, reply: CheckedReply): string | null {
    if (reply.status !== 200) return null;
    // Session paths respond like the API; some have a separate anonymous variant.
    const paths = new Set([path, path.replace(/^\/json\//, '/api/v1/')]);
    const problems = [...paths].map((it) => this.problemAt(method, it, reply));
    return problems.includes(null) ? null : (problems.find((it) => it !== undefined) ?? null);
  }

  /** Undefined if the operation does not exist. */
  private problemAt(method: string, path: string, { headers, body }: CheckedReply): string | null | undefined {
    const entry = this.entries.find(({ route, pattern }) => route.method === method && pattern.test(path));
    if (!entry) return undefined;
    const { contentType } = entry.route;
    if (contentType !== undefined) return contentTypeProblem(contentType, String(headers['content-type']), path);
    return (body as { result?: unknown } | null)?.result === 'success' ? (checkOf(entry.route)?.(body) ?? null) : null;
  }
}

interface CheckedReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

const contentTypeProblem = (declared: string, sent: string, path: string): string | null =>
  sent.startsWith(declared.replace('*', ''))
    ? null
    : `${path} has the type ${sent}, but its route declares ${declared}`;

function checkOf(route: Route): Check | null {
  const name = `${route.method} ${route.atRoot ? '/' : ''}${route.path}`;
  const existing = checks.get(name);
  if (existing !== undefined) return existing;
  const schema = compactResponseSchemaOf(route);
  const check = schema && (hasEvents(schema) ? checkWithEvents(name, schema) : checkBy(name, validatorOf(schema)));
  checks.set(name, check);
  return check;
}

const validatorOf = (schema: object): ValidateFunction => sharedByTestFiles.validatorOf(JSON.stringify(schema));

type Schema = Readonly<Record<string, unknown>>;
interface Components {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const hasEvents = (schema: Schema): boolean => 'Event' in (schema as Schema & Components).components.schemas;

/** Checks each event against the schema of its type, compiled on demand because compiling all schemas takes long. */
function checkWithEvents(name: string, schema: Schema): Check {
  const { schemas } = (schema as Schema & Components).components;
  const without = { ...schema, components: { schemas: { ...schemas, Event: {} } } };
  const response = checkBy(name, validatorOf(without));
  const ofTypes = new Map<string, Check>();
  const ofType = (type: string): Check => {
    let check = ofTypes.get(type);
    if (!check) {
      const event = eventTypeName(type);
      const isListed = event in schemas;
      check = isListed
        ? checkBy(`${name}, ${type}`, validatorOf({ ...refTo(event), components: { schemas } }))
        : () => `${name} answers an event of a type that is not declared: ${type}`;
      ofTypes.set(type, check);
    }
    return check;
  };
  return (body) => {
    const problem = response(body);
    if (problem !== null) return problem;
    const { events } = body as { readonly events: readonly { readonly type: string }[] };
    return events.map((event) => ofType(event.type)(event)).find((it) => it !== null) ?? null;
  };
}

const refTo = (component: string) => ({ $ref: `#/components/schemas/${component}` });

const checkBy =
  (name: string, validate: ValidateFunction): Check =>
  (body) =>
    validate(body) ? null : `The answer of ${name} is not what its route declares: ${formatErrors(validate)}`;

const formatErrors = ({ errors }: ValidateFunction): string =>
  (errors ?? [])
    .map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)
    .join('; ');

function placeOf(route: Route): Omit<Entry, 'route'> {
  const name = `${route.atRoot ? '/' : ''}${route.path}`;
  const place = places.get(name) ?? { pattern: patternOf(route), rank: rankOf(route) };
  places.set(name, place);
  return place;
}

/** Path pattern as in `matcher.ts`. */
const patternOf = ({ path, atRoot }: Route): RegExp =>
  new RegExp(
    `^${atRoot ? '' : '/api/v1'}${path
      .split('/')
      .map((part) =>
        part.startsWith('*')
          ? '.+'
          : !part.startsWith(':')
            ? part.replaceAll('.', '\\.')
            : part.endsWith('_id')
              ? '\\d+'
              : '[^/]+',
      )
      .join('/')}$`,
  );

/** Sort key by kinds of path segments; the preferred route comes first. */
const rankOf = ({ path }: Route): string =>
  path
    .split('/')
    .map((part) => (part.startsWith('*') ? 3 : !part.startsWith(':') ? 0 : part.endsWith('_id') ? 1 : 2))
    .join('');

const byRank = (a: Entry, b: Entry): number => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0);
