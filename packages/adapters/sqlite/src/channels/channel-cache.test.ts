import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChannelView } from '@parley/domain/channels';
import { aChannel, aUser, createFixtureOn, FixedClock, type Fixture } from '@parley/testkit';
import type { SqliteStorage } from '../index.js';
import { openNewStorage } from '../testing/new-storage.js';

let directory: string;
let storage: SqliteStorage;
let statements: string[] = [];
const clock = new FixedClock();
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'parley-views-'));
  storage = openNewStorage({ path: join(directory, 'views.db'), clock, trace: (sql) => statements.push(sql) });
});
afterEach(async () => {
  await storage.close();
  rmSync(directory, { recursive: true });
});

it('returns the same view until the channel changes, despite group changes', async () => {
  const { uow, realm, user, channel } = await createFixtureOn(
    storage.uow,
    clock,
    aUser({ name: 'iago' }),
    aUser({ name: 'prospero' }),
    aChannel({ name: 'general', creator: 'iago', subscribers: ['iago'] }),
  );
  const view = async () =>
    (await uow.read(realm.id, (r) => r.channels.listViews(realm.id, [channel('general').id])))[0]!;
  const first = await view();
  expect(await view()).toBe(first);
  const { moderators } = await uow.read(realm.id, (r) => r.groups.systemGroupIds(realm.id));
  await uow.write(realm.id, (tx) => tx.groups.addMembers(realm.id, moderators, [user('prospero').id]));
  expect(await view()).toBe(first);
  const givenUp = uow.write(realm.id, async (tx) => {
    await tx.channels.update({ ...channel('general'), description: 'Never' });
    await tx.channels.listViews(realm.id, [channel('general').id]);
    throw new Error('given up');
  });
  await expect(givenUp).rejects.toThrow('given up');
  expect(await view()).toBe(first);
  await uow.write(realm.id, (tx) => tx.channels.update({ ...channel('general'), description: 'Changed' }));
  expect(await view()).toEqual({ ...first, description: 'Changed', version: first.version + 1 });
});

describe('channel list after a change', () => {
  const creators = ['iago', 'prospero', 'hamlet'];
  let fixture: Fixture;
  let before: readonly ChannelView[];

  const list = () => storage.uow.read(fixture.realm.id, (r) => r.channels.listViewsWhere(fixture.realm.id, () => true));
  /** Returns the names of recreated views and the tables read. */
  const listAgain = async () => {
    statements = [];
    const views = await list();
    return {
      made: views.filter((view) => !before.includes(view)).map(({ name }) => name),
      isRead: (table: string) => statements.some((sql) => new RegExp(`(FROM|JOIN) ${table}\\b`).test(sql)),
      channelsRead: statements.filter((sql) => sql.includes('json_group_array(rendered_description)')),
    };
  };

  beforeEach(async () => {
    fixture = await createFixtureOn(
      storage.uow,
      clock,
      ...creators.map((name) => aUser({ name })),
      ...creators.map((creator) => aChannel({ name: `of ${creator}`, creator, subscribers: creators })),
    );
    before = await list();
  });

  it('reads neither channels nor groups without changes or after additions to a named group', async () => {
    const { realm, user } = fixture;
    expect(await listAgain()).toMatchObject({ made: [], channelsRead: [] });
    const { moderators } = await storage.uow.read(realm.id, (r) => r.groups.systemGroupIds(realm.id));
    await storage.uow.write(realm.id, (tx) => tx.groups.addMembers(realm.id, moderators, [user('hamlet').id]));
    const { made, isRead, channelsRead } = await listAgain();
    expect({ made, channelsRead, isGroupRead: isRead('user_group') }).toEqual({
      made: [],
      channelsRead: [],
      isGroupRead: false,
    });
  });

  it('reads only the changed channel', async () => {
    const changed = fixture.channel('of hamlet');
    await storage.uow.write(changed.realmId, (tx) => tx.channels.update({ ...changed, description: 'Changed' }));
    const { made, isRead, channelsRead } = await listAgain();
    expect({ made, isGroupRead: isRead('user_group') }).toEqual({ made: ['of hamlet'], isGroupRead: false });
    expect(channelsRead).toEqual([expect.stringContaining(`json_each(+'[${changed.id}]')`)]);
  });

  it('rereads the groups of a channel with changed permissions', async () => {
    const { realm } = fixture;
    const { permissions, ...channel } = fixture.channel('of hamlet');
    const { moderators } = await storage.uow.read(realm.id, (r) => r.groups.systemGroupIds(realm.id));
    await storage.uow.write(channel.realmId, (tx) =>
      tx.channels.update({ ...channel, permissions: { ...permissions, canSendMessage: moderators } }),
    );
    const [changed] = await list();
    expect(changed).toMatchObject({ permissions: { canSendMessage: moderators }, sendersSystemGroup: 'moderators' });
  });

  it('creates only the view of the added channel', async () => {
    await fixture.add(aChannel({ name: 'new', creator: 'iago' }));
    expect(await listAgain()).toMatchObject({ made: ['new'], channelsRead: [expect.anything()] });
  });

  it('recreates values that named a deactivated user directly', async () => {
    await storage.uow.write(fixture.realm.id, (tx) => tx.users.update({ ...fixture.user('iago'), isActive: false }));
    const { isRead } = await listAgain();
    const administrators = (await list()).map(({ permissions }) => permissions.canAdministerChannel);
    expect({ isRead: isRead('user_group'), administrators }).toEqual({
      isRead: true,
      administrators: [
        { directMembers: [fixture.user('hamlet').id], directSubgroups: [] },
        { directMembers: [], directSubgroups: [] },
        { directMembers: [fixture.user('prospero').id], directSubgroups: [] },
      ],
    });
  });
});

it('shares one permission value object among channels with equal permissions', async () => {
  const { uow, realm, channel } = await createFixtureOn(
    storage.uow,
    clock,
    aUser({ name: 'iago' }),
    aUser({ name: 'prospero' }),
    ...['one', 'two'].map((name) => aChannel({ name, creator: 'iago' })),
    aChannel({ name: 'three', creator: 'prospero' }),
  );
  const [one, three, two] = await uow.read(realm.id, (r) => r.channels.listViewsWhere(realm.id, () => true));
  expect(channel('one').permissions).not.toEqual(channel('two').permissions);
  expect(one!.permissions).toBe(two!.permissions);
  expect(three!.permissions).not.toEqual(one!.permissions);
});
