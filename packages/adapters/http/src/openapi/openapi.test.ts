import type { RouteDependencies } from '../declarations/feature.js';
import { route } from '../declarations/route.js';
import { IntegerListParam, IntegerParam, TextParam } from '../params/params.js';
import { createRoutes } from '../routes.js';
import { success } from '../wire/reply.js';
import * as wire from '../wire/schema.js';
import { fieldsOf } from './client-api.js';
import { forGenerators, openApiOf, responseSchemaOf } from './openapi.js';

class ExampleDto {
  @IntegerParam() thing_id!: number;
  @TextParam({ max: 60 }) name!: string;
  @IntegerListParam({ max: 10 }) people: number[] = [];
}

const handle = async () => success();
const thing = wire.named('Thing', wire.fields({ id: wire.integer(), note: wire.optional(wire.nullable(wire.text())) }));

const { paths, components } = openApiOf([
  route('GET', '/things/:thing_id', {
    summary: 'Does something',
    section: 'messages §1',
    auth: 'user',
    scope: 'account',
    dto: ExampleDto,
    response: wire.fields({ things: wire.listOf(thing) }),
    handle,
  }),
  route('POST', '/things/*name', {
    summary: 'Does something',
    section: 'messages §1',
    auth: 'anyone',
    atRoot: true,
    dto: ExampleDto,
    handle,
  }),
  route('POST', '/development', {
    summary: 'Does something',
    section: 'messages §1',
    auth: 'anyone',
    isDevelopment: true,
    dto: ExampleDto,
    handle,
  }),
]);

it('openApiOf places parameters in the path, the query or a form', () => {
  expect(paths['/api/v1/things/{thing_id}']!.get).toMatchObject({
    operationId: 'get-things-thing_id',
    parameters: [
      { name: 'thing_id', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } },
      { name: 'name', in: 'query', required: true, schema: { type: 'string', maxLength: 60 } },
      {
        name: 'people',
        in: 'query',
        content: { 'application/json': { schema: { type: 'array', maxItems: 10, default: [] } } },
      },
    ],
  });
  expect(paths['/things/{name}']!.post).toMatchObject({
    security: [],
    parameters: [{ name: 'name', in: 'path' }],
    requestBody: {
      required: true,
      content: {
        'application/x-www-form-urlencoded': {
          schema: { required: ['thing_id'], properties: { thing_id: { type: 'integer' }, people: { type: 'array' } } },
          encoding: { people: { contentType: 'application/json' } },
        },
      },
    },
  });
});

it('openApiOf omits development routes', () => {
  expect(Object.keys(paths)).toEqual(['/api/v1/things/{thing_id}', '/things/{name}']);
});

it('openApiOf describes a success response completely, with named schemas among the components', () => {
  const { content } = paths['/api/v1/things/{thing_id}']!.get!.responses[200] as {
    content: Record<string, { schema: object }>;
  };
  expect(content['application/json']!.schema).toEqual({
    type: 'object',
    properties: {
      result: { const: 'success' },
      msg: { type: 'string' },
      things: { type: 'array', items: { $ref: '#/components/schemas/Thing' } },
      ignored_parameters_unsupported: { type: 'array', items: { type: 'string' } },
    },
    required: ['result', 'msg', 'things'],
    additionalProperties: false,
  });
  expect(components.schemas.Thing).toEqual({
    title: 'Thing',
    type: 'object',
    properties: { id: { type: 'integer', format: 'int64' }, note: { type: ['string', 'null'] } },
    required: ['id'],
    additionalProperties: false,
  });
});

it('openApiOf merges operations with paths that differ only in a parameter name', () => {
  class ByNameDto {
    @TextParam({ max: 9 }) name!: string;
  }
  const described = openApiOf([
    route('GET', '/things/:thing_id', {
      summary: 'Does something',
      section: 'messages §1',
      auth: 'user',
      scope: 'account',
      dto: ExampleDto,
      handle,
    }),
    route('GET', '/things/:name', {
      summary: 'Does something',
      section: 'messages §1',
      auth: 'user',
      scope: 'account',
      dto: ByNameDto,
      handle,
    }),
  ]).paths;
  expect(Object.keys(described)).toEqual(['/api/v1/things/{thing_id}']);
  expect(described['/api/v1/things/{thing_id}']!.get!.parameters![0]).toEqual({
    name: 'thing_id',
    in: 'path',
    required: true,
    description: 'Or `name`: Name.',
    schema: {
      anyOf: [
        { type: 'integer', format: 'int64' },
        { type: 'string', maxLength: 9 },
      ],
    },
  });
});

it('openApiOf assigns a unique id to each operation', () => {
  const operations = Object.values(openApiOf(createRoutes({} as RouteDependencies)).paths).flatMap(Object.values);
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
});

it('forGenerators gives each object alternative of a named schema a name', () => {
  const either = wire.named('Either', wire.anyOf(wire.fields({ id: wire.integer() }), thing, wire.text()));
  const described = openApiOf([
    route('GET', '/either', {
      summary: 'Does something',
      section: 'messages §1',
      auth: 'user',
      scope: 'account',
      dto: ExampleDto,
      response: wire.fields({ it: either }),
      handle,
    }),
  ]);
  const { schemas } = forGenerators(described).components;
  expect(schemas.Either!.anyOf).toEqual([
    { $ref: '#/components/schemas/Either1' },
    { $ref: '#/components/schemas/Thing' },
    { type: 'string' },
  ]);
  expect(schemas.Either1).toMatchObject({ title: 'Either1', properties: { id: { type: 'integer' } } });
});

