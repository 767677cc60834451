import { expectRefused, given, SeededRandomness } from '@parley/testkit';
import { CreateRealm } from './create-realm.js';

const creating = async () => {
  const scene = await given();
  const useCase = new CreateRealm(scene.uow, scene.clock, new SeededRandomness(5));
  return { scene, create: (stringId: string, name = 'Elsinore') => useCase.execute({ stringId, name }) };
};

describe('founding a realm', () => {
  it('gives it its groups, permissions and bots', async () => {
    const { scene, create } = await creating();
    const realm = await create('elsinore');
    expect(realm).toMatchObject({
      stringId: 'elsinore',
      name: 'Elsinore',
      uuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4/),
      isDeactivated: false,
      createdAt: scene.clock.now(),
    });
    await scene.uow.read(async ({ realms, groups, users, events }) => {
      expect(await realms.findByStringId('elsinore')).toEqual(realm);
      const system = await groups.systemGroupIds(realm.id);
      expect(Object.keys(system)).toEqual([
        ...['nobody', 'owners', 'administrators', 'moderators'],
        ...['fullMembers', 'members', 'everyone', 'internet'],
      ]);
      expect(realm.permissions).toMatchObject({
        canCreateWebPublicChannel: system.owners,
        canMentionManyUsers: system.administrators,
        canSetDeleteMessagePolicy: system.moderators,
        canAddSubscribers: system.members,
        directMessagePermission: system.everyone,
      });
      const views = await groups.listViews(realm.id);
      expect(views.map(({ name, subgroupIds }) => [name, subgroupIds])).toEqual([
        ['role:nobody', []],
        ['role:owners', []],
        ['role:administrators', [system.owners]],
        ['role:moderators', [system.administrators]],
        ['role:fullmembers', [system.moderators]],
        ['role:members', [system.fullMembers]],
        ['role:everyone', [system.members]],
        ['role:internet', [system.everyone]],
      ]);
      for (const { permissions } of views)
        expect(new Set(Object.values(permissions))).toEqual(new Set([system.nobody]));
      expect((await users.listSystemBots(realm.id)).map(({ fullName }) => fullName)).toEqual([
        'Notification Bot',
        'Welcome Bot',
        'Email Gateway',
      ]);
      expect(await users.listHeads(realm.id)).toEqual([]);
      expect(await events.headSeq(realm.id)).toBeGreaterThan(0);
    });
    expect(new Set(scene.storage.announced.map(({ audience }) => audience.kind))).toEqual(new Set(['nobody']));
  });

  it.each(['', 'a', 'a-1', '42'])('may be called %j', async (stringId) => {
    const { create } = await creating();
    expect((await create(stringId)).stringId).toBe(stringId);
  });

  it.each([
    ['Elsinore', 'Elsinore'],
    ['-a', 'Elsinore'],
    ['a-', 'Elsinore'],
    ['a.b', 'Elsinore'],
    ['zulip', 'taken'],
    ['elsinore', ' '],
    ['elsinore', 'é'.repeat(41)],
  ])('is refused as %j, %j', async (stringId, name) => {
    const { scene, create } = await creating();
    await expectRefused(scene, () => create(stringId, name), { code: 'INVALID_INPUT' });
  });
});
