import type { MessageId, UnixSeconds } from '@parley/domain/kernel';
import { aUser, type Fixture } from '../builders.js';
import { idsOf, type OpenStorage, SEED, stagesOn } from './storage-under-test.js';

export function replyAddressRepositoryContract(open: OpenStorage): void {
  describe('reply address repository', () => {
    const stage = stagesOn(open);
    const address = (fixture: Fixture, name: string, conversation: string, messageId = 1, expiresAt = 100) => ({
      realmId: fixture.realm.id,
      userId: fixture.user(name).id,
      conversation,
      messageId: messageId as MessageId,
      expiresAt: expiresAt as UnixSeconds,
    });
    const openOne = (fixture: Fixture, one: ReturnType<typeof address>) =>
      fixture.uow.write(fixture.realm.id, (tx) => tx.replyAddresses.open(one));
    const find = (fixture: Fixture, id: number) =>
      fixture.uow.readAcross(({ replyAddresses }) => replyAddresses.find(id));

    it('keeps one address per user and conversation, with the newest message and expiry', async () => {
      const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }));
      const first = await openOne(fixture, address(fixture, 'a', 'direct 1'));
      const others = [
        await openOne(fixture, address(fixture, 'a', 'direct 2')),
        await openOne(fixture, address(fixture, 'b', 'direct 1')),
      ];
      expect(new Set(idsOf([first, ...others])).size).toBe(3);
      expect(new Set([first, ...others].map(({ seed }) => seed)).size).toBe(3);
      expect(first.seed).toMatch(SEED);
      expect(await openOne(fixture, address(fixture, 'a', 'direct 1', 7, 300))).toEqual(first);
      const { conversation: _, ...rest } = address(fixture, 'a', 'direct 1', 7, 300);
      expect(await find(fixture, first.id)).toEqual({ ...rest, ...first });
      expect(await find(fixture, 999_999)).toBeNull();
    });

    it('removes expired addresses up to a limit and never reuses their ids', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const ids: number[] = [];
      for (const [at, expiresAt] of [10, 20, 30].entries()) {
        ids.push((await openOne(fixture, address(fixture, 'a', `direct ${at}`, 1, expiresAt))).id);
      }
      const remove = (now: number, limit: number) =>
        fixture.uow.writeAcross((tx) => tx.replyAddresses.removeExpired(now as UnixSeconds, limit));
      expect(await remove(10, 5)).toBe(0);
      expect(await remove(31, 2)).toBe(2);
      expect(await remove(31, 2)).toBe(1);
      for (const id of ids) expect(await find(fixture, id)).toBeNull();
      expect(ids).not.toContain((await openOne(fixture, address(fixture, 'a', 'direct 9'))).id);
    });
  });
}
