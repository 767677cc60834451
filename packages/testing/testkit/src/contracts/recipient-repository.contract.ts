import type { RecipientId, UserId } from '@parley/domain/kernel';
import { aChannel, aMessage, anotherRealm, aUser } from '../builders.js';
import { idsOf, type OpenStorage, stagesOn } from './storage-under-test.js';

const threePeople = [aUser({ name: 'a' }), aUser({ name: 'b' }), aUser({ name: 'c' })];

export function recipientRepositoryContract(open: OpenStorage): void {
  describe('recipient repository', () => {
    const stage = stagesOn(open);

    it('opens one conversation for the same users in any order, ignoring duplicates', async () => {
      const { uow, realm, user } = await stage(...threePeople);
      const [a, b, c] = [user('a').id, user('b').id, user('c').id];
      const openDirect = (...people: UserId[]) =>
        uow.write(realm.id, (tx) => tx.recipients.openDirect(realm.id, people));
      const all = await openDirect(c, a, b);
      const two = await openDirect(a, b);
      const alone = await openDirect(a);
      expect(new Set([all, two, alone]).size).toBe(3);
      expect(await openDirect(b, a, c, a)).toBe(all);
      expect(await openDirect(b, a)).toBe(two);
      expect(await openDirect(a, a)).toBe(alone);
      const found = await uow.read(realm.id, (r) =>
        r.recipients.list(realm.id, [two, all, alone, 9999 as RecipientId]),
      );
      expect(new Map(found)).toEqual(
        new Map([
          [all, { kind: 'direct', id: all, realmId: realm.id, userIds: [a, b, c] }],
          [two, { kind: 'direct', id: two, realmId: realm.id, userIds: [a, b] }],
          [alone, { kind: 'direct', id: alone, realmId: realm.id, userIds: [a] }],
        ]),
      );
    });

    it('lists all conversations of a realm in pages, ascending', async () => {
      const fixture = await stage(...threePeople, aChannel({ name: 'general' }));
      const { uow, realm, user } = fixture;
      const [a, b] = [user('a').id, user('b').id];
      const other = await anotherRealm(fixture);
      const ids = await uow.write(realm.id, async (tx) => [
        await tx.recipients.openDirect(realm.id, [a, b]),
        await tx.recipients.openDirect(realm.id, [a]),
        await tx.recipients.openDirect(realm.id, [b]),
      ]);
      const page = (realmId: typeof realm.id, after: number, limit: number) =>
        uow.read(realmId, (r) => r.recipients.listDirect(realmId, after, limit));
      expect(await page(realm.id, 0, 10)).toEqual(ids);
      expect(await page(realm.id, 0, 2)).toEqual(ids.slice(0, 2));
      expect(await page(realm.id, ids[1]!, 2)).toEqual(ids.slice(2));
      expect(await page(other.realm.id, 0, 10)).toEqual([]);
    });

    it('finds a conversation only after it was opened', async () => {
      const { uow, realm, user } = await stage(...threePeople);
      const people = [user('b').id, user('a').id];
      const find = (ids: readonly UserId[]) => uow.read(realm.id, (r) => r.recipients.findDirect(realm.id, ids));
      expect(await find(people)).toBeNull();
      const id = await uow.write(realm.id, (tx) => tx.recipients.openDirect(realm.id, people));
      expect(await find(people)).toBe(id);
      expect(await find([...people].reverse())).toBe(id);
      expect(await find([user('a').id])).toBeNull();
      expect(await find([...people, user('c').id])).toBeNull();
    });

    it('lists conversations that two users share or that one of them has', async () => {
      const fixture = await stage(...threePeople);
      const { uow, realm, user } = fixture;
      const [a, b, c] = [user('a').id, user('b').id, user('c').id];
      const [ab, abc, alone] = await uow.write(realm.id, async (tx) => [
        await tx.recipients.openDirect(realm.id, [a, b]),
        await tx.recipients.openDirect(realm.id, [a, b, c]),
        await tx.recipients.openDirect(realm.id, [a]),
      ]);
      const other = await anotherRealm(fixture);
      const listed = await uow.readAcross(async (r) => [
        await r.recipients.listDirectWith(realm.id, a, b, 2),
        await r.recipients.listDirectWith(realm.id, b, a, 3),
        await r.recipients.listDirectWith(realm.id, c, b, 1),
        await r.recipients.listDirectWith(realm.id, a, a, 1),
        await r.recipients.listDirectWith(realm.id, a, a, 3),
        await r.recipients.listDirectWith(other.realm.id, a, b, 1),
      ]);
      expect(listed).toEqual([[ab, abc], [abc], [abc], [ab, abc, alone], [abc], []]);
    });

    it('delivers everything from the first message on to the participants', async () => {
      const fixture = await stage(
        ...threePeople,
        aMessage({ from: 'a', to: ['b'] }),
        aMessage({ from: 'a', to: ['a'] }),
      );
      const { uow, realm, user } = fixture;
      const [first, second] = idsOf(fixture.messages);
      const everybody = [user('a').id, user('b').id, user('c').id];
      const holders = await uow.read(realm.id, (r) => r.personal.filterHolders(realm.id, [first!, second!], everybody));
      expect([...holders.values()]).toEqual([[user('a').id, user('b').id], [user('a').id]]);
    });

    it('lists conversations with messages, newest message first', async () => {
      const fixture = await stage(
        ...threePeople,
        aChannel({ name: 'general', subscribers: ['a'] }),
        aMessage({ from: 'b', to: ['a'] }),
        aMessage({ from: 'a', to: ['a'] }),
        aMessage({ from: 'c', to: ['b'] }),
        aMessage({ from: 'c', to: ['a', 'b'] }),
        aMessage({ from: 'a', to: ['b'] }),
        aMessage({ from: 'a', to: 'general' }),
      );
      const { uow, realm, user, messages } = fixture;
      await uow.write(realm.id, (tx) => tx.recipients.openDirect(realm.id, [user('a').id, user('c').id]));
      const recent = (limit = 10) =>
        uow.read(realm.id, (r) => r.recipients.listRecentDirect(realm.id, user('a').id, limit));
      const entry = (index: number) => ({
        recipientId: messages[index]!.recipientId,
        lastMessageId: messages[index]!.id,
      });
      expect(await recent()).toEqual([entry(4), entry(3), entry(1)]);
      expect(await recent(2)).toEqual([entry(4), entry(3)]);

      await uow.write(realm.id, (tx) => tx.messages.remove(realm.id, [messages[4]!.id, messages[1]!.id]));
      expect(await recent()).toEqual([entry(3), entry(0)]);
    });

    it('isolates realms', async () => {
      const fixture = await stage(...threePeople, aMessage({ from: 'a', to: ['b'] }));
      const { uow, user } = fixture;
      const other = (await anotherRealm(fixture)).realm.id;
      const { recipientId } = fixture.messages[0]!;
      const found = await uow.read(other, async (r) => [
        (await r.recipients.list(other, [recipientId])).size,
        await r.recipients.findDirect(other, [user('a').id, user('b').id]),
        await r.recipients.listRecentDirect(other, user('a').id, 10),
      ]);
      expect(found).toEqual([0, null, []]);
    });
  });
}
