import { aGroup, anotherRealm, aUser, createFixture, type MemoryFixture } from '@parley/testkit';
import { CHANNEL_PERMISSIONS } from '../channels/channel.js';
import type { ErrorCode } from '../kernel/errors.js';
import type { GroupId, UserId } from '../kernel/ids.js';
import { REALM_PERMISSIONS } from '../realms/realm-settings.js';
import {
  acceptGroupSettings,
  checkHoldersInRequest,
  type GroupSettingDefinition,
  type GroupSettingValue,
  groupForSetting,
  MAX_HOLDERS_IN_REQUEST,
  MAX_PERMISSION_HOLDERS,
  requireRoomForHolders,
  validateGroupSetting,
} from './group-settings.js';

const town = () =>
  createFixture(
    aUser({ name: 'hamlet' }),
    aUser({ name: 'iago' }),
    aUser({ name: 'gone', isActive: false }),
    aGroup({ name: 'cooks' }),
    aGroup({ name: 'former', isDeactivated: true }),
  );
const accepting =
  (fixture: MemoryFixture) =>
  (value: GroupSettingValue, definition: GroupSettingDefinition = CHANNEL_PERMISSIONS.canSubscribe) =>
    fixture.uow.write(fixture.realm.id, (tx) =>
      validateGroupSetting(tx, fixture.realm.id, 'canSubscribe', definition, value),
    );
const spelt = (directMembers: readonly number[], directSubgroups: readonly number[] = []) =>
  ({ directMembers, directSubgroups }) as Exclude<GroupSettingValue, GroupId>;

describe('validateGroupSetting and groupForSetting', () => {
  it('returns the canonical value', async () => {
    const fixture = await town();
    const accept = accepting(fixture);
    const { nobody } = await fixture.uow.read(fixture.realm.id, ({ groups }) =>
      groups.systemGroupIds(fixture.realm.id),
    );
    const [cooks, hamlet, iago] = [fixture.group('cooks').id, fixture.user('hamlet').id, fixture.user('iago').id];
    expect(await accept(cooks)).toBe(cooks);
    expect(await accept(spelt([], [cooks]))).toBe(cooks);
    expect(await accept(spelt([]))).toBe(nobody);
    expect(await accept(spelt([iago, hamlet, iago], [cooks, nobody]))).toEqual(spelt([hamlet, iago], [nobody, cooks]));
  });

  it('rejects unknown groups and users', async () => {
    const fixture = await town();
    const elsewhere = await anotherRealm(fixture, aGroup({ name: 'theirs' }));
    const accept = accepting(fixture);
    const anonymous = await fixture.uow.write(fixture.realm.id, (tx) =>
      groupForSetting(tx, fixture.realm.id, spelt([fixture.user('hamlet').id])),
    );
    const [theirs, otherRealmUser, gone] = [
      elsewhere.group('theirs').id,
      elsewhere.user('otherRealmUser').id,
      fixture.user('gone').id,
    ];
    const refused = (value: GroupSettingValue, code: ErrorCode, message: string) =>
      expect(accept(value)).rejects.toMatchObject({ code, message });
    for (const id of [9999 as GroupId, theirs, anonymous]) {
      await refused(id, 'UNKNOWN_GROUP', 'Invalid user group');
      await refused(spelt([fixture.user('hamlet').id], [id]), 'UNKNOWN_GROUP', `Invalid user group ID: ${id}`);
    }
    const [system] = await fixture.uow.read(fixture.realm.id, ({ users }) => users.listSystemBots(fixture.realm.id));
    for (const id of [9999 as UserId, otherRealmUser, gone, system!.id])
      await refused(spelt([id], [theirs]), 'UNKNOWN_USER', `Invalid user ID: ${id}`);
    await refused(fixture.group('former').id, 'GROUP_DEACTIVATED', 'User group is deactivated.');
  });

  it('rejects groups that the permission does not allow', async () => {
    const fixture = await town();
    const accept = accepting(fixture);
    const { everyone } = await fixture.uow.read(fixture.realm.id, ({ groups }) =>
      groups.systemGroupIds(fixture.realm.id),
    );
    await expect(accept(everyone)).rejects.toMatchObject({
      code: 'GROUP_NOT_ALLOWED',
      details: { permission: 'canSubscribe', groupName: 'role:everyone' },
    });
    await expect(accept(fixture.group('cooks').id, REALM_PERMISSIONS.canAccessAllUsers)).rejects.toMatchObject({
      code: 'SYSTEM_GROUP_REQUIRED',
    });
  });

  it.each([
    [MAX_PERMISSION_HOLDERS - 2, 2, true],
    [MAX_PERMISSION_HOLDERS - 1, 2, false],
    [MAX_PERMISSION_HOLDERS + 9, 1, true],
    [MAX_PERMISSION_HOLDERS + 9, 0, true],
  ])('decides, with %i holders present, if %i more fit: %s', (present, named, isTaken) => {
    const check = () => requireRoomForHolders(present, named);
    if (isTaken) expect(check).not.toThrow();
    else {
      expect(check).toThrow(
        expect.objectContaining({
          code: 'TOO_MANY_PERMISSION_HOLDERS',
          message: 'Too many people in permissions (limit: 250000).',
        }),
      );
    }
  });

  it.each([
    [MAX_HOLDERS_IN_REQUEST, 1, true],
    [MAX_HOLDERS_IN_REQUEST + 1, 1, false],
    [MAX_HOLDERS_IN_REQUEST / 10, 10, true],
    [MAX_HOLDERS_IN_REQUEST / 10, 11, false],
  ])('limits the holders named in one request: %i for %i channels: %s', (count, channelCount, isTaken) => {
    const members = Array.from({ length: count - 1 }, (_, n) => (n + 1) as UserId);
    const values = [spelt(members.slice(0, 9), []), undefined, 5 as GroupId, spelt(members.slice(9), [7 as GroupId])];
    const check = () => checkHoldersInRequest(values, channelCount);
    if (isTaken) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ code: 'TOO_MANY_HOLDERS_IN_REQUEST' }));
  });

  it('rejects a value that exceeds the total limit of users and groups', async () => {
    const fixture = await town();
    const { uow, realm, user, group } = fixture;
    const store = (present: number, value: GroupSettingValue) =>
      uow.write(realm.id, (tx) =>
        groupForSetting(
          Object.assign(Object.create(tx) as typeof tx, {
            groups: Object.assign(Object.create(tx.groups), { countPermissionHolders: async () => present }),
          }),
          realm.id,
          value,
        ),
      );
    const two = spelt([user('hamlet').id], [group('cooks').id]);
    await expect(store(MAX_PERMISSION_HOLDERS - 1, two)).rejects.toMatchObject({ code: 'TOO_MANY_PERMISSION_HOLDERS' });
    expect(await store(MAX_PERMISSION_HOLDERS, group('cooks').id)).toBe(group('cooks').id);
    await store(MAX_PERMISSION_HOLDERS - 2, two);
  });

  it('returns a named group itself or creates an anonymous group without publishing to users', async () => {
    const fixture = await town();
    const cooks = fixture.group('cooks').id;
    const value = spelt([fixture.user('hamlet').id], [cooks]);
    const [named, first, second] = await fixture.uow.write(fixture.realm.id, async (tx) => [
      await groupForSetting(tx, fixture.realm.id, cooks),
      await groupForSetting(tx, fixture.realm.id, value),
      await groupForSetting(tx, fixture.realm.id, value),
    ]);
    expect(named).toBe(cooks);
    expect(first).not.toBe(second);
    expect(
      (await fixture.uow.read(fixture.realm.id, ({ groups }) => groups.settingValues(fixture.realm.id, [first!]))).get(
        first!,
      ),
    ).toEqual(value);
    expect(fixture.storage.announced).toMatchObject(
      [first, second].map((groupId) => ({
        event: { type: 'group.created', groupId, memberIds: value.directMembers, subgroupIds: [cooks], view: null },
        audience: { kind: 'nobody' },
      })),
    );
  });
});

