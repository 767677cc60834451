import { fieldsOf } from '../testing/expectations.js';
import type { WireWorld as World } from '../testing/wire-world.js';
import type { Scenarios } from './scenario.js';

export const PROFILES_SCENARIOS: Scenarios = {
  'POST /realm/profile_fields': [
    {
      title: 'one with choices',
      as: 'iago',
      params: { field_type: 3, name: 'Editor', field_data: { vim: { text: 'VIM', order: '1' } } },
      heard: ['custom_profile_fields'],
    },
  ],
  'PATCH /realm/profile_fields': [
    {
      title: 'their order',
      as: 'iago',
      prepare: addFields,
      params: async (world) => ({ order: [...(await fieldIds(world))].reverse() }),
      heard: ['custom_profile_fields'],
    },
  ],
  'PATCH /realm/profile_fields/:field_id': [
    {
      title: 'a name',
      as: 'iago',
      prepare: addFields,
      at: () => ({ field_id: 1 }),
      params: { name: 'Motto', display_in_profile_summary: true },
      heard: ['custom_profile_fields'],
    },
    {
      title: 'a choice that somebody made is gone',
      as: 'iago',
      prepare: async (world) => {
        const { server, people } = world;
        const field_data = { vim: { text: 'VIM', order: '1' }, emacs: { text: 'Emacs', order: '2' } };
        const field = { field_type: 3, name: 'Editor', field_data };
        fieldsOf(await server.post('/realm/profile_fields', people.iago, field));
        for (const [person, value] of [
          ['hamlet', 'vim'],
          ['shiva', 'emacs'],
        ] as const) {
          const data = [{ id: (await fieldIds(world))[0], value }];
          fieldsOf(await server.patch('/users/me/profile_data', people[person], { data }));
        }
      },
      at: () => ({ field_id: 1 }),
      params: { field_data: { emacs: { text: 'Emacs', order: '1' } } },
      heard: ['custom_profile_fields'],
    },
  ],
  'DELETE /realm/profile_fields/:field_id': [
    {
      title: 'a field that names users',
      as: 'iago',
      prepare: async (world) => {
        const { server, people } = world;
        fieldsOf(await server.post('/realm/profile_fields', people.iago, { field_type: 6, name: 'Mentors' }));
        const id = (await fieldIds(world)).at(-1);
        const data = [{ id, value: [people.hamlet.id] }];
        fieldsOf(await server.patch('/users/me/profile_data', people.polonius, { data }));
      },
      at: () => ({ field_id: 1 }),
      heard: ['custom_profile_fields'],
    },
    {
      title: 'with what was said in it',
      as: 'iago',
      prepare: addFields,
      at: () => ({ field_id: 1 }),
      heard: ['custom_profile_fields'],
    },
  ],
  'PATCH /users/me/profile_data': [
    {
      title: 'a user whom few guests can access',
      as: 'shiva',
      prepare: addFields,
      params: async (world) => ({ data: [{ id: (await fieldIds(world))[0], value: 'To be' }] }),
      heard: ['realm_user/update'],
    },
    {
      title: 'new and other values',
      as: 'hamlet',
      prepare: addFields,
      params: async (world) => {
        const [quote, birthday] = await fieldIds(world);
        return {
          data: [
            { id: quote, value: 'To be, *or* not to be' },
            { id: birthday, value: '1601-01-01' },
          ],
        };
      },
      heard: ['realm_user/update'],
    },
  ],
  'DELETE /users/me/profile_data': [
    {
      title: 'a value',
      as: 'hamlet',
      prepare: addFields,
      params: async (world) => ({ data: await fieldIds(world) }),
      heard: ['realm_user/update'],
    },
  ],
};

/** Adds a long-text field and a date field; Hamlet has a value in the first field. */
async function addFields({ server, people }: World): Promise<void> {
  for (const params of [
    { field_type: 1, name: 'Quote' },
    { field_type: 4, name: 'Birthday' },
  ]) {
    fieldsOf(await server.post('/realm/profile_fields', people.iago, params));
  }
  const data = [{ id: 1, value: 'Words' }];
  fieldsOf(await server.patch('/users/me/profile_data', people.hamlet, { data }));
}

async function fieldIds({ server, people }: World): Promise<number[]> {
  const { custom_fields } = fieldsOf(await server.get('/realm/profile_fields', people.iago));
  return (custom_fields as { id: number }[]).map(({ id }) => id);
}
