import { aRealm, aUser, createFixture, type MemoryFixture } from '@parley/testkit';
import { settingValues } from '../kernel/settings.js';
import { STORED_REALM_SETTINGS } from '../realms/realm-settings.js';
import { PromoteFullMembers } from './system-groups.js';

const DAY = 86_400;
const settings = settingValues(STORED_REALM_SETTINGS, { waitingPeriodThreshold: 3 });

async function isFullMember(fixture: MemoryFixture, name: string): Promise<boolean> {
  return fixture.uow.read(fixture.realm.id, async (r) => {
    const { fullMembers } = await r.groups.systemGroupIds(fixture.realm.id);
    return (await r.groups.listDirectIds(fixture.realm.id, fixture.user(name).id)).includes(fullMembers);
  });
}

it('PromoteFullMembers promotes users after their waiting period, publishes the change and returns the next due time', async () => {
  const fixture = await createFixture(aRealm({ settings }), aUser({ name: 'iago', role: 'administrator' }));
  const now = fixture.clock.now();
  await fixture.add(aUser({ name: 'ann', joinedAt: now - 2 * DAY }), aUser({ name: 'bob', joinedAt: now - DAY }));
  fixture.storage.announced.length = 0;
  const promote = new PromoteFullMembers(fixture.uow, fixture.clock);

  expect(await promote.execute()).toBe(now + DAY);
  expect(fixture.storage.announced).toEqual([]);

  fixture.clock.advance(DAY);
  expect(await promote.execute()).toBe(now + 2 * DAY);
  expect([await isFullMember(fixture, 'ann'), await isFullMember(fixture, 'bob')]).toEqual([true, false]);
  expect(fixture.storage.announced).toMatchObject([
    {
      event: { type: 'group.members_changed', op: 'add', userIds: [fixture.user('ann').id] },
      audience: { kind: 'realm' },
    },
  ]);

  fixture.clock.advance(DAY);
  expect(await promote.execute()).toBeNull();
  expect(await isFullMember(fixture, 'bob')).toBe(true);
});

it('PromoteFullMembers demotes full members when the waiting period becomes longer', async () => {
  const fixture = await createFixture(aUser({ name: 'ann' }));
  await fixture.uow.write(fixture.realm.id, (tx) =>
    tx.realms.update({ ...fixture.realm, settings: { ...settings, waitingPeriodThreshold: 500 } }),
  );
  await new PromoteFullMembers(fixture.uow, fixture.clock).execute();
  expect(await isFullMember(fixture, 'ann')).toBe(false);
});
