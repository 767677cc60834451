import { anotherRealm, aUser } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

export function webPushRepositoryContract(open: OpenStorage): void {
  describe('web push repository', () => {
    const stage = stagesOn(open);

    it('stores each endpoint once per user, isolates realms, and removes subscriptions with their session', async () => {
      const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }));
      const { id: realmId } = fixture.realm;
      const [a, b] = [fixture.user('a').id, fixture.user('b').id];
      const session = await fixture.uow.write(realmId, (tx) =>
        tx.sessions.add(
          {
            realmId,
            userId: a,
            userAgent: 'u',
            ip: null,
            method: null,
            serviceSession: null,
            createdAt: 1,
            lastUsedAt: 1,
            expiresAt: 9_999_999_999,
          },
          'f',
        ),
      );
      const keys = { publicKey: 'k', authSecret: 's' };
      await fixture.uow.write(realmId, async ({ webPush }) => {
        await webPush.put({ realmId, userId: a, sessionId: null, endpoint: '1', ...keys });
        await webPush.put({ realmId, userId: a, sessionId: session, endpoint: '2', ...keys });
        await webPush.put({ realmId, userId: b, sessionId: null, endpoint: '1', ...keys });
        await webPush.put({ realmId, userId: a, sessionId: null, endpoint: '1', ...keys, publicKey: 'changed' });
      });
      const list = async (id = realmId) =>
        (await fixture.uow.readAcross(({ webPush }) => webPush.list(id, [a, b]))).map(
          ({ userId, endpoint, publicKey }) => [userId, endpoint, publicKey],
        );
      expect(await list()).toEqual([
        [a, '1', 'changed'],
        [a, '2', 'k'],
        [b, '1', 'k'],
      ]);
      const other = (await anotherRealm(fixture)).realm.id;
      expect(await list(other)).toEqual([]);
      expect(await fixture.uow.write(other, ({ webPush }) => webPush.remove(other, a, '1'))).toBe(false);
      await fixture.uow.write(realmId, (tx) => tx.sessions.remove(realmId, a, [session]));
      expect(await fixture.uow.write(realmId, ({ webPush }) => webPush.remove(realmId, a, '1'))).toBe(true);
      expect(await fixture.uow.write(realmId, ({ webPush }) => webPush.remove(realmId, a, '1'))).toBe(false);
      expect(await list()).toEqual([[b, '1', 'k']]);
    });
  });
}
