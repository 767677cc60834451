import type { UserId } from '@parley/domain/kernel';
import type { LinkedAccount } from '@parley/domain/log-in';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

export function logInRepositoryContract(open: OpenStorage): void {
  describe('log-in repository', () => {
    const stage = stagesOn(open);
    const use = ({ uow }: Fixture, { id }: Fixture['realm'], fingerprint: string, expiresAt = 300) =>
      uow.write(id, (tx) => tx.logIns.use(id, fingerprint, expiresAt));
    const isUsed = ({ uow }: Fixture, { id }: Fixture['realm'], fingerprint: string) =>
      uow.read(id, ({ logIns }) => logIns.isUsed(id, fingerprint));

    it('records the use of a log-in once, only for its realm', async () => {
      const fixture = await stage();
      const { realm } = fixture;
      const other = await anotherRealm(fixture);
      expect(await isUsed(fixture, realm, 'print-1')).toBe(false);
      expect([await use(fixture, realm, 'print-1'), await use(fixture, realm, 'print-1')]).toEqual([true, false]);
      expect(await isUsed(fixture, realm, 'print-1')).toBe(true);
      expect(await isUsed(fixture, other.realm, 'print-1')).toBe(false);
      expect(await isUsed(fixture, realm, 'print-2')).toBe(false);
    });

    it('removes expired uses of all realms in batches', async () => {
      const fixture = await stage();
      const { realm } = fixture;
      const other = await anotherRealm(fixture);
      for (const [index, expiresAt] of [500, 600, 700].entries()) {
        await use(fixture, realm, `print-${index}`, expiresAt);
      }
      await use(fixture, other.realm, 'print-other', 600);
      const removeExpired = () => fixture.uow.writeAcross((tx) => tx.logIns.removeExpiredUses(600, 2));
      expect([await removeExpired(), await removeExpired(), await removeExpired()]).toEqual([2, 1, 0]);
      expect([await isUsed(fixture, realm, 'print-1'), await isUsed(fixture, realm, 'print-2')]).toEqual([false, true]);
    });

    it('links one account per method to a user and one user to an account, until unlinked', async () => {
      const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }));
      const other = await anotherRealm(fixture);
      const { uow, realm } = fixture;
      const [a, b] = [fixture.user('a').id, fixture.user('b').id];
      const account = (userId: UserId, method: string, subject: string): LinkedAccount => ({
        userId,
        method,
        subject,
        linkedAt: 100,
        picture: null,
      });
      const link = (it: LinkedAccount) => uow.write(realm.id, (tx) => tx.logIns.link(realm.id, it));
      const find = (method: string, subject: string, { id } = realm) =>
        uow.read(id, ({ logIns }) => logIns.findLinked(id, method, subject));
      const list = (userId: UserId, { id } = realm) => uow.read(id, ({ logIns }) => logIns.listLinked(id, userId));

      await link(account(a, 'keycloak', 's1'));
      await link(account(a, 'gitlab', 's1'));
      await link(account(b, 'keycloak', 's2'));
      expect([await find('keycloak', 's1'), await find('keycloak', 's2')]).toEqual([a, b]);
      expect(await find('gitlab', 's2')).toBeNull();
      expect(await find('keycloak', 'S1')).toBeNull();
      expect(await find('keycloak', 's1', other.realm)).toBeNull();
      expect(await list(a)).toEqual([account(a, 'gitlab', 's1'), account(a, 'keycloak', 's1')]);
      expect(await list(a, other.realm)).toEqual([]);
      const userIdsOf = (method: string, { id } = realm) =>
        uow.read(id, ({ logIns }) => logIns.listUserIdsOf(id, method));
      expect([await userIdsOf('keycloak'), await userIdsOf('gitlab')]).toEqual([
        [a, b].sort((one, two) => one - two),
        [a],
      ]);
      expect(await userIdsOf('keycloak', other.realm)).toEqual([]);
      await link(account(a, 'keycloak', 's3'));
      expect([await find('keycloak', 's1'), await find('keycloak', 's3')]).toEqual([null, a]);
      const picture = { source: 'https://example.com/a.png', version: 3 };
      await link({ ...account(a, 'keycloak', 's3'), picture });
      expect((await list(a)).at(-1)).toEqual({ ...account(a, 'keycloak', 's3'), picture });
      await link(account(b, 'keycloak', 's3'));
      expect([await find('keycloak', 's3'), await find('keycloak', 's2')]).toEqual([b, null]);
      expect(await list(a)).toEqual([account(a, 'gitlab', 's1')]);
      const unlink = (userId: UserId, method: string, { id } = realm) =>
        uow.write(id, ({ logIns }) => logIns.unlink(id, userId, method));
      expect(await unlink(b, 'gitlab')).toBe(false);
      expect(await unlink(b, 'keycloak', other.realm)).toBe(false);
      expect(await unlink(b, 'keycloak')).toBe(true);
      expect(await find('keycloak', 's3')).toBeNull();
      expect(await unlink(b, 'keycloak')).toBe(false);
      expect(await list(a)).toEqual([account(a, 'gitlab', 's1')]);
    });
  });
}
