import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CONTRACT_OPERATIONS, type ContractOperation } from '@parley/http';
import { sectionsOf } from './documents.js';

const contractDir = resolve(__dirname, '../../../docs/contract');
const textOf = (area: string): string => readFileSync(join(contractDir, `${area}.md`), 'utf8');

/** Matches mentions such as `GET /users/{user_id}`. Parameter names of paths are ignored. */
const MENTION =
  /\b(GET|POST|PUT|PATCH|DELETE)(?:\/(GET|POST|PUT|PATCH|DELETE))? `?(\/[\w{}/-]+(?:\.json)?)(?![\w{}/@-])/g;

/** Mentions that are not operations of API feature level 496. */
const NO_OPERATIONS = new Set([
  // Only the POST operation exists.
  'GET /fetch_api_key',
  // Removed in level 294.
  'DELETE /user_groups/{}',
  // Stands for all paths below it.
  'PATCH /streams',
]);

describe('operation list', () => {
  it('names every operation that the contract describes', () => {
    const listed = new Set(CONTRACT_OPERATIONS.map((it) => `${it.method} ${shapeOf(it)}`));
    const areas = readdirSync(contractDir).filter((file) => file.endsWith('.md') && file !== 'clients.md');
    const mentioned = areas.flatMap((file) => mentionsIn(readFileSync(join(contractDir, file), 'utf8')));
    expect([...new Set(mentioned)].filter((name) => !listed.has(name) && !NO_OPERATIONS.has(name))).toEqual([]);
  });

  it.each(CONTRACT_OPERATIONS.map((it) => [`${it.method} ${it.path}`, it] as const))(
    '%s is in the section that it names',
    (_, operation) => {
      const { area, number } = sectionOf(operation);
      const { text } = sectionsOf(textOf(area)).get(number)!;
      expect(text.replace(/\{[^}]*\}/g, '{}')).toContain(shapeOf(operation));
    },
  );

  it('marks the same operations as the contract', () => {
    const unmarked = CONTRACT_OPERATIONS.filter((operation) => {
      const { area, number } = sectionOf(operation);
      return operation.isStarred && !sectionsOf(textOf(area)).get(number)!.text.includes('★');
    });
    expect(unmarked.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });
});

function sectionOf({ section }: ContractOperation): { readonly area: string; readonly number: string } {
  const [area, number] = section.split(' §') as [string, string];
  return { area, number };
}

/** Replaces parameter names: `/users/:user_id/channels` → `/users/{}/channels`. */
const shapeOf = ({ path }: Pick<ContractOperation, 'path'>): string => path.replace(/[:*]\w+/g, '{}');

function mentionsIn(text: string): readonly string[] {
  return [...text.matchAll(MENTION)].flatMap(([, first, second, path]) => {
    const shape = path!
      .replace(/^\/api\/v1/, '')
      .replace(/\{[^}]*\}?/g, '{}')
      .replace(/\/\d+\b/g, '/{}');
    // Addresses of the web application, including browser sessions.
    if (/^\/(json|join|accounts)\/|\/$/.test(shape)) return [];
    return [first, second].filter((method) => method !== undefined).map((method) => `${method} ${shape}`);
  });
}
