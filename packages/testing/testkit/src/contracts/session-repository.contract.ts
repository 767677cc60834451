import type { NewSession } from '@parley/domain/access';
import type { SessionId } from '@parley/domain/kernel';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

export function sessionRepositoryContract(open: OpenStorage): void {
  describe('session repository', () => {
    const stage = stagesOn(open);
    const sessionOf = (fixture: Fixture, name: string, more: Partial<NewSession> = {}): NewSession => ({
      ...fixture.viewer(name),
      userAgent: 'Mozilla/5.0',
      ip: '192.0.2.7',
      method: 'keycloak',
      serviceSession: 'a session elsewhere',
      createdAt: 100,
      lastUsedAt: 100,
      expiresAt: 1000,
      ...more,
    });
    const add = (fixture: Fixture, session: NewSession, fingerprint: string) =>
      fixture.uow.write(session.realmId, (tx) => tx.sessions.add(session, fingerprint));
    const find = (fixture: Fixture, fingerprint: string) =>
      fixture.uow.readAcross(({ sessions }) => sessions.findByFingerprint(fingerprint));
    const listOf = (fixture: Fixture, name: string) =>
      fixture.uow.read(fixture.realm.id, ({ sessions }) => sessions.listOf(fixture.realm.id, fixture.user(name).id));

    it('keeps the most recently used login networks of each user', async () => {
      const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }));
      const put = (name: string, network: string, lastUsedAt: number) =>
        fixture.uow.write(fixture.realm.id, (tx) =>
          tx.sessions.putNetwork(fixture.realm.id, fixture.user(name).id, { network, lastUsedAt }, 2),
        );
      const list = (name: string) =>
        fixture.uow.read(fixture.realm.id, async ({ sessions }) =>
          (await sessions.listNetworks(fixture.realm.id, fixture.user(name).id)).map((one) => [
            one.network,
            one.lastUsedAt,
          ]),
        );
      expect(await list('a')).toEqual([]);
      await put('a', 'home', 100);
      await put('a', 'office', 200);
      await put('b', 'home', 50);
      await put('a', 'home', 300);
      expect(await list('a')).toEqual([
        ['home', 300],
        ['office', 200],
      ]);
      await put('a', 'train', 400);
      expect(await list('a')).toEqual([
        ['train', 400],
        ['home', 300],
      ]);
      expect(await list('b')).toEqual([['home', 50]]);
      const other = await anotherRealm(fixture);
      const { id } = fixture.user('a');
      expect(
        await fixture.uow.read(other.realm.id, ({ sessions }) => sessions.listNetworks(other.realm.id, id)),
      ).toEqual([]);
    });

    it("finds a session by fingerprint in any realm, and a user's sessions, last used first", async () => {
      const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }));
      const first = await add(fixture, sessionOf(fixture, 'a'), 'print-1');
      const unknown = { lastUsedAt: 200, userAgent: '', ip: null, method: null, serviceSession: null };
      const second = await add(fixture, sessionOf(fixture, 'a', unknown), 'print-2');
      const third = await add(fixture, sessionOf(fixture, 'a'), 'print-3');
      await add(fixture, sessionOf(fixture, 'b'), 'print-4');
      expect(await find(fixture, 'print-2')).toEqual({
        ...sessionOf(fixture, 'a', unknown),
        id: second,
      });
      expect(await find(fixture, 'print-5')).toBeNull();
      expect((await listOf(fixture, 'a')).map(({ id }) => id)).toEqual([second, third, first]);
      const other = await anotherRealm(fixture);
      const { id: userId } = fixture.user('a');
      expect(await fixture.uow.read(other.realm.id, ({ sessions }) => sessions.listOf(other.realm.id, userId))).toEqual(
        [],
      );
    });

    it('never reuses ids', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const id = await add(fixture, sessionOf(fixture, 'a'), 'print-1');
      await fixture.uow.write(fixture.realm.id, (tx) =>
        tx.sessions.remove(fixture.realm.id, fixture.user('a').id, [id]),
      );
      expect(await add(fixture, sessionOf(fixture, 'a'), 'print-1')).toBeGreaterThan(id);
    });

    it('records the use of an existing session', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const id = await add(fixture, sessionOf(fixture, 'a'), 'print-1');
      const use = { lastUsedAt: 300, expiresAt: 1300 };
      await fixture.uow.write(fixture.realm.id, (tx) => tx.sessions.renew(id, use));
      await fixture.uow.write(fixture.realm.id, (tx) => tx.sessions.renew((id + 1) as SessionId, use));
      expect(await find(fixture, 'print-1')).toEqual({ ...sessionOf(fixture, 'a', use), id });
    });

    it('removes only sessions of the given user and realm', async () => {
      const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }));
      const other = await anotherRealm(fixture);
      const mine = await add(fixture, sessionOf(fixture, 'a'), 'print-1');
      const left = await add(fixture, sessionOf(fixture, 'a'), 'print-2');
      const foreign = await add(fixture, sessionOf(fixture, 'b'), 'print-3');
      const { id: userId } = fixture.user('a');
      const remove = (realmId: typeof fixture.realm.id, ids: readonly SessionId[]) =>
        fixture.uow.write(realmId, (tx) => tx.sessions.remove(realmId, userId, ids));
      expect(await remove(other.realm.id, [mine])).toBe(0);
      expect(await remove(fixture.realm.id, [mine, foreign])).toBe(1);
      expect((await listOf(fixture, 'a')).map(({ id }) => id)).toEqual([left]);
      expect(await find(fixture, 'print-3')).not.toBeNull();
    });

    it("removes a realm's sessions and expired ones in batches", async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const other = await anotherRealm(fixture);
      for (const [index, expiresAt] of [500, 600, 700].entries()) {
        await add(fixture, sessionOf(fixture, 'a', { expiresAt }), `print-${index}`);
      }
      await add(fixture, { ...sessionOf(fixture, 'a'), realmId: other.realm.id }, 'print-other');
      const { uow, realm } = fixture;
      const removeExpired = () => uow.writeAcross((tx) => tx.sessions.removeExpired(600, 1));
      expect([await removeExpired(), await removeExpired(), await removeExpired()]).toEqual([1, 1, 0]);
      expect(await find(fixture, 'print-2')).not.toBeNull();
      expect(await uow.write(realm.id, (tx) => tx.sessions.removeOfRealm(realm.id, 5))).toBe(1);
      expect(await uow.write(realm.id, (tx) => tx.sessions.removeOfRealm(realm.id, 5))).toBe(0);
      expect(await find(fixture, 'print-other')).not.toBeNull();
    });
  });
}
