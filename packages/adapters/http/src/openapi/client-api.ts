import { lastOf } from '@parley/domain/kernel';
import type { JsonSchema } from '../wire/schema.js';
import type { OpenApiDocument, OpenApiOperation } from './openapi.js';

/** Fields of every success response; the client does not declare them. */
const ENVELOPE = new Set(['result', 'msg', 'ignored_parameters_unsupported']);
const JSON_TYPE = 'application/json';

/** Direction of a value; lists in requests may be readonly. */
type Direction = 'sent' | 'answered';

export interface Field {
  readonly name: string;
  readonly location: 'path' | 'query' | 'form';
  readonly schema: JsonSchema;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  readonly holdsJson: boolean;
}

/** Returns the success schema without the envelope; null if the response is not JSON. */
export function responseOf({ responses }: OpenApiOperation): JsonSchema | null {
  const schema = contentOf(responses[200]!)[JSON_TYPE]?.schema;
  // Other JSON, such as the OpenAPI document, has no envelope.
  if (!schema?.properties) return null;
  const { properties, required = [] } = schema as { properties: Record<string, unknown>; required?: string[] };
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !ENVELOPE.has(name))),
    required: required.filter((name) => !ENVELOPE.has(name)),
  };
}

const contentOf = ({ content = {} }: JsonSchema) =>
  content as Readonly<Record<string, { readonly schema: JsonSchema; readonly encoding?: object }>>;

/** Returns parameters from all locations. */
export function fieldsOf({ parameters = [], requestBody }: OpenApiOperation): readonly Field[] {
  const fields = parameters.map((parameter): Field => {
    const json = contentOf(parameter)[JSON_TYPE]?.schema;
    return {
      name: String(parameter.name),
      location: parameter.in === 'path' ? 'path' : 'query',
      schema: json ?? (parameter.schema as JsonSchema),
      description: parameter.description as string | undefined,
      isRequired: parameter.required === true,
      holdsJson: json !== undefined,
    };
  });
  const [body] = requestBody ? Object.values(contentOf(requestBody)) : [];
  if (!body) return fields;
  const { properties, required = [] } = body.schema as { properties: Record<string, JsonSchema>; required?: string[] };
  return [
    ...fields,
    ...Object.entries(properties).map(([name, schema]) => ({
      name,
      location: 'form' as const,
      schema,
      description: schema.description as string | undefined,
      isRequired: required.includes(name),
      holdsJson: Object.hasOwn(body.encoding ?? {}, name),
    })),
  ];
}

export function objectType(
  fields: readonly Pick<Field, 'name' | 'schema' | 'isRequired'>[],
  direction: Direction,
  indent: string,
  isOpen = false,
): string {
  if (fields.length === 0) return isOpen ? 'Record<string, unknown>' : 'Record<never, never>';
  const lines = fields.map(({ name, schema, isRequired }) => {
    const key = /^[a-z_]\w*$/i.test(name) ? name : quoted(name);
    return `${indent}  ${key}${isRequired ? '' : '?'}: ${typeOf(schema, direction, `${indent}  `)};`;
  });
  if (isOpen) lines.push(`${indent}  [name: string]: unknown;`);
  return ['{', ...lines, `${indent}}`].join('\n');
}

export interface Described {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly deprecated?: boolean;
}

/** Returns the TypeScript type of a schema, without deprecated forms. */
export function typeOf(schema: JsonSchema, direction: Direction, indent: string): string {
  const described = schema as Described;
  if (described.$ref !== undefined) return nameOf(described.$ref);
  if (described.const !== undefined) return literal(described.const);
  if (described.enum) return union(described.enum.map(literal));
  if (described.anyOf) {
    const current = described.anyOf.filter((each) => (each as Described).deprecated !== true);
    return union(current.map((each) => typeOf(each, direction, indent)));
  }
  const types = typeof described.type === 'string' ? [described.type] : (described.type ?? []);
  return types.length === 0 ? 'unknown' : union(types.map((type) => plainType(type, described, direction, indent)));
}

