import type { MessageId } from '@parley/domain/kernel';
import type { BotTrigger } from '@parley/domain/writing';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const pieces = [aUser({ name: 'a' }), aUser({ name: 'one', botOf: 'a' }), aUser({ name: 'two', botOf: 'a' })];

export function botTriggerRepositoryContract(open: OpenStorage): void {
  describe('bot trigger repository', () => {
    const stage = stagesOn(open);
    const add = (fixture: Fixture, name: string, messageId: number, trigger: BotTrigger = 'mention') =>
      fixture.uow.write(fixture.realm.id, (tx) =>
        tx.botTriggers.add(fixture.realm.id, {
          botId: fixture.user(name).id,
          messageId: messageId as MessageId,
          trigger,
        }),
      );
    const first = (fixture: Fixture, name: string, realmId = fixture.realm.id) =>
      fixture.uow.read(realmId, ({ botTriggers }) => botTriggers.findFirst(realmId, fixture.user(name).id));
    const count = (fixture: Fixture, name: string, realmId = fixture.realm.id) =>
      fixture.uow.read(realmId, ({ botTriggers }) => botTriggers.count(realmId, fixture.user(name).id));
    const remove = (fixture: Fixture, name: string, messageId: number, realmId = fixture.realm.id) =>
      fixture.uow.write(realmId, (tx) => tx.botTriggers.remove(realmId, fixture.user(name).id, messageId as MessageId));

    it('returns the oldest message of each bot until it is removed', async () => {
      const fixture = await stage(...pieces);
      await add(fixture, 'one', 20);
      await add(fixture, 'one', 3, 'directMessage');
      await add(fixture, 'two', 10);
      const botId = fixture.user('one').id;
      expect(await first(fixture, 'one')).toEqual({ botId, messageId: 3, trigger: 'directMessage' });
      expect([await count(fixture, 'one'), await count(fixture, 'two')]).toEqual([2, 1]);
      await remove(fixture, 'one', 3);
      await remove(fixture, 'one', 3);
      expect(await first(fixture, 'one')).toEqual({ botId, messageId: 20, trigger: 'mention' });
      await remove(fixture, 'one', 20);
      expect(await first(fixture, 'one')).toBeNull();
      expect(await count(fixture, 'one')).toBe(0);
    });

    it('keeps one entry per bot and message', async () => {
      const fixture = await stage(...pieces);
      await add(fixture, 'one', 3);
      await add(fixture, 'one', 3, 'directMessage');
      expect(await count(fixture, 'one')).toBe(1);
      expect(await first(fixture, 'one')).toMatchObject({ trigger: 'mention' });
    });

    it('isolates realms', async () => {
      const fixture = await stage(...pieces);
      await add(fixture, 'one', 3);
      const other = (await anotherRealm(fixture)).realm.id;
      await remove(fixture, 'one', 3, other);
      expect([await first(fixture, 'one', other), await count(fixture, 'one', other)]).toEqual([null, 0]);
      expect(await count(fixture, 'one')).toBe(1);
    });
  });
}
