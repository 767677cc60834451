import { getOrThrow } from '@parley/domain/kernel';
import { type Described, type Field, fieldsOf, responseOf, typeOf } from './client-api.js';
import type { OpenApiDocument, OpenApiOperation } from './openapi.js';

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
summary code { overflow-wrap: anywhere; }
summary span { color: light-dark(#555, #aaa); }
small { color: light-dark(#555, #aaa); }
b { display: inline-block; min-width: 5rem; }`;

/**
 * Generates the document as an HTML page without scripts, listing parameters and responses of each operation. Runs in
 * short steps.
 */
export function* writeDocsPage({ info, tags: described, paths, components }: OpenApiDocument): Generator<void, string> {
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
  const sections = (described as readonly { readonly name: string; readonly description: string }[]).filter(
    ({ name }) => byTag.has(name),
  );
  const links = sections.map(({ name }) => `<a href="#${idOf(name)}">${escapeHtml(name)}</a>`);
  const operations = sections.map(
    ({ name, description }) =>
      `<h2 id="${idOf(name)}">${escapeHtml(name)}</h2>\n<p>${escapeHtml(description)}</p>\n${getOrThrow(byTag, name).join('\n')}`,
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
<p>${textHtml(String(info.description))} Authenticate with <code>Authorization: Basic</code>: email address and API key.
This page is also an <a href="v1/openapi.json">OpenAPI document</a>.</p>
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
    ...(operation.description === undefined ? [] : [`<p>${textHtml(operation.description)}</p>`]),
    ...(operation.security?.length === 0 ? ['<p>Needs no API key.</p>'] : []),
    ...(fields.length > 0 ? [fieldsHtml(fields, names)] : []),
    response ? `<p>Response</p><pre>${typeHtml(response, names)}</pre>` : '<p>The response is a file.</p>',
  ];
  const line = `<b>${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code>`;
  return detailsHtml(`${line} <span>${escapeHtml(operation.summary ?? '')}</span>`, parts.join(''));
}

function fieldsHtml(fields: readonly Field[], names: Names): string {
  const rows = fields.map(({ name, location, schema, description, isRequired, holdsJson }) => {
    const notes = [
      ...(location === 'path' ? ['in the path'] : []),
      ...(isRequired && location !== 'path' ? ['required'] : []),
      ...(holdsJson ? ['JSON'] : []),
      ...boundsOf(schema),
    ];
    const about = [textHtml(description ?? ''), notes.length > 0 ? `<small>${notes.join(', ')}</small>` : ''];
    const cells = [`<code>${escapeHtml(name)}</code>`, `<code>${typeHtml(schema, names)}</code>`, about.join('<br>')];
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  return `<table><tr><th>Parameter</th><th>Type</th><th>Description</th></tr>${rows.join('')}</table>`;
}

function boundsOf(schema: Described & Readonly<Record<string, unknown>>): readonly string[] {
  const { minimum, maximum, maxLength, maxItems } = schema;
  return [
    ...(minimum === undefined ? [] : [`from ${minimum}`]),
    ...(maximum === undefined ? [] : [`to ${maximum}`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(maxItems === undefined ? [] : [`at most ${maxItems}`]),
    ...(schema.default === undefined ? [] : [`default <code>${escapeHtml(JSON.stringify(schema.default))}</code>`]),
  ];
}

/** Writes a type as HTML with links to named schemas. */
const typeHtml = (schema: Described, names: Names): string =>
  escapeHtml(typeOf(schema as Readonly<Record<string, unknown>>, 'answered', '')).replace(/\b[A-Z]\w+\b/g, (word) =>
    names.has(word) ? `<a href="#${word}">${word}</a>` : word,
  );

const idOf = (tag: string): string => tag.toLowerCase().replace(/\W+/g, '-');

/** Converts text with code in backticks to HTML. */
const textHtml = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');

const detailsHtml = (summary: string, content: string): string =>
  `<details><summary>${summary}</summary>${content}</details>`;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character]!);