function plainType(type: string, described: Described, direction: Direction, indent: string): string {
  switch (type) {
    case 'string':
      return described.format === 'binary' ? 'Blob' : 'string';
    case 'integer':
      return 'number';
    case 'array': {
      const item = typeOf(described.items ?? {}, direction, indent);
      const list = /^[\w.]+$/.test(item) ? `${item}[]` : `(${item})[]`;
      return direction === 'sent' ? `readonly ${list}` : list;
    }
    case 'object': {
      const { properties = {}, required = [], additionalProperties } = described;
      if (typeof additionalProperties === 'object') {
        return `Record<string, ${typeOf(additionalProperties, direction, indent)}>`;
      }
      const fields = Object.entries(properties).map(([name, schema]) => ({
        name,
        schema,
        isRequired: required.includes(name),
      }));
      return objectType(fields, direction, indent, additionalProperties === true);
    }
    default:
      return type;
  }
}

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ');

const literal = (value: unknown): string => (typeof value === 'string' ? quoted(value) : JSON.stringify(value));
export const quoted = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

const HEAD = `// Made of the route table by \`write-api.mjs\`: change that instead.
`;

const PREFIX = '/api/v1';

/**
 * Generates TypeScript for `packages/clients/client` from the document:
 * - a type for each named schema;
 * - `Operations` with the parameters and response of each JSON operation below /api/v1;
 * - a table of the JSON parameters that may hold text.
 * Deprecated formats are omitted, because the client requests newer ones.
 */
export function writeClientApi({ paths, components }: OpenApiDocument): string {
  const operations: string[] = [];
  const jsonTexts: string[] = [];
  /** Named schemas of parameters. */
  const sent = new Set<string>();
  for (const [path, methods] of Object.entries(paths)) {
    if (!path.startsWith(PREFIX)) continue;
    for (const [method, operation] of Object.entries(methods)) {
      const response = responseOf(operation);
      if (!response) continue;
      const key = `${method.toUpperCase()} ${path.slice(PREFIX.length)}`;
      const fields = fieldsOf(operation);
      operations.push(
        `${commentOf(operation.description)}  ${quoted(key)}: {`,
        `    params: ${paramsType(fields)};`,
        `    answer: ${typeOf(response, 'answered', '    ')};`,
        '  };',
      );
      const texts = fields
        .filter(({ holdsJson, schema }) => holdsJson && mayBeText(schema, components.schemas))
        .map(({ name }) => name);
      for (const { schema } of fields) addReferences(schema, components.schemas, sent);
      if (texts.length > 0) jsonTexts.push(`  ${quoted(key)}: [${texts.map(quoted).join(', ')}],`);
    }
  }
  const types = Object.entries(components.schemas)
    .filter(([name]) => name !== 'Error')
    .map(([name, schema]) => `export type ${name} = ${typeOf(schema, sent.has(name) ? 'sent' : 'answered', '')};`);
  return [
    HEAD,
    ...types.flatMap((type) => [type, '']),
    'export interface Operations {',
    ...operations,
    '}',
    '',
    '/** Parameters that hold JSON although their values may be text, so clients must quote them. */',
    'export const JSON_TEXTS: Readonly<Record<string, readonly string[]>> = {',
    ...jsonTexts,
    '};',
    '',
  ].join('\n');
}

const paramsType = (fields: readonly Field[]): string =>
  objectType(
    fields.map(({ name, schema, isRequired }) => ({ name, schema, isRequired })),
    'sent',
    '    ',
  );

type Schemas = Readonly<Record<string, JsonSchema>>;

const nameOf = (reference: string): string => lastOf(reference.split('/'));

/** Adds the names of all schemas to which a schema refers. */
function addReferences(schema: JsonSchema, schemas: Schemas, names: Set<string>): void {
  for (const [, reference] of JSON.stringify(schema).matchAll(/"\$ref":"([^"]+)"/g)) {
    const name = nameOf(reference!);
    if (names.has(name)) continue;
    names.add(name);
    addReferences(schemas[name]!, schemas, names);
  }
}

function mayBeText(schema: JsonSchema, schemas: Schemas): boolean {
  const { $ref, type, anyOf, enum: words } = schema as Described;
  if ($ref !== undefined) return mayBeText(schemas[nameOf($ref)]!, schemas);
  return (
    type === 'string' ||
    words?.some((word) => typeof word === 'string') === true ||
    anyOf?.some((each) => mayBeText(each, schemas)) === true
  );
}

const commentOf = (description: string | undefined): string =>
  description === undefined ? '' : `  /** ${description} */\n`;