describe('acceptGroupSettings', () => {
  const registry = {
    canSubscribe: CHANNEL_PERMISSIONS.canSubscribe,
    canAddSubscribers: CHANNEL_PERMISSIONS.canAddSubscribers,
  };
  async function aChannelOf() {
    const fixture = await town();
    const [hamlet, iago, cooks] = [fixture.user('hamlet').id, fixture.user('iago').id, fixture.group('cooks').id];
    const present = await fixture.uow.write(fixture.realm.id, async (tx) => ({
      canSubscribe: await groupForSetting(tx, fixture.realm.id, spelt([hamlet])),
      canAddSubscribers: cooks,
    }));
    const accept = (requested: Parameters<typeof acceptGroupSettings<keyof typeof registry>>[4]) =>
      fixture.uow.write(fixture.realm.id, (tx) =>
        acceptGroupSettings(tx, fixture.realm.id, registry, present, requested),
      );
    return { accept, hamlet, iago, cooks };
  }

  it('returns only permissions with a changed value', async () => {
    const { accept, hamlet, iago, cooks } = await aChannelOf();
    expect(await accept({})).toEqual([]);
    expect(
      await accept({ canSubscribe: { new: spelt([hamlet]) }, canAddSubscribers: { new: spelt([], [cooks]) } }),
    ).toEqual([]);
    const changed = await accept({ canSubscribe: { new: spelt([hamlet]) }, canAddSubscribers: { new: spelt([iago]) } });
    expect(changed).toEqual([{ name: 'canAddSubscribers', value: spelt([iago]), groupId: expect.any(Number) }]);
    expect(changed[0]!.groupId).not.toBe(cooks);
    expect(await accept({ canSubscribe: { new: cooks } })).toEqual([
      { name: 'canSubscribe', value: cooks, groupId: cooks },
    ]);
  });

  it('rejects a stale old value', async () => {
    const { accept, hamlet, iago, cooks } = await aChannelOf();
    expect(await accept({ canSubscribe: { new: cooks, old: spelt([hamlet]) } })).toHaveLength(1);
    for (const old of [spelt([iago]), cooks, spelt([hamlet], [cooks])]) {
      await expect(accept({ canSubscribe: { new: cooks, old } })).rejects.toMatchObject({ code: 'STALE_VALUE' });
      // Rejected even if the new value equals the current one.
      await expect(accept({ canSubscribe: { new: spelt([hamlet]), old } })).rejects.toMatchObject({
        code: 'STALE_VALUE',
      });
    }
  });
});
