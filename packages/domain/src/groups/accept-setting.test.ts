import { aGroup, anotherRealm, aUser, given, type MemoryScene } from '@parley/testkit';
import { CHANNEL_PERMISSIONS } from '../channels/channel.js';
import { REALM_PERMISSIONS } from '../realms/realm-settings.js';
import type { GroupId, UserId } from '../shared/ids.js';
import { acceptGroupSetting, groupOfValue, permissionTitle } from './accept-setting.js';
import type { GroupSettingDefinition, GroupSettingValue } from './group-setting.js';

const town = () =>
  given(
    aUser({ name: 'hamlet' }),
    aUser({ name: 'iago' }),
    aUser({ name: 'gone', isActive: false }),
    aGroup({ name: 'cooks' }),
    aGroup({ name: 'former', isDeactivated: true }),
  );
const accepting =
  (scene: MemoryScene) =>
  (value: GroupSettingValue, definition: GroupSettingDefinition = CHANNEL_PERMISSIONS.canSubscribe) =>
    scene.uow.write((tx) => acceptGroupSetting(tx, scene.realm.id, 'can_subscribe_group', definition, value));
const spelt = (directMembers: readonly number[], directSubgroups: readonly number[] = []) =>
  ({ directMembers, directSubgroups }) as Exclude<GroupSettingValue, GroupId>;

describe('a value somebody chose for a permission', () => {
  it('comes back in its one spelling', async () => {
    const scene = await town();
    const accept = accepting(scene);
    const { nobody } = await scene.uow.read(({ groups }) => groups.systemGroupIds(scene.realm.id));
    const [cooks, hamlet, iago] = [scene.group('cooks').id, scene.user('hamlet').id, scene.user('iago').id];
    expect(await accept(cooks)).toBe(cooks);
    expect(await accept(spelt([], [cooks]))).toBe(cooks);
    expect(await accept(spelt([]))).toBe(nobody);
    expect(await accept(spelt([iago, hamlet, iago], [cooks, nobody]))).toEqual(spelt([hamlet, iago], [nobody, cooks]));
  });

  it('is refused when it names what is not there', async () => {
    const scene = await town();
    const elsewhere = await anotherRealm(scene, aGroup({ name: 'theirs' }));
    const accept = accepting(scene);
    const unnamed = await scene.uow.write((tx) => groupOfValue(tx, scene.realm.id, spelt([scene.user('hamlet').id])));
    const [theirs, stranger, gone] = [
      elsewhere.group('theirs').id,
      elsewhere.user('stranger').id,
      scene.user('gone').id,
    ];
    const refused = (value: GroupSettingValue, message: string) =>
      expect(accept(value)).rejects.toMatchObject({ code: 'INVALID_INPUT', message });
    for (const id of [9999 as GroupId, theirs, unnamed]) {
      await refused(id, 'Invalid user group');
      await refused(spelt([scene.user('hamlet').id], [id]), `Invalid user group ID: ${id}`);
    }
    const [system] = await scene.uow.read(({ users }) => users.listSystemBots(scene.realm.id));
    for (const id of [9999 as UserId, stranger, gone, system!.id])
      await refused(spelt([id], [theirs]), `Invalid user ID: ${id}`);
    await refused(scene.group('former').id, 'User group is deactivated.');
  });

  it('is refused when the permission is for others', async () => {
    const scene = await town();
    const accept = accepting(scene);
    const { everyone } = await scene.uow.read(({ groups }) => groups.systemGroupIds(scene.realm.id));
    await expect(accept(everyone)).rejects.toMatchObject({
      message: "'can_subscribe_group' setting cannot be set to 'role:everyone' group.",
    });
    await expect(accept(scene.group('cooks').id, REALM_PERMISSIONS.canAccessAllUsers)).rejects.toMatchObject({
      code: 'SYSTEM_GROUP_REQUIRED',
    });
  });

  it('stands for a named group itself, or for a new one that nobody is told of', async () => {
    const scene = await town();
    const cooks = scene.group('cooks').id;
    const value = spelt([scene.user('hamlet').id], [cooks]);
    const [named, first, second] = await scene.uow.write(async (tx) => [
      await groupOfValue(tx, scene.realm.id, cooks),
      await groupOfValue(tx, scene.realm.id, value),
      await groupOfValue(tx, scene.realm.id, value),
    ]);
    expect(named).toBe(cooks);
    expect(first).not.toBe(second);
    expect((await scene.uow.read(({ groups }) => groups.settingValues(scene.realm.id, [first!]))).get(first!)).toEqual(
      value,
    );
    expect(scene.storage.announced).toMatchObject(
      [first, second].map((groupId) => ({
        event: { type: 'group.created', groupId, memberIds: value.directMembers, subgroupIds: [cooks], view: null },
        audience: { kind: 'nobody' },
      })),
    );
  });
});

it.each([
  ['canSubscribe', 'can_subscribe_group'],
  ['canMoveMessagesOutOfChannel', 'can_move_messages_out_of_channel_group'],
  ['canCreateGroups', 'can_create_groups'],
])('%s is called %s', (name, title) => expect(permissionTitle(name)).toBe(title));
