import type { UserId } from '@parley/domain/kernel';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const pieces = [aUser({ name: 'a' }), aUser({ name: 'b' })];

const add = (fixture: Fixture, who: string, ...words: readonly string[]) =>
  fixture.uow.write(fixture.realm.id, (tx) => tx.alertWords.add(fixture.realm.id, fixture.user(who).id, words));
const remove = (fixture: Fixture, who: string, words: readonly string[], realmId = fixture.realm.id) =>
  fixture.uow.write(realmId, (tx) => tx.alertWords.remove(realmId, fixture.user(who).id, words));
const list = (fixture: Fixture, who: string, realmId = fixture.realm.id) =>
  fixture.uow.read(realmId, ({ alertWords }) => alertWords.list(realmId, fixture.user(who).id));
const bySegment = (fixture: Fixture, ...segments: readonly string[]) =>
  fixture.uow.read(fixture.realm.id, async ({ alertWords }) =>
    Object.fromEntries(await alertWords.listBySegment(fixture.realm.id, new Set(segments))),
  );

export function alertWordRepositoryContract(open: OpenStorage): void {
  describe('alert word repository', () => {
    const stage = stagesOn(open);

    it("lists a user's words in their first spelling, oldest first", async () => {
      const fixture = await stage(...pieces);
      await add(fixture, 'a', 'Tea', 'coffee');
      await add(fixture, 'a', 'TEA', 'Ärger');
      await add(fixture, 'b', 'tea');
      expect(await list(fixture, 'a')).toEqual(['Tea', 'coffee', 'Ärger']);
      expect(await list(fixture, 'b')).toEqual(['tea']);
      await remove(fixture, 'a', ['COFFEE', 'ärger', 'milk']);
      expect(await list(fixture, 'a')).toEqual(['Tea']);
    });

    it('finds words by segment with all their users', async () => {
      const fixture = await stage(...pieces);
      const [a, b]: UserId[] = [fixture.user('a').id, fixture.user('b').id];
      await add(fixture, 'a', 'Tea', 'tea time', ':)', 'teapot');
      await add(fixture, 'b', 'TEA');
      expect(await bySegment(fixture, 'tea', 'coffee')).toEqual({ tea: [a, b], 'tea time': [a] });
      expect(await bySegment(fixture, '')).toEqual({ ':)': [a] });
      expect(await bySegment(fixture)).toEqual({});
    });

    it('reports whether a realm has words, independent of other realms', async () => {
      const fixture = await stage(...pieces);
      const { realm } = await anotherRealm(fixture);
      const hasAny = (realmId = fixture.realm.id) =>
        fixture.uow.read(realmId, ({ alertWords }) => alertWords.hasAny(realmId));
      expect(await hasAny()).toBe(false);
      await add(fixture, 'a', 'tea');
      expect([await hasAny(), await hasAny(realm.id)]).toEqual([true, false]);
      expect(await list(fixture, 'a', realm.id)).toEqual([]);
      await remove(fixture, 'a', ['tea'], realm.id);
      await fixture.uow.read(realm.id, async ({ alertWords }) => {
        expect(await alertWords.listBySegment(realm.id, new Set(['tea']))).toEqual(new Map());
      });
      expect(await list(fixture, 'a')).toEqual(['tea']);
      await remove(fixture, 'a', ['tea']);
      expect(await hasAny()).toBe(false);
    });
  });
}
