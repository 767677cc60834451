import { aUser, createFixture } from '@parley/testkit';
import { EraseUser } from './erasures.use-cases.js';

describe('EraseUser', () => {
  it('removes the phones of the person at once, and unregisters them at the push service', async () => {
    const fixture = await createFixture(aUser({ name: 'owner', role: 'owner' }), aUser({ name: 'ann' }));
    const { uow, clock, realm } = fixture;
    const { id: userId } = fixture.user('ann');
    await uow.write(realm.id, (tx) =>
      tx.pushTokens.add(realm.id, userId, { kind: 'fcm', token: 'phone', iosAppId: null }),
    );
    const add = jest.fn(async () => {});
    const request = { realmId: realm.id, user: { userId }, everythingWritten: false };
    await new EraseUser(uow, { add, read: async () => [] } as never, clock).execute(request);
    expect(await uow.read(realm.id, ({ pushTokens }) => pushTokens.list(realm.id, userId))).toEqual([]);
    const jobs = await uow.read(realm.id, (reads) =>
      reads.jobs.listDue({ kind: 'push.unregister', maxFormat: 1 }, clock.now(), 10),
    );
    expect(jobs).toMatchObject([{ payload: JSON.stringify({ userId, kind: 'fcm', token: 'phone' }) }]);
    expect(add).toHaveBeenCalledTimes(1);
  });
});
