import { aRealm, aUser, given, type MemoryScene } from '@parley/testkit';
import { STORED_REALM_SETTINGS } from '../../realms/realm-settings.js';
import { settingValues } from '../../shared/settings.js';
import { PromoteFullMembers } from './promote-full-members.js';

const DAY = 86_400;
const settings = settingValues(STORED_REALM_SETTINGS, { waitingPeriodThreshold: 3 });

async function isFullMember(scene: MemoryScene, name: string): Promise<boolean> {
  return scene.uow.read(async (r) => {
    const { fullMembers } = await r.groups.systemGroupIds(scene.realm.id);
    return (await r.groups.listDirectIds(scene.realm.id, scene.user(name).id)).includes(fullMembers);
  });
}

it('makes full members of those whose waiting period is over, tells everybody, and says when to come again', async () => {
  const scene = await given(aRealm({ settings }), aUser({ name: 'iago', role: 'administrator' }));
  const now = scene.clock.now();
  await scene.add(aUser({ name: 'ann', joinedAt: now - 2 * DAY }), aUser({ name: 'bob', joinedAt: now - DAY }));
  scene.storage.announced.length = 0;
  const promote = new PromoteFullMembers(scene.uow, scene.clock);

  expect(await promote.execute()).toBe(now + DAY);
  expect(scene.storage.announced).toEqual([]);

  scene.clock.advance(DAY);
  expect(await promote.execute()).toBe(now + 2 * DAY);
  expect([await isFullMember(scene, 'ann'), await isFullMember(scene, 'bob')]).toEqual([true, false]);
  expect(scene.storage.announced).toMatchObject([
    {
      event: { type: 'group.members_changed', op: 'add', userIds: [scene.user('ann').id] },
      audience: { kind: 'realm' },
    },
  ]);

  scene.clock.advance(DAY);
  expect(await promote.execute()).toBeNull();
  expect(await isFullMember(scene, 'bob')).toBe(true);
});

it('takes it back where the waiting period has become longer', async () => {
  const scene = await given(aUser({ name: 'ann' }));
  await scene.uow.write((tx) =>
    tx.realms.update({ ...scene.realm, settings: { ...settings, waitingPeriodThreshold: 500 } }),
  );
  await new PromoteFullMembers(scene.uow, scene.clock).execute();
  expect(await isFullMember(scene, 'ann')).toBe(false);
});
