import {
  type Described,
  type Field,
  fieldsOf,
  type OpenApiDocument,
  type OpenApiOperation,
  responseOf,
  typeOf,
} from '@parley/http/openapi';
import { examplesOf, withoutReferences } from './examples.js';
import { anchorOf, type Page } from './pages.js';

/** Pages of the API: an overview, one for each tag and one with the named types. */
export function apiPages({ info, tags, paths, components }: OpenApiDocument): readonly Page[] {
  const names = new Set(Object.keys(components.schemas));
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const sections = (tags as readonly { readonly name: string; readonly description: string }[])
    .map((tag) => ({ ...tag, operations: operations.filter(({ operation }) => operation.tags[0] === tag.name) }))
    .filter((tag) => tag.operations.length > 0);
  const overview = [
    '# API reference',
    `${info.description} The [contract](../contract/index.md) describes the order of checks and the texts of errors.`,
    'Examples use these variables and clients. [client.md](../client.md) describes `parley/client`; Zulip documents its Python package `zulip`.',
    CLIENTS,
    ...sections.map(({ name, description, operations: own }) =>
      [
        `## [${name}](./${slugOf(name)}.md)`,
        `${description}`,
        own
          .map(
            ({ path, method, operation }) =>
              `- [\`${method.toUpperCase()} ${path}\`](./${slugOf(name)}.md#${anchorOf(operation.summary)}): ${operation.summary}`,
          )
          .join('\n'),
      ].join('\n\n'),
    ),
  ];
  return [
    { path: 'api/index', text: `${overview.join('\n\n')}\n` },
    ...sections.map(({ name, description, operations: own }) => ({
      path: `api/${slugOf(name)}`,
      text: `${[`# ${name}`, description, ...own.map((each) => operationText(each, names, components.schemas))].join('\n\n')}\n`,
    })),
    {
      path: 'api/types',
      text: `${[
        '# Types of the API',
        ...[...names].sort().map((name) => `## ${name}\n\n${typeBlock(components.schemas[name]!, new Set())}`),
      ].join('\n\n')}\n`,
    },
  ];
}

const CLIENTS = `::: code-group

\`\`\`sh [curl]
SITE=https://chat.example.com EMAIL=ann@example.com API_KEY=…
\`\`\`

\`\`\`js [JavaScript]
import { ParleyClient } from 'parley/client';

const site = 'https://chat.example.com';
const client = new ParleyClient({ url: site, credentials: { email: 'ann@example.com', apiKey: '…' } });
// Credentials for responses other than JSON.
const authorization = \`Basic \${btoa('ann@example.com:…')}\`;
\`\`\`

\`\`\`python [Python]
import requests
import zulip

site, auth = "https://chat.example.com", ("ann@example.com", "…")
client = zulip.Client(site=site, email=auth[0], api_key=auth[1])
\`\`\`

:::`;

interface Documented {
  readonly path: string;
  readonly method: string;
  readonly operation: OpenApiOperation;
}

function operationText(
  { path, method, operation }: Documented,
  names: ReadonlySet<string>,
  schemas: Readonly<Record<string, Field['schema']>>,
): string {
  const fields = fieldsOf(operation);
  const written = fields.map((field) => ({ ...field, schema: withoutReferences(field.schema, schemas) }));
  const response = responseOf(operation);
  const needsKey = operation.security?.length !== 0;
  return [
    `## ${operation.summary}`,
    `\`${method.toUpperCase()} ${path}\`${needsKey ? '' : ' (without API key)'}`,
    ...(operation.description === undefined ? [] : [operation.description]),
    examplesOf({
      method,
      path,
      fields: written,
      needsKey,
      isInClients: response !== null && path.startsWith('/api/v1/'),
    }),
    ...(fields.length === 0 ? [] : [fieldsTable(fields, names)]),
    response ? `Response:\n\n${typeBlock(response, names)}` : 'The response is a file.',
  ].join('\n\n');
}

function fieldsTable(fields: readonly Field[], names: ReadonlySet<string>): string {
  const rows = fields.map(({ name, location, schema, description = '', isRequired, holdsJson }) => {
    const type = cellOf(typeOf(schema, 'sent', '').replace(/\s+/g, ' '));
    const notes = [
      ...(location === 'path' ? ['in the path'] : isRequired ? ['required'] : []),
      ...(holdsJson ? ['JSON'] : []),
      ...boundsOf(schema),
    ].join(', ');
    const linked = [...namesIn(type, names)].map((each) => `[${each}](./types.md#${each.toLowerCase()})`).join(', ');
    const text = [cellOf(description), notes && `(${notes})`, linked].filter((part) => part !== '').join(' ');
    return `| \`${name}\` | \`${type}\` | ${text} |`;
  });
  return ['| Parameter | Type | Description |', '|---|---|---|', ...rows].join('\n');
}

const cellOf = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function boundsOf(schema: Described & Readonly<Record<string, unknown>>): readonly string[] {
  const { minimum, maximum, maxLength, maxItems } = schema;
  return [
    ...(minimum === undefined ? [] : [`from ${minimum}`]),
    ...(maximum === undefined ? [] : [`to ${maximum}`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(maxItems === undefined ? [] : [`at most ${maxItems}`]),
    ...(schema.default === undefined ? [] : [`default \`${JSON.stringify(schema.default)}\``]),
  ];
}

/** Type as code, with links to the named types in it. */
function typeBlock(schema: Described, names: ReadonlySet<string>): string {
  const type = typeOf(schema as Readonly<Record<string, unknown>>, 'answered', '');
  const links = [...namesIn(type, names)].map((name) => `[${name}](./types.md#${name.toLowerCase()})`);
  return [`\`\`\`ts\n${type}\n\`\`\``, ...(links.length === 0 ? [] : [`Types: ${links.join(', ')}`])].join('\n\n');
}

const namesIn = (type: string, names: ReadonlySet<string>): ReadonlySet<string> =>
  new Set((type.match(/\b[A-Z]\w+\b/g) ?? []).filter((word) => names.has(word)));

const slugOf = (tag: string): string => tag.toLowerCase().replace(/\W+/g, '-');
