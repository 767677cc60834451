import { TAGS } from '../declarations/operation.js';
import { type DocumentedRoute, isDocumented, type Route } from '../declarations/route.js';
import { FEATURE_LEVEL } from '../declarations/server-info.js';
import { type Member, membersOfDto } from '../params/params.js';
import type { JsonSchema } from '../wire/schema.js';
import { parameterDescription } from './parameters.js';

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: JsonSchema;
  readonly servers: readonly JsonSchema[];
  readonly security: readonly JsonSchema[];
  readonly tags: readonly JsonSchema[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly securitySchemes: JsonSchema;
    readonly responses: Readonly<Record<string, JsonSchema>>;
    readonly schemas: Readonly<Record<string, JsonSchema>>;
  };
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
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
 * Generates an OpenAPI 3.1 document from the route table. Parameters and their limits come from DTOs, success fields
 * from `response`. Paths are relative to the document, so they are valid under any mount path.
 */
export function openApiOf(routes: readonly Route[]): OpenApiDocument {
  const steps = describeApi(routes);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Generates the document in steps, because a single step would block the event loop too long. */
export function* describeApi(routes: readonly Route[]): Generator<void, OpenApiDocument> {
  const components = new Components();
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  const pathsByShape = new Map<string, string>();
  for (const route of routes) {
    if (!isDocumented(route) || route.isDevelopment) continue;
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
      description:
        'A chat server that speaks the Zulip REST API. The version is the feature level. Parameters are sent as a form, or in ' +
        'the query of GET; those of objects and lists are JSON. Every response has `result` and `msg`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '../..' }],
    security: [{ apiKey: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      responses: refusalsOf(components.hoist(ERROR_SCHEMA)),
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'basic', description: 'The e-mail address and the API key.' },
      },
      schemas: components.schemas,
    },
  };
}

/** Errors common to many operations. */
const refusalsOf = (schema: JsonSchema): OpenApiDocument['components']['responses'] => {
  const content = { 'application/json': { schema } };
  return {
    Refused: {
      description: 'A parameter is missing or invalid, or the operation is rejected; `code` and `msg` give the reason.',
      content,
    },
    Unauthorized: {
      description: 'The API key is missing or wrong, or the account or organization is deactivated.',
      content,
    },
    NotFound: { description: 'Unknown path, file or organization.', content },
    RateLimited: {
      description: 'Too many requests. Retry after the number of seconds in `retry-after`.',
      headers: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'number' } } },
      content,
    },
  };
};

const REFUSED_BY = { 400: 'Refused', 401: 'Unauthorized', 404: 'NotFound', 429: 'RateLimited' };

/**
 * Merges paths that differ only in a parameter name, such as access by id and by address, because OpenAPI considers
 * them equal.
 */
function byEither(one: OpenApiOperation, other: OpenApiOperation): OpenApiOperation {
  const others = other.parameters?.filter((parameter) => parameter.in === 'path') ?? [];
  if (others.length === 0) return one;
  return {
    ...one,
    parameters: one.parameters!.map((parameter, index) => {
      const alternative = others[index];
      return parameter.in === 'path' && alternative && alternative.name !== parameter.name
        ? {
            ...parameter,
            description:
              `${parameter.description ?? ''} Or \`${alternative.name}\`: ${alternative.description ?? ''}`.trim(),
            schema: { anyOf: [parameter.schema, alternative.schema] },
          }
        : parameter;
    }),
  };
}

/** Returns a path such as `/api/v1/streams/{stream_id}`. Trailing slashes are optional in requests. */
const pathOf = ({ path, atRoot }: Route): string =>
  (atRoot ? '' : '/api/v1') + path.replace(/[:*](\w+)/g, '{$1}').replace(/(?<=.)\/$/, '');

const namesInPath = ({ path }: Route): ReadonlySet<string> =>
  new Set([...path.matchAll(/[:*](\w+)/g)].map(([, name]) => name!));

