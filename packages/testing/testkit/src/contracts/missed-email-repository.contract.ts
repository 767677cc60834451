import type { GroupId, MessageId } from '@parley/domain/kernel';
import type { MissedEmail } from '@parley/domain/push';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const pieces = [aUser({ name: 'a' }), aUser({ name: 'b' })];

export function missedEmailRepositoryContract(open: OpenStorage): void {
  describe('missed email repository', () => {
    const stage = stagesOn(open);
    const missed = (
      fixture: Fixture,
      name: string,
      messageId: number,
      more: Partial<MissedEmail> = {},
    ): MissedEmail => ({
      userId: fixture.user(name).id,
      conversation: 'direct 1',
      messageId: messageId as MessageId,
      reason: 'directMessage',
      groupId: null,
      ...more,
    });
    const add = (fixture: Fixture, one: MissedEmail) =>
      fixture.uow.write(fixture.realm.id, (tx) => tx.missedEmails.add(fixture.realm.id, one));
    const list = async (fixture: Fixture, name: string, conversation = 'direct 1', realmId = fixture.realm.id) =>
      fixture.uow.read(realmId, ({ missedEmails }) => missedEmails.list(realmId, fixture.user(name).id, conversation));
    const remove = (fixture: Fixture, name: string, ids: readonly number[], realmId = fixture.realm.id) =>
      fixture.uow.write(realmId, (tx) =>
        tx.missedEmails.remove(realmId, fixture.user(name).id, ids as readonly MessageId[]),
      );

    it('lists the messages of a user and conversation by id', async () => {
      const fixture = await stage(...pieces);
      const second = missed(fixture, 'a', 9, { reason: 'mentioned', groupId: 3 as GroupId });
      const first = missed(fixture, 'a', 4);
      for (const one of [second, first, missed(fixture, 'b', 4), missed(fixture, 'a', 5, { conversation: 'other' })]) {
        await add(fixture, one);
      }
      expect(await list(fixture, 'a')).toEqual([first, second]);
    });

    it('keeps the first entry of a user and message', async () => {
      const fixture = await stage(...pieces);
      await add(fixture, missed(fixture, 'a', 4));
      await add(fixture, missed(fixture, 'a', 4, { reason: 'channel' }));
      expect(await list(fixture, 'a')).toEqual([missed(fixture, 'a', 4)]);
    });

    it('removes messages of one user', async () => {
      const fixture = await stage(...pieces);
      for (const one of [missed(fixture, 'a', 4), missed(fixture, 'a', 5), missed(fixture, 'b', 4)])
        await add(fixture, one);
      await remove(fixture, 'a', [4, 7]);
      await remove(fixture, 'a', [4]);
      expect(await list(fixture, 'a')).toEqual([missed(fixture, 'a', 5)]);
      expect(await list(fixture, 'b')).toEqual([missed(fixture, 'b', 4)]);
    });

    it('isolates realms', async () => {
      const fixture = await stage(...pieces);
      await add(fixture, missed(fixture, 'a', 4));
      const other = (await anotherRealm(fixture)).realm.id;
      await remove(fixture, 'a', [4], other);
      expect(await list(fixture, 'a', 'direct 1', other)).toEqual([]);
      expect(await list(fixture, 'a')).toHaveLength(1);
    });
  });
}
