import { type Member, membersOfDto } from '../kernel/params.js';
import type { Route } from '../kernel/route.js';
import { FEATURE_LEVEL } from '../kernel/server-info.js';
import type { JsonSchema } from '../kernel/wire-schema.js';
import { CONTRACT_OPERATIONS } from './contract-operations.js';

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: JsonSchema;
  readonly servers: readonly JsonSchema[];
  readonly security: readonly JsonSchema[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly securitySchemes: JsonSchema;
    readonly schemas: Readonly<Record<string, JsonSchema>>;
  };
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly description?: string;
  readonly security?: readonly JsonSchema[];
  readonly parameters?: readonly JsonSchema[];
  readonly requestBody?: JsonSchema;
  readonly responses: Readonly<Record<string, JsonSchema>>;
}

const ERROR_SCHEMA: JsonSchema = {
  title: 'Error',
  type: 'object',
  properties: { result: { const: 'error' }, msg: { type: 'string' }, code: { type: 'string' } },
  required: ['result', 'msg'],
  description: 'With the fields that go with its code.',
};

const FORM = 'application/x-www-form-urlencoded';

/**
 * The API as OpenAPI 3.1: from the route table its paths, from the DTOs its parameters with every maximum, from `answer` of
 * the routes what a success has. Paths begin where the document's own does, whatever an embedding application puts before it.
 */
export function openApiOf(routes: readonly Route[]): OpenApiDocument {
  const steps = describeApi(routes);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** The same in steps: altogether they take longer than a turn of the event loop may. */
export function* describeApi(routes: readonly Route[]): Generator<void, OpenApiDocument> {
  const components = new Components();
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  const pathsByShape = new Map<string, string>();
  for (const route of routes) {
    // Pages are for people.
    if (route.isDevelopment || route.errorPage) continue;
    const shape = pathOf(route).replace(/\{\w+\}/g, '{}');
    const path = pathsByShape.get(shape) ?? pathOf(route);
    pathsByShape.set(shape, path);
    paths[path] ??= {};
    const method = route.method.toLowerCase();
    const operation = operationOf(route, components);
    const other = paths[path][method];
    paths[path][method] = other ? byEither(other, operation) : operation;
    yield;
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parley',
      version: String(FEATURE_LEVEL),
      description: 'A chat server that speaks the Zulip REST API. The version is the feature level.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '../..' }],
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'basic', description: 'The e-mail address and the API key.' },
      },
      schemas: components.schemas,
    },
  };
}

/** Paths that differ by the name of a parameter are one to OpenAPI: by id, and by address. */
function byEither(one: OpenApiOperation, other: OpenApiOperation): OpenApiOperation {
  const others = other.parameters?.filter((parameter) => parameter.in === 'path') ?? [];
  return {
    ...one,
    parameters: one.parameters!.map((parameter, index) => {
      const alternative = others[index];
      return parameter.in === 'path' && alternative && alternative.name !== parameter.name
        ? {
            ...parameter,
            description: `Or \`${alternative.name}\`.`,
            schema: { anyOf: [parameter.schema, alternative.schema] },
          }
        : parameter;
    }),
  };
}

/** `/api/v1/streams/{stream_id}`. */
const pathOf = ({ path, atRoot }: Route): string => (atRoot ? '' : '/api/v1') + path.replace(/[:*](\w+)/g, '{$1}');

const namesInPath = ({ path }: Route): ReadonlySet<string> =>
  new Set([...path.matchAll(/[:*](\w+)/g)].map(([, name]) => name!));

const sections = new Map(
  CONTRACT_OPERATIONS.map(({ method, path, atRoot, section, lacks }) => [
    `${method} ${atRoot ? '/' : ''}${path}`,
    { section, lacks },
  ]),
);

