import type { SnippetId } from '@parley/domain/kernel';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const pieces = [aUser({ name: 'a' }), aUser({ name: 'b' })];
const ALL = 100;

const add = (fixture: Fixture, who: string, title: string) =>
  fixture.uow.write(fixture.realm.id, (tx) =>
    tx.snippets.add({
      realmId: fixture.realm.id,
      userId: fixture.user(who).id,
      title,
      content: 'Dear *all*',
      createdAt: 100,
    }),
  );
const find = (fixture: Fixture, who: string, id: SnippetId, realmId = fixture.realm.id) =>
  fixture.uow.read(realmId, ({ snippets }) => snippets.find(realmId, fixture.user(who).id, id));
const list = (fixture: Fixture, who: string, { limit = ALL, realmId = fixture.realm.id } = {}) =>
  fixture.uow.read(realmId, ({ snippets }) => snippets.list(realmId, fixture.user(who).id, limit));
const count = (fixture: Fixture, who: string, realmId = fixture.realm.id) =>
  fixture.uow.read(realmId, ({ snippets }) => snippets.count(realmId, fixture.user(who).id));
const countBytes = (fixture: Fixture, who: string, realmId = fixture.realm.id) =>
  fixture.uow.read(realmId, ({ snippets }) => snippets.countBytes(realmId, fixture.user(who).id));

export function snippetRepositoryContract(open: OpenStorage): void {
  describe('snippet repository', () => {
    const stage = stagesOn(open);

    it("lists a user's snippets, oldest first", async () => {
      const fixture = await stage(...pieces);
      const [first, second, others] = [
        await add(fixture, 'a', 'one'),
        await add(fixture, 'a', 'two'),
        await add(fixture, 'b', 'one'),
      ];
      expect(first).toMatchObject({ title: 'one', content: 'Dear *all*', createdAt: 100 });
      expect(await list(fixture, 'a')).toEqual([first, second]);
      expect(await list(fixture, 'a', { limit: 1 })).toEqual([first]);
      expect(await list(fixture, 'b')).toEqual([others]);
      expect(await find(fixture, 'a', second.id)).toEqual(second);
      expect([await count(fixture, 'a'), await count(fixture, 'b')]).toEqual([2, 1]);
      expect([await countBytes(fixture, 'a'), await countBytes(fixture, 'b')]).toEqual([20, 10]);
    });

    it('changes title and content and removes snippets', async () => {
      const fixture = await stage(...pieces);
      const added = await add(fixture, 'a', 'one');
      const changed = { ...added, title: 'two', content: 'Hi' };
      await fixture.uow.write(changed.realmId, (tx) => tx.snippets.update({ ...changed, createdAt: 7 }));
      expect(await list(fixture, 'a')).toEqual([changed]);
      await fixture.uow.write(fixture.realm.id, (tx) => tx.snippets.remove(fixture.realm.id, added.userId, added.id));
      await fixture.uow.write(changed.realmId, (tx) => tx.snippets.update(changed));
      expect(await list(fixture, 'a')).toEqual([]);
      expect((await add(fixture, 'a', 'one')).id).toBeGreaterThan(added.id);
    });

    it('isolates users and realms', async () => {
      const fixture = await stage(...pieces);
      const added = await add(fixture, 'a', 'one');
      const { realm } = await anotherRealm(fixture);
      const { id: other } = fixture.user('b');
      expect(await find(fixture, 'b', added.id)).toBeNull();
      expect(await find(fixture, 'a', added.id, realm.id)).toBeNull();
      expect(await list(fixture, 'a', { realmId: realm.id })).toEqual([]);
      expect(await count(fixture, 'a', realm.id)).toBe(0);
      expect(await countBytes(fixture, 'a', realm.id)).toBe(0);
      await fixture.uow.writeAcross(async (tx) => {
        await tx.snippets.remove(fixture.realm.id, other, added.id);
        await tx.snippets.remove(realm.id, added.userId, added.id);
        await tx.snippets.update({ ...added, userId: other, title: 'theirs' });
        await tx.snippets.update({ ...added, realmId: realm.id, title: 'theirs' });
      });
      expect(await find(fixture, 'a', added.id)).toEqual(added);
    });
  });
}
