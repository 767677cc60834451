import type { Described, Field } from '@parley/http/openapi';

/** Operation to show with example values for its required parameters. */
export interface ExampleCall {
  /** Lower-case HTTP method. */
  readonly method: string;
  /** Path with placeholders, such as `/api/v1/messages/{message_id}`. */
  readonly path: string;
  readonly fields: readonly Field[];
  readonly needsKey: boolean;
  /** True if `parley/client` and Zulip's Python package can call it: the response is JSON. */
  readonly isInClients: boolean;
}

/** Values that read better than those derived from a type. */
const VALUES: Readonly<Record<string, unknown>> = {
  content: 'Hello',
  topic: 'Lunch',
  to: 'general',
  type: 'stream',
  email: 'ann@example.com',
  name: 'design',
  emoji_name: 'tada',
  anchor: 'newest',
  num_before: 20,
  num_after: 0,
  stream_id: 7,
  user_id: 9,
  message_id: 42,
  subscriptions: [{ name: 'design' }],
  messages: [42, 43],
  flag: 'starred',
  command: '/ping',
  scheduled_delivery_timestamp: 2_000_000_000,
};

/** Optional parameters without which a call makes no sense. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  'post /api/v1/messages': ['to', 'topic'],
  'patch /api/v1/messages/{message_id}': ['content'],
  'post /api/v1/typing': ['to'],
  'patch /api/v1/users/me/subscriptions/muted_topics': ['stream_id'],
  'get /api/v1/messages': ['anchor', 'num_before', 'num_after'],
};

const API = '/api/v1';

/** The same call by curl, JavaScript and Python, as code blocks of a code group. */
export function examplesOf(call: ExampleCall): string {
  const optional = SHOWN[`${call.method} ${call.path}`] ?? [];
  const shown = call.fields.filter(
    ({ name, schema, isRequired }) => isRequired || isFile(schema) || optional.includes(name),
  );
  const values = new Map(shown.map((field) => [field, exampleValue(field.name, field.schema)]));
  const path = call.path.replace(/\{(\w+)\}/g, (_, name) => {
    const [, value] = [...values].find(([field]) => field.location === 'path' && field.name === name) ?? [];
    return encodeURIComponent(String(value));
  });
  const sent = [...values].filter(([{ location }]) => location !== 'path');
  return [
    '::: code-group',
    `\`\`\`sh [curl]\n${curl(call, path, sent)}\n\`\`\``,
    `\`\`\`js [JavaScript]\n${javaScript(call, path, sent, values)}\n\`\`\``,
    `\`\`\`python [Python]\n${python(call, path, sent)}\n\`\`\``,
    ':::',
  ].join('\n\n');
}

type Sent = readonly (readonly [Field, unknown])[];

function curl({ method, needsKey }: ExampleCall, path: string, sent: Sent): string {
  // curl sends either a form with files or an encoded one.
  const field = sent.some(([{ schema }]) => isFile(schema)) ? 'form-string' : 'data-urlencode';
  const lines = [
    `curl ${method === 'get' ? '--get ' : method === 'post' ? '' : `--request ${method.toUpperCase()} `}"$SITE${path}"`,
    ...(needsKey ? ['--user "$EMAIL:$API_KEY"'] : []),
    ...sent.map(([{ name, schema }, value]) =>
      isFile(schema) ? `--form '${name}=@photo.png'` : `--${field} '${name}=${textOf(value)}'`,
    ),
    ...(method === 'post' && sent.length === 0 ? ["--data ''"] : []),
  ];
  return lines.join(' \\\n  ');
}

