import { USER_ROWS } from '@parley/domain/composition';
import type { ChannelId, UserId, UserRow, UserRows } from '@parley/domain/kernel';
import type { Draft, NavigationViewFields, Snippet } from '@parley/domain/messages';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

type Name = keyof typeof USER_ROWS;
type Fields<Row> = Omit<Row, keyof UserRow>;

const channel = { kind: 'channel', channelId: 7 as ChannelId, topic: 'plans' } as const;

/** Two sample rows per repository, in list order, and the size of their texts. */
const SAMPLES: Readonly<Record<Name, readonly [first: object, second: object, bytes: number]>> = {
  drafts: [
    { to: { kind: 'direct', userIds: [2, 5] as UserId[] }, content: 'later', editedAt: 100.25 },
    { to: channel, content: 'é', editedAt: 7 },
    7,
  ] satisfies [Fields<Draft>, Fields<Draft>, number],
  snippets: [
    { title: 'one', content: 'Dear *all*', createdAt: 100 },
    { title: 'two', content: 'é', createdAt: 7 },
    12,
  ] satisfies [Fields<Snippet>, Fields<Snippet>, number],
  navigationViews: [
    { fragment: 'narrow/is/starred', isPinned: false, name: null },
    { fragment: 'narrow/is/alerted', isPinned: true, name: 'Alerts' },
    0,
  ] satisfies [NavigationViewFields, NavigationViewFields, number],
};

const pieces = [aUser({ name: 'a' }), aUser({ name: 'b' })];

export function userRowsContract(open: OpenStorage): void {
  describe.each(Object.keys(USER_ROWS) as Name[])('%s repository', (name) => {
    const stage = stagesOn(open);
    const [first, second, bytes] = SAMPLES[name];

    const write = <T>({ uow, realm }: Fixture, work: (rows: UserRows<UserRow>) => Promise<T>, realmId = realm.id) =>
      uow.write(realmId, (tx) => work(tx[name] as object as UserRows<UserRow>));
    const add = (fixture: Fixture, who: string, fields: object) => {
      const row = { ...fields, realmId: fixture.realm.id, userId: fixture.user(who).id };
      return write(fixture, (rows) => rows.add(row));
    };
    const list = (fixture: Fixture, who: string, limit?: number) =>
      write(fixture, (rows) => rows.list(fixture.realm.id, fixture.user(who).id, limit));

    it('stores and changes every property', async () => {
      const fixture = await stage(...pieces);
      const { id, realmId, userId } = await add(fixture, 'a', first);
      const find = () => write(fixture, (rows) => rows.find(realmId, userId, id));
      expect(await find()).toEqual({ ...first, id, realmId, userId });
      const changed = { ...second, id, realmId, userId };
      await write(fixture, (rows) => rows.update(changed));
      expect(await find()).toEqual(changed);
    });

    it("lists and counts a user's rows", async () => {
      const fixture = await stage(...pieces);
      const rows = [await add(fixture, 'a', first), await add(fixture, 'a', second)];
      const others = await add(fixture, 'b', first);
      expect(await list(fixture, 'a')).toEqual(rows);
      expect(await list(fixture, 'a', 1)).toEqual([rows[0]]);
      expect(await list(fixture, 'b')).toEqual([others]);
      const { realm, user } = fixture;
      expect(await write(fixture, (r) => r.count(realm.id, user('a').id))).toBe(2);
      expect(await write(fixture, (r) => r.countBytes(realm.id, user('a').id))).toBe(bytes);
    });

    it('removes one row or all rows of a user, and ignores changes of missing rows', async () => {
      const fixture = await stage(...pieces);
      const { realm, user } = fixture;
      const [removed, kept] = [await add(fixture, 'a', first), await add(fixture, 'a', second)];
      const others = await add(fixture, 'b', first);
      await write(fixture, (rows) => rows.remove(realm.id, user('a').id, removed.id));
      await write(fixture, (rows) => rows.update(removed));
      expect(await list(fixture, 'a')).toEqual([kept]);
      await write(fixture, (rows) => rows.removeAll(realm.id, user('a').id));
      expect([await list(fixture, 'a'), await list(fixture, 'b')]).toEqual([[], [others]]);
      expect(await write(fixture, (rows) => rows.countBytes(realm.id, user('a').id))).toBe(0);
    });

    it('isolates users and realms', async () => {
      const fixture = await stage(...pieces);
      const added = await add(fixture, 'a', first);
      const { realm } = await anotherRealm(fixture);
      const [own, other] = [added.userId, fixture.user('b').id];
      expect(await write(fixture, (rows) => rows.find(fixture.realm.id, other, added.id))).toBeNull();
      await write(
        fixture,
        async (rows) => {
          expect(await rows.find(realm.id, own, added.id)).toBeNull();
          expect(await rows.list(realm.id, own)).toEqual([]);
          expect(await rows.count(realm.id, own)).toBe(0);
          expect(await rows.countBytes(realm.id, own)).toBe(0);
          await rows.remove(realm.id, own, added.id);
          await rows.removeAll(realm.id, own);
          await rows.update({ ...added, ...second, realmId: realm.id });
        },
        realm.id,
      );
      await write(fixture, async (rows) => {
        await rows.remove(fixture.realm.id, other, added.id);
        await rows.update({ ...added, ...second, userId: other });
      });
      expect(await list(fixture, 'a')).toEqual([added]);
    });
  });

  describe('user row repository', () => {
    const stage = stagesOn(open);
    const draftOf = ({ realm, user }: Fixture, editedAt: number, content = ''): Omit<Draft, 'id'> => {
      return { realmId: realm.id, userId: user('a').id, to: { kind: 'nobody' }, content, editedAt };
    };

    it('sorts by several properties, in descending order for a minus sign', async () => {
      const fixture = await stage(...pieces);
      const add = (editedAt: number) =>
        fixture.uow.write(fixture.realm.id, (tx) => tx.drafts.add(draftOf(fixture, editedAt)));
      const [old, newer, alsoOld] = [await add(100), await add(100.5), await add(100)];
      const { realm, user } = fixture;
      const listed = await fixture.uow.read(realm.id, ({ drafts }) => drafts.list(realm.id, user('a').id));
      expect(listed).toEqual([newer, alsoOld, old]);
    });

    it('never reuses the ids of removed drafts and snippets', async () => {
      const fixture = await stage(...pieces);
      const { realm, user } = fixture;
      await fixture.uow.write(realm.id, async (tx) => {
        const snippet = { realmId: realm.id, userId: user('a').id, title: '', content: '', createdAt: 0 };
        const before = [await tx.drafts.add(draftOf(fixture, 0)), await tx.snippets.add(snippet)] as const;
        await tx.drafts.removeAll(realm.id, user('a').id);
        await tx.snippets.remove(realm.id, user('a').id, before[1].id);
        expect((await tx.drafts.add(draftOf(fixture, 0))).id).toBeGreaterThan(before[0].id);
        expect((await tx.snippets.add(snippet)).id).toBeGreaterThan(before[1].id);
      });
    });

    it('counts bytes, even after a zero byte', async () => {
      const fixture = await stage(...pieces);
      const { realm, user } = fixture;
      const bytes = await fixture.uow.write(realm.id, async (tx) => {
        await tx.drafts.add(draftOf(fixture, 100, 'a\0é'));
        return tx.drafts.countBytes(realm.id, user('a').id);
      });
      // Storages that cannot store zero bytes replace them.
      expect([4, 6]).toContain(bytes);
    });
  });
}