function operationOf(route: DocumentedRoute, components: Components): OpenApiOperation {
  const { method, path, auth, summary, lacks } = route;
  const inPath = namesInPath(route);
  const members = membersOfDto(route.dto);
  const free = members.filter(({ name }) => !inPath.has(name));
  const isInQuery = method === 'GET';
  const parameters = [
    ...[...inPath].map((name) => pathParameter(name, members)),
    ...(isInQuery ? free.map((member) => queryParameter(member, components)) : []),
  ];
  return {
    operationId: operationIdOf(route),
    tags: [route.tag ?? path.split('/')[1]!],
    summary,
    ...(lacks && { description: `Not yet: ${lacks}.` }),
    ...(auth !== 'user' && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(!isInQuery && (free.length > 0 || takesFiles(route)) && { requestBody: bodyOf(route, free, components) }),
    responses: {
      200: { description: 'Success.', ...responseContentOf(route, components) },
      ...Object.fromEntries(
        Object.entries(REFUSED_BY)
          .filter(([status]) => (status !== '401' || auth === 'user') && (status !== '404' || inPath.size > 0))
          .map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }]),
      ),
      ...errorsOf(route, components),
    },
  };
}

/** Returns the responses to failures that only this route has, or that are not always JSON. */
function errorsOf({ errorTypes = {} }: Route, components: Components) {
  const errors: Readonly<Record<string, string | undefined>> = { default: undefined, ...errorTypes };
  return Object.fromEntries(
    Object.entries(errors).map(([status, contentType]) => [
      status,
      {
        description: status === 'default' ? 'Any other failure.' : 'Rejected, with the reason.',
        content: {
          'application/json': { schema: components.hoist(ERROR_SCHEMA) },
          ...(contentType !== undefined && { [contentType]: { schema: { type: 'string' } } }),
        },
      },
    ]),
  );
}

/** Returns an id such as `get-streams-stream_id-members`; a trailing slash yields `post-tus-`. */
const operationIdOf = ({ method, path, atRoot }: Route): string =>
  [method.toLowerCase(), ...(atRoot ? ['root'] : []), ...path.split(/[/:*]+/).slice(1)].join('-');

function describing(name: string, member?: Member): { readonly description?: string } {
  const description = member?.description ?? parameterDescription(name);
  return description === undefined ? {} : { description };
}

function pathParameter(name: string, members: readonly Member[]) {
  const member = members.find((each) => each.name === name);
  const schema = member
    ? plain(member.type.schema)
    : name.endsWith('_id')
      ? { type: 'integer', format: 'int64' }
      : { type: 'string' };
  return { name, in: 'path', required: true, ...describing(name, member), schema };
}

function queryParameter(member: Member, components: Components) {
  const schema = schemaOf(member, components);
  return {
    name: member.name,
    in: 'query',
    ...describing(member.name, member),
    ...(member.isRequired && { required: true }),
    ...(member.type.holdsJson ? { content: { 'application/json': { schema } } } : { schema }),
  };
}

const takesFiles = ({ body }: Route): boolean => body === 'files' || body === 'storedFile';

function bodyOf(route: Route, members: readonly Member[], components: Components) {
  const properties = Object.fromEntries(
    members.map((member) => [member.name, { ...describing(member.name, member), ...schemaOf(member, components) }]),
  );
  const required = members.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const schema = {
    type: 'object',
    properties: {
      ...properties,
      ...(takesFiles(route) && {
        filename: { description: 'The file, as a part of the form.', type: 'string', format: 'binary' },
      }),
    },
    ...(required.length > 0 && { required }),
  };
  const encoding = Object.fromEntries(
    members.filter(({ type }) => type.holdsJson).map(({ name }) => [name, { contentType: 'application/json' }]),
  );
  const content = { schema, ...(Object.keys(encoding).length > 0 && { encoding }) };
  return {
    ...(required.length > 0 && { required: true }),
    content: { [takesFiles(route) ? 'multipart/form-data' : FORM]: content },
  };
}

const schemaOf = ({ type, byDefault }: Member, components: Components): JsonSchema => ({
  ...components.hoist(plain(type.schema)),
  // Clients treat null like an absent parameter.
  ...(byDefault !== undefined && byDefault !== null && { default: byDefault }),
});

/** Drops undefined members, which JSON does not have. */
const plain = (schema: JsonSchema): JsonSchema =>
  JSON.parse(JSON.stringify(schema), (_key, value) => withNullType(value));

/** Turns `anyOf` of a type and null into a list of types: openapi-generator writes invalid code for a list or null. */
function withNullType(value: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = value ?? {};
  const [one, other] = Array.isArray(anyOf) && anyOf.length === 2 ? (anyOf as readonly JsonSchema[]) : [];
  // A list of values would have to contain null.
  if (typeof one?.type !== 'string' || one.enum || other?.type !== 'null') return value;
  return { ...rest, ...one, type: [one.type, 'null'] };
}