function javaScript(
  { method, path, needsKey, isInClients }: ExampleCall,
  filled: string,
  sent: Sent,
  values: ReadonlyMap<Field, unknown>,
): string {
  if (!isInClients) {
    const params = Object.fromEntries(sent.map(([{ name }, value]) => [name, textOf(value)]));
    const hasParams = sent.length > 0;
    const query = method === 'get' && hasParams ? `?${new URLSearchParams(params)}` : '';
    const options = [
      ...(method === 'get' ? [] : [`method: '${method.toUpperCase()}'`]),
      ...(needsKey ? ['headers: { Authorization: authorization }'] : []),
      ...(method === 'get' || !hasParams ? [] : [`body: new URLSearchParams(${literal(params)})`]),
    ].join(', ');
    return `const response = await fetch(\`\${site}${filled}${query}\`${options === '' ? '' : `, { ${options} }`});`;
  }
  const members = [...values].map(
    ([{ name, schema }, value]) => `${name}: ${isFile(schema) ? 'file' : literal(value)}`,
  );
  const input = members.length === 0 ? '' : `, { ${members.join(', ')} }`;
  return `const result = await client.${method}('${path.slice(API.length)}'${input});`;
}

function python({ method, needsKey, isInClients }: ExampleCall, filled: string, sent: Sent): string {
  const files = sent.filter(([{ schema }]) => isFile(schema));
  const members = sent
    .filter((each) => !files.includes(each))
    .map(([{ name }, value]) => `"${name}": ${pythonOf(value)}`);
  if (!isInClients) {
    const params = members.length === 0 ? '' : `, ${method === 'get' ? 'params' : 'data'}={${members.join(', ')}}`;
    return `response = requests.${method}(site + "${filled}"${params}${needsKey ? ', auth=auth' : ''})`;
  }
  const request = members.length === 0 ? '' : `, request={${members.join(', ')}}`;
  const file = files.length === 0 ? '' : ', files=[open("photo.png", "rb")]';
  return `result = client.call_endpoint(url="${filled.slice(API.length + 1)}", method="${method.toUpperCase()}"${request}${file})`;
}

const isFile = ({ format }: Described): boolean => format === 'binary';
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
const literal = (value: unknown): string => JSON.stringify(value).replaceAll('"', "'");
const pythonOf = (value: unknown): string =>
  JSON.stringify(value)
    .replace(/\btrue\b/g, 'True')
    .replace(/\bfalse\b/g, 'False')
    .replace(/\bnull\b/g, 'None');

/** Returns a readable value if the schema allows it. */
function exampleValue(name: string, schema: Described): unknown {
  const value = VALUES[name];
  return value !== undefined && fits(value, schema) ? value : sampleOf(schema);
}

function fits(value: unknown, { type = [], enum: words, anyOf, items = {} }: Described): boolean {
  if (anyOf) return currentOf(anyOf).some((each) => fits(value, each));
  if (words) return words.includes(value);
  if (Array.isArray(value)) return type === 'array' && value.every((item) => fits(item, items));
  return [type].flat().some((each) => each === typeof value || (each === 'integer' && typeof value === 'number'));
}

type Schema = Field['schema'];

/** Replaces references to named schemas by the schemas; a schema within itself stays empty. */
export function withoutReferences(schema: Schema, schemas: Readonly<Record<string, Schema>>): Schema {
  const { $ref, anyOf, items, properties } = schema as Described;
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1);
    return withoutReferences(schemas[name] ?? {}, { ...schemas, [name]: {} });
  }
  const replace = (each: Schema): Schema => withoutReferences(each, schemas);
  return {
    ...schema,
    ...(anyOf && { anyOf: anyOf.map(replace) }),
    ...(items && { items: replace(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, replace(each)])),
    }),
  };
}

const currentOf = (forms: readonly Described[]): readonly Described[] =>
  forms.filter(({ deprecated }) => deprecated !== true);

function sampleOf(schema: Described): unknown {
  const { type, enum: words, const: only, items, anyOf, properties = {}, required = [] } = schema;
  if (only !== undefined) return only;
  if (words) return words[0];
  if (anyOf) return sampleOf(currentOf(anyOf)[0] ?? {});
  switch (type) {
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    case 'array':
      return [sampleOf(items ?? {})];
    case 'object':
      return Object.fromEntries(required.map((name) => [name, exampleValue(name, properties[name] ?? {})]));
    default:
      return 'text';
  }
}
