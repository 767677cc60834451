import type { DefaultChannelGroupId } from '@parley/domain/kernel';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import type { TestServer, TestUser } from '../testing/test-server.js';

type Person = keyof TestServer['people'];

let outsider: TestUser;
let ids: Record<'a' | 'b' | 'secret' | 'default' | 'archived', number>;
const { server, people } = serverPerSuite();
beforeAll(async () => {
  const realmId = await server.addRealm('other');
  outsider = await server.addUser({ email: 'o@other.example', fullName: 'Outsider', role: 'owner', realmId });
  const made = (name: string, params = {}, as: TestUser = people.iago) => server.createChannel(name, [], params, as);
  ids = {
    b: await made('b'),
    a: await made('a'),
    secret: await made('secret', { invite_only: true, subscribers: [people.shiva.id] }, people.shiva),
    default: await made('default', { is_default_stream: true }),
    archived: await made('archived'),
  };
  fieldsOf(await server.delete(`/streams/${ids.archived}`, people.iago));
});

const hears = async (as: TestUser, type: string, act: () => Promise<unknown>) => {
  const queue = await openQueue(server, as, { event_types: [type] });
  await act();
  return eventsAfter(server, queue);
};
const registered = async (as: TestUser, field: string): Promise<Wire> =>
  (fieldsOf(await server.post('/register', as)) as Wire)[field];
const NOT_ADMINISTRATOR = [
  'You do not have permission to change default channels.',
  { code: 'CANNOT_MANAGE_DEFAULT_CHANNEL' },
] as const;
const NO_MEMBERS: readonly Person[] = ['shiva', 'hamlet', 'polonius'];

describe('default channel', () => {
  const add = (stream_id: number, as: TestUser = people.iago) => server.post('/default_streams', as, { stream_id });
  const remove = (stream_id: number, as: TestUser = people.iago) =>
    server.delete('/default_streams', as, { stream_id });

  it('is added and removed with an event for everyone except guests', async () => {
    const heard = await hears(people.hamlet, 'default_streams', async () => {
      expect(fieldsOf(await add(ids.a))).toEqual({});
      fieldsOf(await add(ids.a));
      fieldsOf(await remove(ids.a));
      fieldsOf(await remove(ids.a));
    });
    const told = (...streams: number[]) => ({ type: 'default_streams', default_streams: streams });
    expect(heard).toEqual([told(ids.a, ids.default), told(ids.default), told(ids.default)]);
    expect(await hears(people.polonius, 'default_streams', () => add(ids.b))).toEqual([]);
    expect(await registered(people.hamlet, 'realm_default_streams')).toEqual([ids.b, ids.default]);
    expect(await registered(people.polonius, 'realm_default_streams')).toEqual([]);
    fieldsOf(await remove(ids.b));
  });

  it('is subscribed to by new users', async () => {
    fieldsOf(await add(ids.a));
    const newcomer = await server.addUser({ email: 'new@zulip.com', fullName: 'Newcomer' });
    const { subscriptions } = fieldsOf(await server.get('/users/me/subscriptions', newcomer)) as Wire;
    expect(subscriptions.map(({ name }: Wire) => name)).toEqual(['a', 'default']);
    fieldsOf(await remove(ids.a));
  });

  it('requires an administrator and a public active channel', async () => {
    const { iago } = people;
    for (const id of [99_999, ids.secret, ids.archived]) expectRefusal(await add(id, iago), 'Invalid channel ID');
    const closed = { name: 'closed', invite_only: true, subscribers: [iago.id] };
    const { id } = fieldsOf(await server.post('/channels/create', iago, closed)) as Wire;
    expectRefusal(await add(id, iago), 'Private channels cannot be made default.');
    for (const unknown of [99_999, ids.archived]) expectRefusal(await remove(unknown), 'Invalid channel ID');
    fieldsOf(await remove(ids.secret));
    for (const who of NO_MEMBERS) {
      expectRefusal(await add(ids.a, people[who]), ...NOT_ADMINISTRATOR);
      expectRefusal(await remove(99_999, people[who]), ...NOT_ADMINISTRATOR);
      expectRefusal(await server.post('/default_streams', people[who]), ...NOT_ADMINISTRATOR);
    }
    const options = { as: outsider, realm: 'other', params: { stream_id: ids.a } };
    expectRefusal(await server.request('POST', '/default_streams', options), 'Invalid channel ID');
    expectRefusal(await server.post('/default_streams', iago), "Missing 'stream_id' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'stream_id',
    });
  });
});

