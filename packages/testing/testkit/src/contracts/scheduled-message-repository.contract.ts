import type { MessageId, UserId } from '@parley/domain/kernel';
import type { Reminder, ScheduledMessage } from '@parley/domain/writing';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { idsOf, type OpenStorage, stagesOn } from './storage-under-test.js';

const pieces = [aUser({ name: 'a' }), aUser({ name: 'b' })];
const REMINDER = { messageId: 12 as MessageId, note: '', content: '', renderedContent: '', dueAt: 1, failure: null };

const message = ({ realm, user }: Fixture, who: string, dueAt: number): Omit<ScheduledMessage, 'id'> => ({
  ...{ realmId: realm.id, userId: user(who).id, to: { kind: 'userIds', ids: [3 as UserId] }, topic: '', dueAt },
  ...{ content: 'later', renderedContent: '<p>later</p>', clientName: 'website', isReadBySender: true },
  ...{ status: 'waiting', failure: null },
});
const add = (fixture: Fixture, who: string, dueAt: number) =>
  fixture.uow.write(fixture.realm.id, (tx) => tx.scheduledMessages.add(message(fixture, who, dueAt)));
const send = (fixture: Fixture, sent: ScheduledMessage) =>
  fixture.uow.write(sent.realmId, (tx) => tx.scheduledMessages.update({ ...sent, status: 'sent' }));

export function scheduledMessageRepositoryContract(open: OpenStorage): void {
  describe('scheduled message repository', () => {
    const stage = stagesOn(open);

    it("lists and counts a user's unsent messages by time, then by id", async () => {
      const fixture = await stage(...pieces);
      const [late, early, alsoLate, sent] = [
        await add(fixture, 'a', 100),
        await add(fixture, 'a', 50),
        await add(fixture, 'a', 100),
        await add(fixture, 'a', 70),
      ];
      await send(fixture, sent);
      const [realmId, userId] = [fixture.realm.id, fixture.user('a').id];
      await fixture.uow.read(realmId, async ({ scheduledMessages }) => {
        expect(await scheduledMessages.list(realmId, userId)).toEqual([early, late, alsoLate]);
        expect(await scheduledMessages.count(realmId, userId)).toBe(3);
        expect(await scheduledMessages.countBytes(realmId, userId)).toBe(51);
        expect(await scheduledMessages.find(realmId, sent.id)).toEqual({ ...sent, status: 'sent' });
      });
    });

    it("removes a user's messages that were sent long ago", async () => {
      const fixture = await stage(...pieces);
      const rows = [
        await add(fixture, 'a', 99),
        await add(fixture, 'a', 100),
        await add(fixture, 'b', 99),
        await add(fixture, 'a', 99),
      ] as const;
      for (const row of rows.slice(0, 3)) await send(fixture, row);
      const { realm, uow, user } = fixture;
      const left = () =>
        uow.read(realm.id, async ({ scheduledMessages }) => {
          const found = [];
          for (const { id } of rows) found.push((await scheduledMessages.find(realm.id, id)) ?? []);
          return idsOf(found.flat());
        });
      const other = await anotherRealm(fixture);
      await uow.write(other.realm.id, (tx) => tx.scheduledMessages.removeSent(other.realm.id, user('a').id, 100));
      expect(await left()).toEqual(idsOf(rows));
      await uow.write(realm.id, (tx) => tx.scheduledMessages.removeSent(realm.id, user('a').id, 100));
      expect(await left()).toEqual(idsOf(rows.slice(1)));
    });

    it('shares ids with reminders and never reuses them', async () => {
      const fixture = await stage(...pieces);
      const { realm, uow, user } = fixture;
      const reminder: Omit<Reminder, 'id'> = { ...REMINDER, realmId: realm.id, userId: user('a').id };
      const { id } = await uow.write(realm.id, (tx) => tx.reminders.add(reminder));
      await uow.write(realm.id, (tx) => tx.reminders.remove(realm.id, id));
      const next = await add(fixture, 'a', 1);
      expect(next.id).toBeGreaterThan(id);
      await uow.write(realm.id, (tx) => tx.scheduledMessages.remove(realm.id, next.id));
      expect((await uow.write(realm.id, (tx) => tx.reminders.add(reminder))).id).toBeGreaterThan(next.id);
    });
  });
}