function operationOf(route: Route, components: Components): OpenApiOperation {
  const { method, path, atRoot, auth } = route;
  const inPath = namesInPath(route);
  const members = membersOfDto(route.dto);
  const free = members.filter(({ name }) => !inPath.has(name));
  const isInQuery = method === 'GET';
  const about = sections.get(`${method} ${atRoot ? '/' : ''}${path}`);
  const parameters = [
    ...[...inPath].map((name) => pathParameter(name, members)),
    ...(isInQuery ? free.map(queryParameter) : []),
  ];
  return {
    operationId: operationIdOf(route),
    tags: [path.split('/')[1]!],
    ...(about && { description: `${about.section}${about.lacks === null ? '' : `; not yet: ${about.lacks}`}` }),
    ...(auth === 'anyone' && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(!isInQuery && (free.length > 0 || route.takesFiles) && { requestBody: bodyOf(route, free) }),
    responses: {
      200: { description: 'Success.', ...answerContentOf(route, components) },
      default: {
        description: 'A refusal: its code says why.',
        content: { 'application/json': { schema: components.hoist(ERROR_SCHEMA) } },
      },
    },
  };
}

/** `get-streams-stream_id-members`; `post-tus-` of a path that ends in a slash. */
const operationIdOf = ({ method, path, atRoot }: Route): string =>
  [method.toLowerCase(), ...(atRoot ? ['root'] : []), ...path.split(/[/:*]+/).slice(1)].join('-');

function pathParameter(name: string, members: readonly Member[]) {
  const member = members.find((each) => each.name === name);
  const schema = member ? plain(member.type.schema) : { type: name.endsWith('_id') ? 'integer' : 'string' };
  return { name, in: 'path', required: true, schema };
}

function queryParameter(member: Member) {
  const schema = schemaOf(member);
  return {
    name: member.name,
    in: 'query',
    ...(member.isRequired && { required: true }),
    ...(member.type.holdsJson ? { content: { 'application/json': { schema } } } : { schema }),
  };
}

function bodyOf({ takesFiles }: Route, members: readonly Member[]) {
  const properties = Object.fromEntries(members.map((member) => [member.name, schemaOf(member)]));
  const required = members.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const schema = {
    type: 'object',
    properties: { ...properties, ...(takesFiles && { filename: { type: 'string', format: 'binary' } }) },
    ...(required.length > 0 && { required }),
  };
  const encoding = Object.fromEntries(
    members.filter(({ type }) => type.holdsJson).map(({ name }) => [name, { contentType: 'application/json' }]),
  );
  const content = { schema, ...(Object.keys(encoding).length > 0 && { encoding }) };
  return {
    ...(required.length > 0 && { required: true }),
    content: { [takesFiles ? 'multipart/form-data' : FORM]: content },
  };
}

const schemaOf = ({ type, byDefault }: Member): JsonSchema => ({
  ...plain(type.schema),
  ...(byDefault !== undefined && { default: byDefault }),
});

/** Without members that are undefined, which JSON does not have. */
const plain = (schema: JsonSchema): JsonSchema => JSON.parse(JSON.stringify(schema));

function answerContentOf(route: Route, components: Components) {
  const json = answerSchemaOf(route);
  if (json) return { content: { 'application/json': { schema: components.hoist(json) } } };
  return route.answer === 'bytes'
    ? { content: { '*/*': {} } }
    : { content: { 'application/json': { schema: ENVELOPE } } };
}

const ENVELOPE: JsonSchema = {
  type: 'object',
  properties: { result: { const: 'success' }, msg: { type: 'string' } },
  required: ['result', 'msg'],
};

/**
 * What a success of the route is, to the last field. Null: it is not declared, or no JSON. A route without a presenter
 * answers the envelope alone.
 */
export function answerSchemaOf({ answer, present, handle }: Route): JsonSchema | null {
  if (answer === 'bytes') return null;
  if (answer === undefined && (present || handle)) return null;
  const { properties = {}, required = [] } = (answer?.json ?? {}) as {
    readonly properties?: object;
    readonly required?: readonly string[];
  };
  return {
    type: 'object',
    properties: {
      result: { const: 'success' },
      msg: { type: 'string' },
      ...properties,
      ignored_parameters_unsupported: { type: 'array', items: { type: 'string' } },
    },
    required: ['result', 'msg', ...required],
    additionalProperties: false,
  };
}

/** The same with each named schema once, below `components`: quicker to compile where a name is used a hundred times. */
export function compactAnswerSchemaOf(route: Route): JsonSchema | null {
  const schema = answerSchemaOf(route);
  if (!schema) return null;
  const components = new Components();
  return { ...components.hoist(schema), components: { schemas: components.schemas } };
}

/** Schemas that have a name. */
class Components {
  readonly schemas: Record<string, JsonSchema> = {};
  /** What an object became: most are used in many places. */
  private readonly hoisted = new Map<object, unknown>();

  /** Puts what has a name here, and a reference in its place. @throws Error when another schema has the name */
  hoist(json: JsonSchema): JsonSchema {
    return this.walk(json) as JsonSchema;
  }

  private walk(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (!this.hoisted.has(value)) this.hoisted.set(value, this.walkObject(value));
    return this.hoisted.get(value);
  }

  private walkObject(value: object): unknown {
    if (Array.isArray(value)) return value.map((each) => this.walk(each));
    const { title } = value as JsonSchema;
    const schema = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.walk(each)]));
    if (typeof title !== 'string') return schema;
    const known = this.schemas[title];
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) throw new Error(`Two schemas are called ${title}`);
    this.schemas[title] = schema;
    return { $ref: `#/components/schemas/${title}` };
  }
}