describe('default channel group', () => {
  const BASE = '/default_stream_groups';
  const create = (params: object, as: TestUser = people.iago) =>
    server.post(`${BASE}/create`, as, { group_name: 'g', description: 'd', stream_names: [], ...params });
  const list = () => registered(people.hamlet, 'realm_default_stream_groups');
  const clear = () =>
    server.storage.uow.write(server.realmId, async (tx) => {
      for (const { id } of await tx.defaultChannelGroups.list(server.realmId)) {
        await tx.defaultChannelGroups.remove(server.realmId, id);
      }
    });
  const made = async (params: object): Promise<number> => {
    fieldsOf(await create(params));
    return (await list()).find(({ name }: Wire) => name === (params as Wire).group_name).id;
  };
  afterEach(clear);

  it('is created, changed and deleted with the whole list published to everyone except guests', async () => {
    const group = (id: number, more: object) => ({ id, name: 'g', description: 'd', streams: [ids.a, ids.b], ...more });
    let id = 0;
    const heard = await hears(people.hamlet, 'default_stream_groups', async () => {
      id = await made({ group_name: 'g', stream_names: ['b', ' A'] });
      fieldsOf(await server.patch(`${BASE}/${id}`, people.iago, { new_group_name: ' h ', new_description: '' }));
      fieldsOf(await server.patch(`${BASE}/${id}/streams`, people.iago, { op: 'remove', stream_names: ['a', 'b'] }));
      fieldsOf(await server.patch(`${BASE}/${id}/streams`, people.iago, { op: 'add', stream_names: ['b'] }));
      fieldsOf(await create({ group_name: 'another' }));
      fieldsOf(await server.delete(`${BASE}/${id}`, people.iago));
    });
    const told = (...groups: object[]) => ({ type: 'default_stream_groups', default_stream_groups: groups });
    const renamed = { name: 'h', description: '' };
    const another = { name: 'another', id: expect.any(Number), description: 'd', streams: [] };
    expect(heard).toEqual([
      told(group(id, {})),
      told(group(id, renamed)),
      told(group(id, { ...renamed, streams: [] })),
      told(group(id, { ...renamed, streams: [ids.b] })),
      told(another, group(id, { ...renamed, streams: [ids.b] })),
      told(another),
    ]);
    expect(await list()).toEqual([another]);
    expect(await registered(people.polonius, 'realm_default_stream_groups')).toEqual([]);
    expect(await hears(people.polonius, 'default_stream_groups', () => create({}))).toEqual([]);
  });

  it.each`
    params                                | msg
    ${{ group_name: ' ' }}                | ${"Invalid default channel group name ' '"}
    ${{ group_name: 'g'.repeat(61) }}     | ${'Default channel group name too long (limit: 60 characters)'}
    ${{ group_name: 'TAKEN' }}            | ${"Default channel group 'TAKEN' already exists"}
    ${{ stream_names: ['a', 'nowhere'] }} | ${"Invalid channel name 'nowhere'"}
    ${{ stream_names: ['secret'] }}       | ${"Invalid channel name 'secret'"}
    ${{ stream_names: ['archived'] }}     | ${"Invalid channel name 'archived'"}
    ${{ stream_names: ['Default'] }}      | ${"'default' is a default channel and cannot be added to 'g'"}
    ${{ description: 'd'.repeat(1025) }}  | ${'description is too long (limit: 1024 characters)'}
  `('rejects $params: $msg', async ({ params, msg }) => {
    await made({ group_name: 'taken' });
    expectRefusal(await create(params), msg);
    expect(await list()).toHaveLength(1);
  });

  it('rejects changes without effect and unknown groups', async () => {
    const id = await made({ group_name: 'g', stream_names: ['a'] });
    await made({ group_name: 'other' });
    const patch = (params: object, group = id) => server.patch(`${BASE}/${group}`, people.iago, { ...params });
    const change = (params: object, group = id) => server.patch(`${BASE}/${group}/streams`, people.iago, { ...params });
    const unknown = "Default channel group with id '99999' does not exist.";
    expectRefusal(await patch({}, 99_999), 'You must pass "new_description" or "new_group_name".');
    expectRefusal(await patch({ new_description: 'x' }, 99_999), unknown);
    expectRefusal(await patch({ new_group_name: 'g' }), "This default channel group is already named 'g'");
    expectRefusal(await patch({ new_group_name: 'OTHER' }), "Default channel group 'OTHER' already exists");
    expectRefusal(await patch({ new_group_name: '' }), "Invalid default channel group name ''");
    fieldsOf(await patch({ new_group_name: 'G' }));
    const streams = (name: string) => ({ stream_names: [name] });
    expectRefusal(await change({ op: 'add', ...streams('a') }, 99_999), unknown);
    expectRefusal(await change({ op: 'add', ...streams('nowhere') }), "Invalid channel name 'nowhere'");
    expectRefusal(
      await change({ op: 'toggle', ...streams('b') }),
      'Invalid value for "op". Specify one of "add" or "remove".',
    );
    expectRefusal(
      await change({ op: 'add', ...streams('a') }),
      "Channel 'a' is already present in default channel group 'G'",
    );
    expectRefusal(
      await change({ op: 'add', ...streams('default') }),
      "'default' is a default channel and cannot be added to 'G'",
    );
    expectRefusal(
      await change({ op: 'remove', ...streams('b') }),
      "Channel 'b' is not present in default channel group 'G'",
    );
    expectRefusal(await server.delete(`${BASE}/99999`, people.iago), unknown);
  });

  it('requires an administrator of the organization', async () => {
    const id = await made({ group_name: 'g', stream_names: ['a'] });
    const params = { new_description: 'x', op: 'add', stream_names: ['b'] };
    for (const who of NO_MEMBERS) {
      const as = people[who];
      expectRefusal(await create({}, as), ...NOT_ADMINISTRATOR);
      expectRefusal(await server.post(`${BASE}/create`, as), ...NOT_ADMINISTRATOR);
      expectRefusal(await server.patch(`${BASE}/${id}`, as, params), ...NOT_ADMINISTRATOR);
      expectRefusal(await server.patch(`${BASE}/${id}/streams`, as, params), ...NOT_ADMINISTRATOR);
      expectRefusal(await server.delete(`${BASE}/${id}`, as), ...NOT_ADMINISTRATOR);
    }
    const unknown = `Default channel group with id '${id}' does not exist.`;
    const options = { as: outsider, realm: 'other', params };
    expectRefusal(await server.request('PATCH', `${BASE}/${id}`, options), unknown);
    expectRefusal(await server.request('DELETE', `${BASE}/${id}`, { as: outsider, realm: 'other' }), unknown);
  });

  it('loses an archived channel', async () => {
    const name = 'short-lived';
    const channel = await server.createChannel(name, [], {}, people.iago);
    await made({ group_name: 'g', stream_names: ['a', name] });
    const heard = await hears(people.hamlet, 'default_stream_groups', () =>
      server.delete(`/streams/${channel}`, people.iago),
    );
    expect(heard).toMatchObject([{ default_stream_groups: [{ name: 'g', streams: [ids.a] }] }]);
  });

  it('exists at most a hundred times per organization', async () => {
    await server.storage.uow.write(server.realmId, async (tx) => {
      for (let n = 0; n < 100; n++) {
        const group = { realmId: server.realmId, name: `g${n}`, description: '', channelIds: [] };
        await tx.defaultChannelGroups.add(group);
      }
    });
    expectRefusal(await create({ group_name: 'more' }), 'Too many default channel groups (limit: 100).');
    expect((await list())[0] satisfies { id: DefaultChannelGroupId }).toMatchObject({ name: 'g0' });
  });
});