it('forGenerators describes numbers or texts outside of JSON as text', () => {
  const { paths: adapted } = forGenerators(openApiOf(createRoutes({} as RouteDependencies)));
  const page = adapted['/api/v1/messages']!;
  expect(page.get!.parameters).toContainEqual(
    expect.objectContaining({ name: 'anchor', in: 'query', schema: { type: 'string' } }),
  );
  const unions = Object.values(adapted).flatMap((methods) =>
    Object.values(methods).flatMap((operation) =>
      fieldsOf(operation).filter(({ schema, holdsJson }) => 'anyOf' in schema && !holdsJson),
    ),
  );
  expect(unions).toEqual([]);
});

const BYTES = {
  summary: 'Does something',
  section: 'messages §1',
  auth: 'user',
  scope: 'account',
  dto: ExampleDto,
  response: 'bytes',
  handle,
} as const;

it('openApiOf describes files as binary', () => {
  const described = openApiOf([route('GET', '/file', BYTES)]);
  expect(described.paths['/api/v1/file']!.get!.responses[200]).toMatchObject({
    content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
  });
});

it('openApiOf describes the content types of bytes, and of errors that are not JSON', () => {
  const { paths: described } = openApiOf([
    route('GET', '/picture', { ...BYTES, contentType: 'image/*', errorTypes: { 403: 'text/html' } }),
    route('GET', '/names', { ...BYTES, contentType: 'application/json', errorTypes: { default: 'text/plain' } }),
    route('GET', '/script', { ...BYTES, contentType: 'text/javascript' }),
  ]);
  const { responses } = described['/api/v1/picture']!.get!;
  const error = { $ref: '#/components/schemas/Error' };
  expect(responses[200]).toMatchObject({ content: { 'image/*': { schema: { type: 'string', format: 'binary' } } } });
  expect(responses[403]).toMatchObject({
    content: { 'application/json': { schema: error }, 'text/html': { schema: { type: 'string' } } },
  });
  const ofNames = described['/api/v1/names']!.get!.responses;
  expect(ofNames[200]).toMatchObject({ content: { 'application/json': { schema: { type: 'object' } } } });
  expect(Object.keys((ofNames.default as { content: object }).content)).toEqual(['application/json', 'text/plain']);
  expect(described['/api/v1/script']!.get!.responses[200]).toMatchObject({
    content: { 'text/javascript': { schema: { type: 'string' } } },
  });
});

it('openApiOf rejects two schemas with the same name', () => {
  const answering = (path: string, field: wire.WireSchema<unknown>) =>
    route('GET', path, {
      summary: 'Does something',
      section: 'messages §1',
      auth: 'user',
      scope: 'account',
      dto: ExampleDto,
      response: wire.fields({ it: field }),
      handle,
    });
  const other = wire.named('Thing', wire.fields({ id: wire.text() }));
  expect(() => openApiOf([answering('/a', thing), answering('/b', other)])).toThrow('Two schemas have the title Thing');
});

it('openApiOf marks JSON parameters that may hold text', () => {
  const routes = createRoutes({} as RouteDependencies);
  const { requestBody } = openApiOf(routes).paths['/api/v1/register']!.post!;
  const { encoding } = Object.values((requestBody as { content: object }).content)[0] as { encoding: object };
  expect(encoding).toMatchObject({
    event_types: { contentType: 'application/json' },
    idle_queue_timeout: { contentType: 'application/json' },
  });
  expect(encoding).not.toHaveProperty('include_subscribers');
});

it('openApiOf requires a response schema for every operation', () => {
  const undeclared = createRoutes({} as RouteDependencies)
    .filter((each) => !each.errorPage && each.response !== 'bytes' && responseSchemaOf(each) === null)
    .map(({ method, path }) => `${method} ${path}`);
  expect(undeclared).toEqual([]);
});

describe('OpenAPI document of all routes', () => {
  const document = openApiOf(createRoutes({} as RouteDependencies));
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, ...operation })),
  );

  it('describes all of its tags', () => {
    const known = new Set(document.tags.map(({ name }) => name));
    expect(operations.filter(({ tags }) => !known.has(tags[0])).map(({ name }) => name)).toEqual([]);
  });

  it('describes every parameter', () => {
    const undescribed = operations.flatMap((operation) =>
      fieldsOf(operation).flatMap(({ name, description }) => (description ? [] : [`${operation.name} ${name}`])),
    );
    expect(undescribed).toEqual([]);
  });

  it('declares the errors of every operation', () => {
    for (const { responses } of operations)
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '429']));
  });

  it('names every union that contains a list, an object or another union', () => {
    const unnamed = new Set<string>();
    const visit = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [key, each] of Object.entries(value)) visit(each, `${path}/${key}`);
      const alternatives = (value as { anyOf?: readonly { type?: unknown }[] }).anyOf ?? [];
      const isNamed = /^schemas\/\w+$/.test(path);
      const isPlain = alternatives.every(
        (each) => '$ref' in each || !['array', 'object', undefined].includes(each.type as string),
      );
      if (!isNamed && !isPlain && !alternatives.every((each) => 'enum' in each || each.type === 'null'))
        unnamed.add(path);
    };
    visit(document.paths, 'paths');
    visit(document.components.schemas, 'schemas');
    expect([...unnamed]).toEqual([]);
  });

  it('gives integers 64 bits and no parameter the default null', () => {
    const small: unknown[] = [];
    JSON.stringify(document, (_, value) => {
      const isInteger = [value?.type].flat().includes('integer');
      if ((isInteger && !value.enum && value.format !== 'int64') || value?.default === null) small.push(value);
      return value;
    });
    expect(small).toEqual([]);
  });

  it('does not mention contract sections', () => {
    expect(JSON.stringify(document)).not.toMatch(/§|README|decision \d/);
  });
});
