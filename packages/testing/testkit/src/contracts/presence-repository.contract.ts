import type { Presence } from '@parley/domain/users';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const pieces = [aUser({ name: 'a' }), aUser({ name: 'b' })];

const presence = (fixture: Fixture, who: string, updateId: number, more: Partial<Presence> = {}): Presence => ({
  userId: fixture.user(who).id,
  lastActive: 7,
  lastConnected: 8,
  updateId,
  ...more,
});
const put = (fixture: Fixture, ...presences: readonly Presence[]) =>
  fixture.uow.write(fixture.realm.id, (tx) => tx.presence.put(fixture.realm.id, presences));
const listed = (fixture: Fixture) => fixture.uow.read(fixture.realm.id, (r) => r.presence.list(fixture.realm.id));

export function presenceRepositoryContract(open: OpenStorage): void {
  describe('presence repository', () => {
    const stage = stagesOn(open);

    it("stores each user's last presence in update order", async () => {
      const fixture = await stage(...pieces);
      const [a, b] = [presence(fixture, 'a', 5, { lastActive: null }), presence(fixture, 'b', 3)];
      await put(fixture, a, b);
      expect(await listed(fixture)).toEqual([b, a]);
      const later = presence(fixture, 'b', 1_000_007, { lastActive: 9, lastConnected: 10 });
      await put(fixture, later);
      expect(await listed(fixture)).toEqual([a, later]);
      const { id } = fixture.realm;
      expect(await fixture.uow.read(id, (r) => r.presence.list(id, 5))).toEqual([later]);
    });

    it('assigns each update id once per realm, starting at 1', async () => {
      const fixture = await stage(...pieces);
      const other = (await anotherRealm(fixture)).realm.id;
      const reserve = (realmId: typeof other, count: number) =>
        fixture.uow.write(realmId, (tx) => tx.presence.reserveIds(realmId, count));
      expect(await reserve(fixture.realm.id, 10)).toBe(1);
      expect(await reserve(fixture.realm.id, 2)).toBe(11);
      expect(await reserve(fixture.realm.id, 1)).toBe(13);
      expect(await reserve(other, 5)).toBe(1);
    });

    it('isolates realms', async () => {
      const fixture = await stage(...pieces);
      await put(fixture, presence(fixture, 'a', 1));
      const other = (await anotherRealm(fixture)).realm.id;
      expect(await fixture.uow.read(other, (r) => r.presence.list(other))).toEqual([]);
    });
  });
}