describe('channel folder', () => {
  const create = (params: object, as: TestUser = people.iago) =>
    server.post('/channel_folders/create', as, { ...params });
  const made = async (name: string): Promise<number> => (fieldsOf(await create({ name })) as Wire).channel_folder_id;
  const patch = (id: number, params: object, as: TestUser = people.iago) =>
    server.patch(`/channel_folders/${id}`, as, { ...params });
  const list = async (as: TestUser = people.polonius, params = {}): Promise<Wire[]> =>
    (fieldsOf(await server.get('/channel_folders', as, params)) as Wire).channel_folders;
  const ADMINISTRATOR = ['Must be an organization administrator', { code: 'UNAUTHORIZED_PRINCIPAL' }] as const;
  const UNKNOWN = 'Invalid channel folder ID';
  beforeEach(async () => {
    await server.storage.uow.write(server.realmId, async (tx) => {
      for (const folder of await tx.channelFolders.list(server.realmId)) {
        await tx.channelFolders.update({ ...folder, name: `old ${folder.id}`, isArchived: true });
      }
    });
  });

  it('is created with an event for everyone', async () => {
    let id = 0;
    const heard = await hears(people.polonius, 'channel_folder', async () => {
      id = (fieldsOf(await create({ name: ' Work ', description: '*all* of it' })) as Wire).channel_folder_id;
    });
    const folder = {
      id,
      name: 'Work',
      order: id,
      date_created: server.clock.now(),
      creator_id: people.iago.id,
      description: '*all* of it',
      rendered_description: '<p><em>all</em> of it</p>',
      is_archived: false,
    };
    expect(heard).toEqual([{ type: 'channel_folder', op: 'add', channel_folder: folder }]);
    expect(await list()).toEqual([folder]);
    expect((await registered(people.polonius, 'channel_folders')).at(-1)).toEqual(folder);
  });

  it('changes single properties and publishes only changed ones', async () => {
    const id = await made('Work');
    const heard = await hears(people.hamlet, 'channel_folder', async () => {
      fieldsOf(await patch(id, { name: 'Play', description: '**x**', is_archived: true }));
      fieldsOf(await patch(id, { name: 'Play', description: '**x**', is_archived: true }));
      fieldsOf(await patch(id, {}));
      fieldsOf(await patch(id, { is_archived: false }));
    });
    const update = (data: object) => ({ type: 'channel_folder', op: 'update', channel_folder_id: id, data });
    expect(heard).toEqual([
      update({ name: 'Play' }),
      update({ description: '**x**', rendered_description: '<p><strong>x</strong></p>' }),
      update({ is_archived: true }),
      update({ is_archived: false }),
    ]);
    expect(await list()).toMatchObject([{ id, name: 'Play' }]);
    fieldsOf(await patch(id, { is_archived: true }));
    expect(await list()).toEqual([]);
    expect((await list(people.hamlet, { include_archived: true })).at(-1)).toMatchObject({ id, is_archived: true });
  });

  it('cannot be archived while it contains channels', async () => {
    const { desdemona } = people;
    const id = await made('Work');
    const params = { name: 'in a folder', subscribers: [], folder_id: id };
    const channel = (fieldsOf(await server.post('/channels/create', desdemona, params)) as Wire).id;
    const folderOf = async () =>
      (fieldsOf(await server.get(`/streams/${channel}`, desdemona)) as Wire).stream.folder_id;
    expect(await folderOf()).toBe(id);
    fieldsOf(await server.delete(`/streams/${channel}`, desdemona));
    const inUse = 'You need to remove all the channels from this folder to archive it.';
    expectRefusal(await patch(id, { is_archived: true, name: 'Other' }), inUse);
    expect((await list())[0].name).toBe('Work');
    const heard = await hears(desdemona, 'stream', () =>
      server.patch(`/streams/${channel}`, desdemona, { folder_id: 'null' }),
    );
    expect(heard).toEqual([
      { type: 'stream', op: 'update', stream_id: channel, name: 'in a folder', property: 'folder_id', value: null },
    ]);
    expect(await folderOf()).toBeNull();
    fieldsOf(await patch(id, { is_archived: true }));
    expectRefusal(await server.patch(`/streams/${channel}`, desdemona, { folder_id: id }), UNKNOWN);
  });

  it('is ordered by a complete list', async () => {
    const ordered = await list(people.hamlet, { include_archived: true });
    const [first, second] = [await made('First'), await made('Second')];
    const others = ordered.map(({ id }) => id);
    const order = [second, 99_999, ...others, first];
    const heard = await hears(people.polonius, 'channel_folder', () =>
      server.patch('/channel_folders', people.iago, { order }),
    );
    expect(heard).toEqual([{ type: 'channel_folder', op: 'reorder', order }]);
    expect(await list()).toMatchObject([
      { id: second, order: 0 },
      { id: first, order: order.length - 1 },
    ]);
    // The last position of a duplicate counts. An unchanged order is published again.
    const twice = [...order, second];
    for (const _ of ['changed', 'the same']) {
      const again = await hears(people.polonius, 'channel_folder', () =>
        server.patch('/channel_folders', people.iago, { order: twice }),
      );
      expect(again).toEqual([{ type: 'channel_folder', op: 'reorder', order: twice }]);
    }
    expect((await list()).map(({ id }) => id)).toEqual([first, second]);
    for (const incomplete of [[], [first, second].slice(0, 1), order.slice(1)]) {
      expectRefusal(
        await server.patch('/channel_folders', people.iago, { order: incomplete }),
        'Invalid order mapping.',
      );
    }
  });

  it.each`
    params                      | msg
    ${{ name: '  ' }}           | ${"Channel folder name can't be empty."}
    ${{ name: 'a\u0007' }}      | ${'Invalid character in channel folder name, at position 2.'}
    ${{ name: 'wORK' }}         | ${'Channel folder name already in use'}
    ${{ name: 'x'.repeat(61) }} | ${'name is too long (limit: 60 characters)'}
  `('rejects $params: $msg', async ({ params, msg }) => {
    const id = await made('Work');
    const other = await made('Play');
    expectRefusal(await create(params), msg);
    for (const folder of [id, other]) expectRefusal(await patch(folder, params), msg);
  });

  it('requires an administrator of the organization', async () => {
    const id = await made('Work');
    for (const who of NO_MEMBERS) {
      expectRefusal(await create({ name: 'x' }, people[who]), ...ADMINISTRATOR);
      expectRefusal(await patch(id, { name: '' }, people[who]), ...ADMINISTRATOR);
      expectRefusal(await server.patch('/channel_folders', people[who], { order: [] }), ...ADMINISTRATOR);
    }
    expectRefusal(await patch(99_999, { name: 'x' }), UNKNOWN);
    const elsewhere = { as: outsider, realm: 'other' };
    expectRefusal(await server.request('PATCH', `/channel_folders/${id}`, { ...elsewhere, params: {} }), UNKNOWN);
    expect((await server.request('GET', '/channel_folders', elsewhere)).body.channel_folders).toEqual([]);
    expect((await server.get('/channel_folders', null)).status).toBe(401);
  });
});
