import type { MessageId, ReminderId } from '@parley/domain/kernel';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const pieces = [aUser({ name: 'a' }), aUser({ name: 'b' })];
const ALL = 100;

const reminder = (fixture: Fixture, who: string, dueAt: number) => ({
  realmId: fixture.realm.id,
  userId: fixture.user(who).id,
  messageId: 12 as MessageId,
  note: 'why',
  content: '*text*',
  renderedContent: '<p><em>text</em></p>',
  dueAt,
});
const add = (fixture: Fixture, who: string, dueAt: number) =>
  fixture.uow.write(fixture.realm.id, (tx) => tx.reminders.add(reminder(fixture, who, dueAt)));
const find = (fixture: Fixture, id: ReminderId, realmId = fixture.realm.id) =>
  fixture.uow.read(realmId, ({ reminders }) => reminders.find(realmId, id));
const list = (fixture: Fixture, who: string, { limit = ALL, realmId = fixture.realm.id } = {}) =>
  fixture.uow.read(realmId, ({ reminders }) => reminders.list(realmId, fixture.user(who).id, limit));
const count = (fixture: Fixture, who: string, realmId = fixture.realm.id) =>
  fixture.uow.read(realmId, ({ reminders }) => reminders.count(realmId, fixture.user(who).id));
const countBytes = (fixture: Fixture, who: string, realmId = fixture.realm.id) =>
  fixture.uow.read(realmId, ({ reminders }) => reminders.countBytes(realmId, fixture.user(who).id));

export function reminderRepositoryContract(open: OpenStorage): void {
  describe('reminder repository', () => {
    const stage = stagesOn(open);

    it('stores every property of a reminder', async () => {
      const fixture = await stage(...pieces);
      const added = await add(fixture, 'a', 100);
      expect(added).toEqual({ ...reminder(fixture, 'a', 100), id: added.id, failure: null });
      expect(await find(fixture, added.id)).toEqual(added);
    });

    it("lists a user's reminders by time, then by id", async () => {
      const fixture = await stage(...pieces);
      const [late, early, alsoLate, others] = [
        await add(fixture, 'a', 100),
        await add(fixture, 'a', 50),
        await add(fixture, 'a', 100),
        await add(fixture, 'b', 70),
      ];
      expect(await list(fixture, 'a')).toEqual([early, late, alsoLate]);
      expect(await list(fixture, 'a', { limit: 1 })).toEqual([early]);
      expect(await list(fixture, 'b')).toEqual([others]);
      expect([await count(fixture, 'a'), await count(fixture, 'b')]).toEqual([3, 1]);
      expect([await countBytes(fixture, 'a'), await countBytes(fixture, 'b')]).toEqual([78, 26]);
    });

    it('stores why a reminder failed', async () => {
      const fixture = await stage(...pieces);
      const added = await add(fixture, 'a', 100);
      await fixture.uow.write(fixture.realm.id, (tx) => tx.reminders.fail(fixture.realm.id, added.id, 'Why'));
      expect(await list(fixture, 'a')).toEqual([{ ...added, failure: 'Why' }]);
    });

    it('shares ids with scheduled messages and never reuses them', async () => {
      const fixture = await stage(...pieces);
      const { id } = await add(fixture, 'a', 100);
      await fixture.uow.write(fixture.realm.id, (tx) => tx.reminders.remove(fixture.realm.id, id));
      expect(await find(fixture, id)).toBeNull();
      const message = await fixture.uow.write(fixture.realm.id, (tx) =>
        tx.scheduledMessages.add({
          realmId: fixture.realm.id,
          userId: fixture.user('a').id,
          to: { kind: 'userIds', ids: [fixture.user('b').id] },
          topic: '',
          content: 'later',
          renderedContent: '<p>later</p>',
          dueAt: 100,
          clientName: 'website',
          isReadBySender: true,
        }),
      );
      expect(message.id).toBeGreaterThan(id);
      expect((await add(fixture, 'a', 100)).id).toBeGreaterThan(message.id);
    });

    it('isolates realms', async () => {
      const fixture = await stage(...pieces);
      const added = await add(fixture, 'a', 100);
      const { realm } = await anotherRealm(fixture);
      expect(await find(fixture, added.id, realm.id)).toBeNull();
      expect(await list(fixture, 'a', { realmId: realm.id })).toEqual([]);
      expect(await count(fixture, 'a', realm.id)).toBe(0);
      expect(await countBytes(fixture, 'a', realm.id)).toBe(0);
      await fixture.uow.write(realm.id, async (tx) => {
        await tx.reminders.remove(realm.id, added.id);
        await tx.reminders.fail(realm.id, added.id, 'Why');
      });
      expect(await find(fixture, added.id)).toEqual(added);
    });
  });
}
