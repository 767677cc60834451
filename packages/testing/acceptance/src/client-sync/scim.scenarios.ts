import { IssueProvisioningToken } from '@parley/domain/log-in';
import type { WireWorld as World } from '../testing/wire-world.js';
import type { Scenario, Scenarios } from './scenario.js';

const tokens = new WeakMap<World, string>();
/** Group that `makeGroup` made. */
const groups = new WeakMap<World, string>();

async function issueToken(world: World): Promise<void> {
  const issue = world.server.parley.useCase(IssueProvisioningToken);
  tokens.set(world, await issue.execute({ realmId: world.server.realmId, name: 'directory' }));
}

const headersOf = (world: World) => ({
  Authorization: `Bearer ${tokens.get(world)!}`,
  'Content-Type': 'application/scim+json',
});

const directory = {
  as: null,
  isPage: true,
  status: 200,
  prepare: issueToken,
  headers: headersOf,
} satisfies Partial<Scenario>;

async function makeGroup(world: World): Promise<void> {
  await issueToken(world);
  const members = [{ value: String(world.people.hamlet.id) }];
  const body = JSON.stringify({ displayName: 'Directory', members });
  const reply = await world.server.request('POST', '//scim/v2/Groups', { body, headers: headersOf(world) });
  groups.set(world, JSON.parse(reply.body).id);
}

const withGroup = { ...directory, prepare: makeGroup, at: (world: World) => ({ id: groups.get(world)! }) };

const toHamlet = ({ people }: World) => ({ id: people.hamlet.id });
const toShiva = ({ people }: World) => ({ id: people.shiva.id });
const operations = (...Operations: object[]) => JSON.stringify({ Operations });

const search = {
  ...directory,
  title: 'a search',
  body: JSON.stringify({ schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'], count: 1 }),
  heard: [],
} satisfies Scenario;

export const SCIM_SCENARIOS: Scenarios = {
  'POST /scim/v2/Users/.search': [search],
  'POST /scim/v2/Groups/.search': [search],
  'POST /scim/v2/Users': [
    {
      ...directory,
      title: 'a new person',
      status: 201,
      body: JSON.stringify({ userName: 'yorick@example.com', displayName: 'Yorick' }),
      heard: ['realm_export_consent', 'realm_user/add', 'subscription/peer_add', 'user_group/add_members'],
    },
  ],
  'PUT /scim/v2/Users/:id': [
    {
      ...directory,
      title: 'another name and role',
      at: toHamlet,
      body: JSON.stringify({ displayName: 'Prince Hamlet', roles: [{ value: 'moderator' }] }),
      heard: ['realm_user/update', 'user_group/add_members', 'user_group/remove_members'],
    },
  ],
  'PATCH /scim/v2/Users/:id': [
    {
      ...directory,
      title: 'deactivation',
      at: toShiva,
      body: operations({ op: 'Replace', path: 'active', value: 'False' }),
      heard: ['realm_user/update', 'subscription/peer_remove', 'user_group/remove_members'],
    },
  ],
  'DELETE /scim/v2/Users/:id': [
    {
      ...directory,
      title: 'a person',
      at: toShiva,
      status: 204,
      heard: ['realm_user/update', 'subscription/peer_remove', 'user_group/remove_members'],
    },
  ],
  'POST /scim/v2/Groups': [
    {
      ...directory,
      title: 'a group with a member',
      status: 201,
      body: ({ people }) => JSON.stringify({ displayName: 'Cast', members: [{ value: String(people.hamlet.id) }] }),
      heard: ['user_group/add', 'user_group/add_members'],
    },
  ],
  'PUT /scim/v2/Groups/:id': [
    {
      ...withGroup,
      title: 'another name and member',
      body: ({ people }) => JSON.stringify({ displayName: 'Crew', members: [{ value: String(people.polonius.id) }] }),
      heard: ['user_group/update', 'user_group/add_members', 'user_group/remove_members'],
    },
  ],
  'PATCH /scim/v2/Groups/:id': [
    {
      ...withGroup,
      title: 'one more member',
      status: 204,
      body: ({ people }) => operations({ op: 'Add', path: 'members', value: [{ value: String(people.iago.id) }] }),
      heard: ['user_group/add_members'],
    },
  ],
  'DELETE /scim/v2/Groups/:id': [
    {
      ...withGroup,
      title: 'a group',
      status: 204,
      heard: ['user_group/remove', 'user_group/remove_members', 'user_group/update'],
    },
  ],
};
