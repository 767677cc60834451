import { membersOfDto, type Route } from '@parley/http';
import type { ParameterSchema } from '@parley/testkit';
import type { Fields, Scenarios } from './scenario.js';

/**
 * Returns scenarios of lists that each user has (`WireList`), such as saved snippets: one element is added, changed and
 * deleted. They are derived from the routes of lists with texts and flags. Other lists need scenarios by hand.
 */
export function listScenarios(routes: readonly Route[]): Scenarios {
  const find = (method: string, path: string) => routes.find((route) => route.method === method && route.path === path);
  return Object.assign(
    {},
    ...routes.map(({ method, path }): Scenarios => {
      const [, name, id] = /^\/(\w+)\/:(\w+_id)$/.exec(path) ?? [];
      const creation = method === 'PATCH' && name !== undefined && find('POST', `/${name}`);
      if (!creation || !id || !find('GET', `/${name}`) || !find('DELETE', path)) return {};
      const params = textsOf(creation, 'A text');
      const changes = textsOf(find('PATCH', path)!, 'Another text');
      if (!params || !changes) return {};
      const shared = {
        as: 'hamlet',
        prepare: ({ server, people }) => server.post(creation.path, people.hamlet, params),
      } satisfies Partial<Scenarios[string][number]>;
      const at = () => ({ [id]: 1 });
      return {
        [`POST /${name}`]: [{ ...shared, title: 'added', params, heard: [`${name}/add`] }],
        [`PATCH ${path}`]: [{ ...shared, title: 'changed', at, params: changes, heard: [`${name}/update`] }],
        [`DELETE ${path}`]: [{ ...shared, title: 'deleted', at, heard: [`${name}/remove`] }],
      };
    }),
  );
}

/** Returns values of all parameters outside the path; null if one of them is neither a text nor a flag. */
function textsOf({ path, dto }: Route, text: string): Fields | null {
  const members = membersOfDto(dto).filter(({ name }) => !path.includes(`:${name}`));
  const fields = members.map(({ name, type }) => {
    const schema = type.schema as ParameterSchema;
    if (schema.type === 'boolean') return [name, true] as const;
    return schema.type === 'string' && !schema.enum ? ([name, text] as const) : null;
  });
  return fields.every((field) => field !== null) ? Object.fromEntries(fields) : null;
}
