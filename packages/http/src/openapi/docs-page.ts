import type { JsonSchema } from '../routing/wire-schema.js';
import type { OpenApiDocument, OpenApiOperation } from './openapi.js';

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
summary { cursor: pointer; padding: .25rem 0; }
code, pre { font: 14px/1.5 ui-monospace, monospace; }
pre { background: #f4f4f4; overflow-x: auto; padding: .5rem; }
b { display: inline-block; min-width: 4rem; }`;

/** The document for people: each operation with its parameters and what it answers. Without scripts. In short steps. */
export function* writeDocsPage({ paths, components }: OpenApiDocument): Generator<void, string> {
  const byTag = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const [tag = ''] = operation.tags;
      const entries = byTag.get(tag) ?? [];
      byTag.set(tag, entries);
      entries.push(operationHtml(method, path, operation));
      yield;
    }
  }
  const operations = [...byTag].map(([tag, entries]) => `<h2>${escapeHtml(tag)}</h2>\n${entries.join('\n')}`);
  const schemas = Object.entries(components.schemas).map(([name, schema]) =>
    detailsHtml(`<code id="${escapeHtml(name)}">${escapeHtml(name)}</code>`, schemaHtml(schema)),
  );
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>API</title><style>${STYLE}</style></head>
<body>
<h1>API</h1>
<p>As <a href="v1/openapi.json">OpenAPI document</a>.</p>
${operations.join('\n')}
<h2>Schemas</h2>
${schemas.join('\n')}
</body>
</html>
`;
}

function operationHtml(method: string, path: string, operation: OpenApiOperation): string {
  const { description, parameters, requestBody, responses } = operation;
  const parts = [
    ...(description === undefined ? [] : [`<p>${escapeHtml(description)}</p>`]),
    ...(parameters ? [`<p>Parameters</p>${schemaHtml(parameters)}`] : []),
    ...(requestBody ? [`<p>Form</p>${schemaHtml(requestBody)}`] : []),
    `<p>Success</p>${schemaHtml(responses[200])}`,
  ];
  return detailsHtml(`<b>${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code>`, parts.join(''));
}

const detailsHtml = (summary: string, content: string): string =>
  `<details><summary>${summary}</summary>${content}</details>`;

const schemaHtml = (schema: JsonSchema | readonly unknown[] | undefined): string =>
  `<pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre>`;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character]!);
