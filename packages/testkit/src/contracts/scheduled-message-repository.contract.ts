import type { ChannelId, ScheduledMessageId, UserId } from '@parley/domain/kernel';
import type { NewScheduledMessage, ScheduledMessage } from '@parley/domain/messages';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const pieces = [aUser({ name: 'a' }), aUser({ name: 'b' })];
const ALL = 100;

const message = (fixture: Fixture, who: string, dueAt: number, more: Partial<NewScheduledMessage> = {}) => ({
  realmId: fixture.realm.id,
  userId: fixture.user(who).id,
  to: { kind: 'channelId', id: 7 as ChannelId } as const,
  topic: 'plans',
  content: '*later*',
  renderedContent: '<p><em>later</em></p>',
  dueAt,
  clientName: 'website',
  isReadBySender: true,
  ...more,
});
const add = (fixture: Fixture, who: string, dueAt: number, more?: Partial<NewScheduledMessage>) =>
  fixture.uow.write(fixture.realm.id, (tx) => tx.scheduledMessages.add(message(fixture, who, dueAt, more)));
const find = (fixture: Fixture, id: ScheduledMessageId, realmId = fixture.realm.id) =>
  fixture.uow.read(realmId, ({ scheduledMessages }) => scheduledMessages.find(realmId, id));
const list = (fixture: Fixture, who: string, { limit = ALL, realmId = fixture.realm.id } = {}) =>
  fixture.uow.read(realmId, ({ scheduledMessages }) =>
    scheduledMessages.listUnsent(realmId, fixture.user(who).id, limit),
  );
const count = (fixture: Fixture, who: string, realmId = fixture.realm.id) =>
  fixture.uow.read(realmId, ({ scheduledMessages }) => scheduledMessages.countUnsent(realmId, fixture.user(who).id));
const countBytes = (fixture: Fixture, who: string, realmId = fixture.realm.id) =>
  fixture.uow.read(realmId, ({ scheduledMessages }) =>
    scheduledMessages.countUnsentBytes(realmId, fixture.user(who).id),
  );
const update = (fixture: Fixture, changed: ScheduledMessage) =>
  fixture.uow.write(changed.realmId, (tx) => tx.scheduledMessages.update(changed));

export function scheduledMessageRepositoryContract(open: OpenStorage): void {
  describe('scheduled message repository', () => {
    const stage = stagesOn(open);

    it('stores messages to channels and users', async () => {
      const fixture = await stage(...pieces);
      const to = { kind: 'userIds', ids: [3, 9] as UserId[] } as const;
      const first = await add(fixture, 'a', 100);
      const second = await add(fixture, 'a', 50, { to, topic: '', isReadBySender: false });
      expect(first).toEqual({ ...message(fixture, 'a', 100), id: first.id, status: 'waiting', failure: null });
      expect(second.id).toBeGreaterThan(first.id);
      expect(await find(fixture, first.id)).toEqual(first);
      expect(await find(fixture, second.id)).toEqual(second);
    });

    it("lists a user's unsent messages by time, then by id", async () => {
      const fixture = await stage(...pieces);
      const [late, early, alsoLate] = [
        await add(fixture, 'a', 100),
        await add(fixture, 'a', 50),
        await add(fixture, 'a', 100),
      ];
      const others = await add(fixture, 'b', 70);
      expect(await list(fixture, 'a')).toEqual([early, late, alsoLate]);
      expect(await list(fixture, 'a', { limit: 2 })).toEqual([early, late]);
      expect(await list(fixture, 'b')).toEqual([others]);
      expect([await count(fixture, 'a'), await count(fixture, 'b')]).toEqual([3, 1]);
      expect([await countBytes(fixture, 'a'), await countBytes(fixture, 'b')]).toEqual([84, 28]);
      const failed = { ...early, status: 'failed', failure: 'Why' } as const;
      await update(fixture, failed);
      await update(fixture, { ...late, status: 'sent', content: '' });
      expect(await list(fixture, 'a')).toEqual([failed, alsoLate]);
      expect(await count(fixture, 'a')).toBe(2);
      expect(await countBytes(fixture, 'a')).toBe(56);
    });

    it('changes every property of a message', async () => {
      const fixture = await stage(...pieces);
      const added = await add(fixture, 'a', 100);
      const changed: ScheduledMessage = {
        ...added,
        to: { kind: 'userIds', ids: [fixture.user('b').id] },
        topic: '',
        content: 'now',
        renderedContent: '<p>now</p>',
        dueAt: 200,
        clientName: 'ZulipMobile',
        isReadBySender: false,
        status: 'failed',
        failure: 'Why',
      };
      await update(fixture, changed);
      expect(await find(fixture, added.id)).toEqual(changed);
      await update(fixture, added);
      expect(await find(fixture, added.id)).toEqual(added);
    });

    it('removes a message without reusing its id', async () => {
      const fixture = await stage(...pieces);
      const added = await add(fixture, 'a', 100);
      await fixture.uow.write(fixture.realm.id, (tx) => tx.scheduledMessages.remove(fixture.realm.id, added.id));
      expect(await find(fixture, added.id)).toBeNull();
      await update(fixture, added);
      expect(await find(fixture, added.id)).toBeNull();
      expect((await add(fixture, 'a', 100)).id).toBeGreaterThan(added.id);
    });

    it("removes a user's messages that were sent long ago", async () => {
      const fixture = await stage(...pieces);
      const rows = [
        await add(fixture, 'a', 99),
        await add(fixture, 'a', 100),
        await add(fixture, 'b', 99),
        await add(fixture, 'a', 99),
      ] as const;
      for (const row of rows.slice(0, 3)) await update(fixture, { ...row, status: 'sent' });
      const { id: userId } = fixture.user('a');
      const other = await anotherRealm(fixture);
      await fixture.uow.write(other.realm.id, (tx) => tx.scheduledMessages.removeSent(other.realm.id, userId, 100));
      expect(await find(fixture, rows[0].id)).not.toBeNull();
      await fixture.uow.write(fixture.realm.id, (tx) => tx.scheduledMessages.removeSent(fixture.realm.id, userId, 100));
      expect(await Promise.all(rows.map(async ({ id }) => (await find(fixture, id)) !== null))).toEqual([
        false,
        true,
        true,
        true,
      ]);
    });

    it('isolates realms', async () => {
      const fixture = await stage(...pieces);
      const added = await add(fixture, 'a', 100);
      const { realm } = await anotherRealm(fixture);
      expect(await find(fixture, added.id, realm.id)).toBeNull();
      expect(await list(fixture, 'a', { realmId: realm.id })).toEqual([]);
      expect(await count(fixture, 'a', realm.id)).toBe(0);
      expect(await countBytes(fixture, 'a', realm.id)).toBe(0);
      await fixture.uow.write(realm.id, (tx) => tx.scheduledMessages.remove(realm.id, added.id));
      await update(fixture, { ...added, realmId: realm.id, content: 'theirs' });
      expect(await find(fixture, added.id)).toEqual(added);
    });
  });
}
