import type { JsonSchema } from '../kernel/wire-schema.js';
import type { OpenApiDocument } from './openapi.js';
import { answerOf, type Described, type Field, fieldsOf, objectType, quoted, typeOf } from './operation-types.js';

const HEAD = `// Made of the route table by \`npm run client-api\`: change that instead.
`;

const PREFIX = '/api/v1';

/**
 * The document as TypeScript for `packages/client`: a type for each named schema, `Operations` with the parameters and answer of
 * every operation below /api/v1 that answers JSON, and which parameters are JSON where their values may be texts. Forms that
 * are deprecated are left out: the client asks for the others.
 */
export function writeClientApi({ paths, components }: OpenApiDocument): string {
  const operations: string[] = [];
  const jsonTexts: string[] = [];
  for (const [path, methods] of Object.entries(paths)) {
    if (!path.startsWith(PREFIX)) continue;
    for (const [method, operation] of Object.entries(methods)) {
      const answer = answerOf(operation);
      if (!answer) continue;
      const key = `${method.toUpperCase()} ${path.slice(PREFIX.length)}`;
      const fields = fieldsOf(operation);
      operations.push(
        `${commentOf(operation.description)}  ${quoted(key)}: {`,
        `    params: ${paramsType(fields)};`,
        `    answer: ${typeOf(answer, 'answered', '    ')};`,
        '  };',
      );
      const texts = fields.filter(({ holdsJson, schema }) => holdsJson && mayBeText(schema)).map(({ name }) => name);
      if (texts.length > 0) jsonTexts.push(`  ${quoted(key)}: [${texts.map(quoted).join(', ')}],`);
    }
  }
  const types = Object.entries(components.schemas)
    .filter(([name]) => name !== 'Error')
    .map(([name, schema]) => `export type ${name} = ${typeOf(schema, 'answered', '')};`);
  return [
    HEAD,
    ...types.flatMap((type) => [type, '']),
    'export interface Operations {',
    ...operations,
    '}',
    '',
    '/** Parameters that are JSON although their values may be texts, quotes and all. */',
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

function mayBeText(schema: JsonSchema): boolean {
  const { type, anyOf, enum: words } = schema as Described;
  return (
    type === 'string' || words?.some((word) => typeof word === 'string') === true || anyOf?.some(mayBeText) === true
  );
}

const commentOf = (description: string | undefined): string =>
  description === undefined ? '' : `  /** ${description} */\n`;
