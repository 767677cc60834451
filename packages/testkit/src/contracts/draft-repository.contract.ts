import type { ChannelId, DraftId, UserId } from '@parley/domain/kernel';
import type { Draft, NewDraft } from '@parley/domain/messages';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const pieces = [aUser({ name: 'a' }), aUser({ name: 'b' })];
const ALL = 100;

const draft = (fixture: Fixture, who: string, editedAt: number, more: Partial<NewDraft> = {}): NewDraft => ({
  realmId: fixture.realm.id,
  userId: fixture.user(who).id,
  to: { kind: 'channel', channelId: 7 as ChannelId, topic: 'plans' },
  content: 'to be continued',
  editedAt,
  ...more,
});
const add = (fixture: Fixture, who: string, editedAt: number, more?: Partial<NewDraft>) =>
  fixture.uow.write(fixture.realm.id, (tx) => tx.drafts.add(draft(fixture, who, editedAt, more)));
const find = (fixture: Fixture, who: string, id: DraftId, realmId = fixture.realm.id) =>
  fixture.uow.read(realmId, ({ drafts }) => drafts.find(realmId, fixture.user(who).id, id));
const list = (fixture: Fixture, who: string, { limit = ALL, realmId = fixture.realm.id } = {}) =>
  fixture.uow.read(realmId, ({ drafts }) => drafts.list(realmId, fixture.user(who).id, limit));
const count = (fixture: Fixture, who: string, realmId = fixture.realm.id) =>
  fixture.uow.read(realmId, ({ drafts }) => drafts.count(realmId, fixture.user(who).id));
const countBytes = (fixture: Fixture, who: string, realmId = fixture.realm.id) =>
  fixture.uow.read(realmId, ({ drafts }) => drafts.countBytes(realmId, fixture.user(who).id));

export function draftRepositoryContract(open: OpenStorage): void {
  describe('draft repository', () => {
    const stage = stagesOn(open);

    it('stores drafts for any recipient and changes every property', async () => {
      const fixture = await stage(...pieces);
      const direct = { to: { kind: 'direct', userIds: [2, 5] as UserId[] } } as const;
      const drafts = [
        await add(fixture, 'a', 100),
        await add(fixture, 'a', 100.25, direct),
        await add(fixture, 'a', 0, { to: { kind: 'nobody' } }),
      ] as const;
      for (const each of drafts) expect(await find(fixture, 'a', each.id)).toEqual(each);
      const changed: Draft = { ...drafts[0], ...direct, content: 'done', editedAt: 7.5 };
      await fixture.uow.write(changed.realmId, (tx) => tx.drafts.update(changed));
      expect(await find(fixture, 'a', changed.id)).toEqual(changed);
    });

    it('counts bytes, even after a zero byte', async () => {
      const fixture = await stage(...pieces);
      expect(await countBytes(fixture, 'a')).toBe(0);
      await add(fixture, 'a', 100, { content: 'a\0é' });
      // Storages that keep no zero bytes replace them.
      expect([4, 6]).toContain(await countBytes(fixture, 'a'));
    });

    it("lists a user's drafts by last edit, then newest first", async () => {
      const fixture = await stage(...pieces);
      const [old, newer, alsoOld, others] = [
        await add(fixture, 'a', 100),
        await add(fixture, 'a', 100.5),
        await add(fixture, 'a', 100),
        await add(fixture, 'b', 200),
      ];
      expect(await list(fixture, 'a')).toEqual([newer, alsoOld, old]);
      expect(await list(fixture, 'a', { limit: 1 })).toEqual([newer]);
      expect(await list(fixture, 'b')).toEqual([others]);
      expect([await count(fixture, 'a'), await count(fixture, 'b')]).toEqual([3, 1]);
      expect([await countBytes(fixture, 'a'), await countBytes(fixture, 'b')]).toEqual([45, 15]);
    });

    it('removes one draft without reusing its id, and all drafts of a user', async () => {
      const fixture = await stage(...pieces);
      const [first, last, others] = [
        await add(fixture, 'a', 100),
        await add(fixture, 'a', 100),
        await add(fixture, 'b', 100),
      ];
      await fixture.uow.write(fixture.realm.id, (tx) => tx.drafts.remove(fixture.realm.id, others.userId, others.id));
      expect(await list(fixture, 'b')).toEqual([]);
      const next = await add(fixture, 'b', 100);
      expect(next.id).toBeGreaterThan(others.id);
      await fixture.uow.write(fixture.realm.id, (tx) => tx.drafts.remove(fixture.realm.id, first.userId, first.id));
      expect(await list(fixture, 'a')).toEqual([last]);
      await fixture.uow.write(fixture.realm.id, (tx) => tx.drafts.removeAll(fixture.realm.id, first.userId));
      expect([await list(fixture, 'a'), await list(fixture, 'b')]).toEqual([[], [next]]);
      await fixture.uow.write(last.realmId, (tx) => tx.drafts.update(last));
      expect(await list(fixture, 'a')).toEqual([]);
    });

    it('isolates users and realms', async () => {
      const fixture = await stage(...pieces);
      const added = await add(fixture, 'a', 100);
      const { realm } = await anotherRealm(fixture);
      const { id: other } = fixture.user('b');
      expect(await find(fixture, 'b', added.id)).toBeNull();
      expect(await find(fixture, 'a', added.id, realm.id)).toBeNull();
      expect(await list(fixture, 'a', { realmId: realm.id })).toEqual([]);
      expect(await count(fixture, 'a', realm.id)).toBe(0);
      expect(await countBytes(fixture, 'a', realm.id)).toBe(0);
      await fixture.uow.writeAcross(async (tx) => {
        await tx.drafts.remove(fixture.realm.id, other, added.id);
        await tx.drafts.remove(realm.id, added.userId, added.id);
        await tx.drafts.removeAll(realm.id, added.userId);
        await tx.drafts.update({ ...added, userId: other, content: 'theirs' });
        await tx.drafts.update({ ...added, realmId: realm.id, content: 'theirs' });
      });
      expect(await find(fixture, 'a', added.id)).toEqual(added);
    });
  });
}