function responseContentOf(route: Route, components: Components) {
  const json = responseSchemaOf(route);
  if (json) return { content: { 'application/json': { schema: components.hoist(json) } } };
  if (route.response !== 'bytes') return { content: { 'application/json': { schema: ENVELOPE } } };
  const { contentType = 'application/octet-stream' } = route;
  return { content: { [contentType]: { schema: bytesOf(contentType) } } };
}

function bytesOf(contentType: string): JsonSchema {
  if (contentType === 'application/json') return { type: 'object', additionalProperties: true };
  return contentType.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' };
}

const ENVELOPE: JsonSchema = {
  type: 'object',
  properties: { result: { const: 'success' }, msg: { type: 'string' } },
  required: ['result', 'msg'],
};

/**
 * Returns the complete success schema of a route; null if undeclared or not JSON. Without a presenter, it is the bare
 * envelope.
 */
export function responseSchemaOf({ response, present, handle }: Route): JsonSchema | null {
  if (response === 'bytes') return null;
  if (response === undefined && (present || handle)) return null;
  const { properties = {}, required = [] } = (response?.json ?? {}) as {
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

/**
 * Adapts the document to generators of clients:
 * - Each object among the alternatives of a named schema gets its own name, such as `DraftsEvent2`. Generators name such
 *   objects differently at each use or reject them.
 * - A number or text outside of JSON, such as an anchor, becomes text. Generated code sends the description of a union.
 */
export function forGenerators({ components, paths, ...document }: OpenApiDocument): OpenApiDocument {
  const schemas: Record<string, JsonSchema> = {};
  for (const [title, schema] of Object.entries(components.schemas)) {
    const alternatives = schema.anyOf as readonly JsonSchema[] | undefined;
    const anyOf = alternatives?.map((alternative, index) => {
      if (alternative.type !== 'object') return alternative;
      const name = `${title}${index + 1}`;
      schemas[name] = { title: name, ...alternative };
      return { $ref: `#/components/schemas/${name}` };
    });
    schemas[title] = anyOf ? { ...schema, anyOf } : schema;
  }
  const texts = Object.entries(paths).map(([path, methods]) => [
    path,
    Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, withTexts(operation)])),
  ]);
  return { ...document, paths: Object.fromEntries(texts), components: { ...components, schemas } };
}

function withTexts({ parameters, requestBody, ...operation }: OpenApiOperation): OpenApiOperation {
  return {
    ...operation,
    ...(parameters && { parameters: parameters.map((each) => ({ ...each, ...(isUnion(each.schema) && TEXT) })) }),
    ...(requestBody && { requestBody: bodyWithTexts(requestBody) }),
  };
}

const TEXT = { schema: { type: 'string' } };
const isUnion = (schema: unknown): boolean => (schema as JsonSchema | undefined)?.anyOf !== undefined;

interface FormContent {
  readonly schema: { readonly properties: Readonly<Record<string, JsonSchema>> };
  readonly encoding?: object;
}

function bodyWithTexts(body: JsonSchema): JsonSchema {
  const [[type, form]] = Object.entries(body.content as Readonly<Record<string, FormContent>>) as [
    [string, FormContent],
  ];
  const properties = Object.entries(form.schema.properties).map(([name, { anyOf, ...rest }]) => [
    name,
    anyOf === undefined || name in (form.encoding ?? {}) ? form.schema.properties[name] : { ...rest, ...TEXT.schema },
  ]);
  const schema = { ...form.schema, properties: Object.fromEntries(properties) };
  return { ...body, content: { [type]: { ...form, schema } } };
}

/** Returns the success schema with shared `components`, which compile faster than repeated named schemas. */
export function compactResponseSchemaOf(route: Route): JsonSchema | null {
  const schema = responseSchemaOf(route);
  if (!schema) return null;
  const components = new Components();
  return { ...components.hoist(schema), components: { schemas: components.schemas } };
}

/** Registry of named schemas. */
class Components {
  readonly schemas: Record<string, JsonSchema> = {};
  /** Cache of converted schemas, because most are used repeatedly. */
  private readonly hoisted = new Map<object, unknown>();

  /** Replaces named schemas by references to the components. @throws Error if a different schema has the same name */
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
    const existing = this.schemas[title];
    if (existing && JSON.stringify(existing) !== JSON.stringify(schema))
      throw new Error(`Two schemas have the title ${title}`);
    this.schemas[title] = schema;
    return { $ref: `#/components/schemas/${title}` };
  }
}
