import { StepScheduler } from '../kernel/json-lists.js';
import { NoParameters } from '../kernel/params.js';
import { unknownPath } from '../kernel/reply.js';
import { type Route, route } from '../kernel/route.js';
import type { ServerInfo } from '../kernel/server-info.js';
import { type Described, type Field, fieldsOf, responseOf, typeOf } from './client-api.js';
import { describeApi, type OpenApiDocument, type OpenApiOperation } from './openapi.js';

const STYLE = `
:root { color-scheme: light dark; --shade: light-dark(#f4f4f4, #222); }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
nav a { display: inline-block; margin-right: .75rem; }
summary { cursor: pointer; padding: .25rem 0; }
code, pre { font: 14px/1.5 ui-monospace, monospace; }
pre { background: var(--shade); overflow-x: auto; padding: .5rem; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid var(--shade); padding: .25rem .5rem .25rem 0; text-align: left; vertical-align: top; }
details > :not(summary) { margin-left: 1rem; }
b { display: inline-block; min-width: 5rem; }`;

/**
 * Generates the document as an HTML page without scripts, listing parameters and responses of each operation. Runs in
 * short steps.
 */
export function* writeDocsPage({ paths, components }: OpenApiDocument): Generator<void, string> {
  const names = new Set(Object.keys(components.schemas));
  const byTag = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const [tag = ''] = operation.tags;
      const entries = byTag.get(tag) ?? [];
      byTag.set(tag, entries);
      entries.push(operationHtml(method, path, operation, names));
      yield;
    }
  }
  const tags = [...byTag.keys()].sort();
  const links = tags.map((tag) => `<a href="#of-${escapeHtml(tag)}">${escapeHtml(tag)}</a>`);
  const operations = tags.map(
    (tag) => `<h2 id="of-${escapeHtml(tag)}">${escapeHtml(tag)}</h2>\n${byTag.get(tag)!.join('\n')}`,
  );
  const schemas: string[] = [];
  for (const name of [...names].sort()) {
    // Browsers open the details element that a link targets.
    const type = `<pre id="${name}">${typeHtml(components.schemas[name]!, names)}</pre>`;
    schemas.push(detailsHtml(`<code>${name}</code>`, type));
    yield;
  }
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>API</title><style>${STYLE}</style></head>
<body>
<h1>API</h1>
<p>As <a href="v1/openapi.json">OpenAPI document</a>. Calls are made with <code>Authorization: Basic</code>, of the email address and the
API key; parameters are sent as a form, or in the query of GET. Answers are JSON.</p>
<nav>${links.join('\n')}
<a href="#schemas">Schemas</a></nav>
${operations.join('\n')}
<h2 id="schemas">Schemas</h2>
${schemas.join('\n')}
</body>
</html>
`;
}

type Names = ReadonlySet<string>;

function operationHtml(method: string, path: string, operation: OpenApiOperation, names: Names): string {
  const fields = fieldsOf(operation);
  const response = responseOf(operation);
  const parts = [
    ...(operation.description === undefined ? [] : [`<p>${escapeHtml(operation.description)}</p>`]),
    ...(operation.security?.length === 0 ? ['<p>Whoever asks.</p>'] : []),
    ...(fields.length > 0 ? [fieldsHtml(fields, names)] : []),
    response ? `<p>Answers</p><pre>${typeHtml(response, names)}</pre>` : '<p>Answers bytes.</p>',
  ];
  return detailsHtml(`<b>${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code>`, parts.join(''));
}

function fieldsHtml(fields: readonly Field[], names: Names): string {
  const rows = fields.map(({ name, location, schema, isRequired, holdsJson }) => {
    const notes = [
      ...(location === 'path' ? ['in the path'] : []),
      ...(isRequired && location !== 'path' ? ['required'] : []),
      ...(holdsJson ? ['JSON'] : []),
      ...boundsOf(schema),
    ];
    const cells = [`<code>${escapeHtml(name)}</code>`, `<code>${typeHtml(schema, names)}</code>`, notes.join(', ')];
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  return `<table><tr><th>Parameter</th><th>Type</th><th></th></tr>${rows.join('')}</table>`;
}

function boundsOf(schema: Described & Readonly<Record<string, unknown>>): readonly string[] {
  const { minimum, maximum, maxLength, maxItems } = schema;
  return [
    ...(minimum === undefined ? [] : [`from ${minimum}`]),
    ...(maximum === undefined ? [] : [`to ${maximum}`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(maxItems === undefined ? [] : [`at most ${maxItems}`]),
    ...(schema.default === undefined ? [] : [`otherwise <code>${escapeHtml(JSON.stringify(schema.default))}</code>`]),
  ];
}

/** Writes a type as HTML with links to named schemas. */
const typeHtml = (schema: Described, names: Names): string =>
  escapeHtml(typeOf(schema as Readonly<Record<string, unknown>>, 'answered', '')).replace(/\b[A-Z]\w+\b/g, (word) =>
    names.has(word) ? `<a href="#${word}">${word}</a>` : word,
  );

const detailsHtml = (summary: string, content: string): string =>
  `<details><summary>${summary}</summary>${content}</details>`;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character]!);

/** Allows only the inline styles of the page. */
const PAGE_POLICY = [
  'Content-Security-Policy',
  "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
];

/** Routes of the OpenAPI document and, in development, its HTML page. Both are the same for all callers. */
export function openApiRoutes(
  routes: readonly Route[],
  { serverInfo }: { readonly serverInfo: Pick<ServerInfo, 'isDevelopment'> },
): readonly Route[] {
  const scheduler = new StepScheduler();
  const description = once(() => scheduler.runSteps(describeApi(routes)));
  const json = once(async () => JSON.stringify(await description()));
  const page = once(async () => scheduler.runSteps(writeDocsPage(await description())));
  return [
    route('GET', '/openapi.json', {
      auth: 'anyone',
      dto: NoParameters,
      response: 'bytes',
      handle: async () => ({ status: 200, body: await json() }),
    }),
    route('GET', '/api/docs', {
      auth: 'anyone',
      atRoot: true,
      dto: NoParameters,
      response: 'bytes',
      handle: async () => {
        if (!serverInfo.isDevelopment) throw unknownPath();
        return { status: 200, body: await page(), contentType: 'text/html; charset=utf-8', headers: PAGE_POLICY };
      },
    }),
  ];
}

/** Memoizes an async function; concurrent callers share the first call. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
