import {
  anotherRealm,
  aUser,
  aUserOfEachRole,
  expectInSync,
  expectRefused,
  given,
  type MemoryScene,
  PlainRenderer,
  plainAddresses,
} from '@parley/testkit';
import type { ChannelId } from '../../shared/ids.js';
import { ChangeRealm, type ChangeRealmInput } from './change-realm.js';
import { ChangeUserDefaults } from './change-user-defaults.js';

const changing = (scene: MemoryScene) => {
  const useCase = new ChangeRealm(scene.uow, new PlainRenderer(), plainAddresses, scene.clock, { isOn: false });
  return (who: string, input: Partial<ChangeRealmInput>) =>
    useCase.execute(scene.caller(who), { settings: {}, permissions: {}, ...input });
};
const realmOf = (scene: MemoryScene) => scene.uow.read((r) => r.realms.get(scene.realm.id));

describe('changing the organization', () => {
  it('changes settings, permissions and the name in one go', async () => {
    const scene = await given(aUserOfEachRole());
    const value = { directMembers: [scene.user('member').id], directSubgroups: [] };
    await expectInSync(scene, () =>
      changing(scene)('owner', {
        name: 'Elsinore',
        settings: { description: 'A castle', messageRetentionDays: 30, waitingPeriodThreshold: 9 },
        permissions: { canCreateGroups: { new: value } },
      }),
    );
    const realm = await realmOf(scene);
    expect(realm).toMatchObject({
      name: 'Elsinore',
      settings: { description: 'A castle', messageRetentionDays: 30, waitingPeriodThreshold: 9 },
    });
    expect(realm.renderedDescription).toContain('A castle');
    const values = await scene.uow.read((r) => r.groups.settingValues(realm.id, [realm.permissions.canCreateGroups]));
    expect([...values.values()]).toEqual([value]);
  });

  it('leaves to the operator what is the operator’s', async () => {
    const scene = await given(aUserOfEachRole());
    await expectRefused(scene, () => changing(scene)('owner', { settings: { ownerFullContentAccess: true } }), {
      code: 'NOT_PERMITTED',
    });
  });

  it('knows channels of its own only', async () => {
    const scene = await given(aUserOfEachRole());
    const theirs = (await anotherRealm(scene)).channel('theirs');
    for (const id of [theirs.id, 999 as ChannelId]) {
      await expectRefused(
        scene,
        () => changing(scene)('administrator', { settings: { moderationRequestChannelId: id } }),
        { code: 'BAD_SETTING_VALUE', details: { of: 'realm', setting: 'moderationRequestChannelId', value: id } },
      );
    }
  });

  it.each([' ', 'é'.repeat(41)])('is not called %j', async (name) => {
    const scene = await given(aUserOfEachRole());
    await expectRefused(scene, () => changing(scene)('owner', { name }), { code: 'INVALID_INPUT' });
  });

  it.each(['moderator', 'member', 'guest'])('is not for a %s, who could ask in process', async (who) => {
    const scene = await given(aUserOfEachRole());
    await expectRefused(scene, () => changing(scene)(who, { name: 'New' }), { code: 'MUST_BE_ADMINISTRATOR' });
  });
});

describe('changing what new users start with', () => {
  it('leaves out what there is no default of, and everybody who is there', async () => {
    const scene = await given(aUser({ name: 'owner', role: 'owner' }));
    const useCase = new ChangeUserDefaults(scene.uow);
    await useCase.execute(scene.caller('owner'), { enterSends: true, timezone: 'Asia/Tokyo', defaultLanguage: 'de' });
    expect((await realmOf(scene)).userDefaults).toMatchObject({
      enterSends: true,
      timezone: '',
      defaultLanguage: 'en',
    });
    expect((await scene.uow.read((r) => r.users.find(scene.realm.id, scene.user('owner').id)))!.settings).toMatchObject(
      {
        enterSends: false,
      },
    );
  });
});
