import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createRoutes, type DocumentedRoute, isDocumented } from '@parley/http';
import { sectionsOf } from './documents.js';

const docsDir = resolve(__dirname, '../../../../docs');
const contractDir = join(docsDir, 'contract');

/** Matches mentions such as `GET /users/{user_id}`; path parameter names are ignored. */
const MENTION =
  /\b(GET|POST|PUT|PATCH|DELETE)(?:\/(GET|POST|PUT|PATCH|DELETE))? `?(\/[\w{}/-]+(?:\.json)?)(?![\w{}/@-])/g;

/** Mentions other than operations of API feature level 496. */
const NO_OPERATIONS = new Set([
  // Only the POST operation exists.
  'GET /fetch_api_key',
  // Removed in level 294.
  'DELETE /user_groups/{}',
  // Stands for all paths below it.
  'PATCH /streams',
]);

const nameOf = ({ method, path }: DocumentedRoute): string => `${method} ${path}`;

describe('createRoutes', () => {
  const operations = createRoutes({} as Parameters<typeof createRoutes>[0]).filter(isDocumented);

  it('has a route for every operation of the contract', () => {
    const declared = new Set(operations.map((it) => `${it.method} ${shapeOf(it)}`));
    const areas = readdirSync(contractDir).filter((file) => file.endsWith('.md') && file !== 'clients.md');
    const mentioned = areas.flatMap((file) => mentionsIn(readFileSync(join(contractDir, file), 'utf8')));
    expect([...new Set(mentioned)].filter((name) => !declared.has(name) && !NO_OPERATIONS.has(name))).toEqual([]);
  });

  it.each(operations.map((it) => [nameOf(it), (it.section ?? it.extension)!, it] as const))(
    '%s is described in %s',
    (_, section, operation) => {
      expect(sectionText(section).replace(/\{[^}]*\}/g, '{}')).toContain(shapeOf(operation));
    },
  );

  it('stars the twenty operations that the contract stars', () => {
    const starred = operations.filter(({ isStarred }) => isStarred);
    expect(starred.filter(({ section }) => !sectionText(section!).includes('★')).map(nameOf)).toEqual([]);
    // Some operations can be called both by id and by address.
    expect(new Set(starred.map(({ section }) => section)).size).toBe(19);
  });
});

/** Returns the text of a section such as `messages §5`; empty if it does not exist. */
function sectionText(reference: string): string {
  const [document, number] = reference.split(' §') as [string, string];
  const folder = document === 'extensions' ? docsDir : contractDir;
  return sectionsOf(readFileSync(join(folder, `${document}.md`), 'utf8')).get(number)?.text ?? '';
}

/** Replaces parameter names: `/users/:user_id/channels` → `/users/{}/channels`. */
const shapeOf = ({ path }: Pick<DocumentedRoute, 'path'>): string => path.replace(/[:*]\w+/g, '{}');

function mentionsIn(text: string): readonly string[] {
  return [...text.matchAll(MENTION)].flatMap(([, first, second, path]) => {
    const shape = path!
      .replace(/^\/api\/v1/, '')
      .replace(/\{[^}]*\}?/g, '{}')
      .replace(/\/\d+\b/g, '/{}');
    // Web application paths, including browser sessions.
    if (/^\/(json|join|accounts)\/|\/$/.test(shape)) return [];
    return [first, second].filter((method) => method !== undefined).map((method) => `${method} ${shape}`);
  });
}
