import { type EventSeq, MAX_CONSUMERS, type RealmId } from '@parley/domain/kernel';
import { anotherRealm } from '../builders.js';
import { code, type OpenStorage, stagesOn } from './storage-under-test.js';

export function eventConsumerRepositoryContract(open: OpenStorage): void {
  describe('event consumer repository', () => {
    const stage = stagesOn(open);
    const at = (seq: number) => seq as EventSeq;

    async function twoRealms() {
      const fixture = await stage();
      const { realm: other } = await anotherRealm(fixture);
      return { uow: fixture.uow, realmId: fixture.realm.id, otherId: other.id };
    }

    it("stores each consumer's position per realm", async () => {
      const { uow, realmId, otherId } = await twoRealms();
      await uow.write(realmId, async ({ consumers }) => {
        expect(await consumers.add('b', new Map([[realmId, at(7)]]))).toBe(true);
        expect(await consumers.add('a', new Map())).toBe(true);
        expect(await consumers.add('b', new Map([[realmId, at(9)]]))).toBe(false);
      });
      await uow.read(realmId, async ({ consumers }) => {
        expect(await consumers.list()).toEqual(['a', 'b']);
        expect(await consumers.findPositions('b')).toEqual(new Map([[realmId, 7]]));
        expect(await consumers.findPositions('a')).toEqual(new Map());
        expect(await consumers.findPositions('c')).toBeNull();
      });
      await uow.writeAcross(async ({ consumers }) => {
        expect(await consumers.advance('b', realmId, 7, at(8))).toBe(true);
        expect(await consumers.advance('b', otherId, 0, at(3))).toBe(true);
      });
      expect(await uow.readAcross((r) => r.consumers.findPositions('b'))).toEqual(
        new Map([
          [realmId, 8],
          [otherId, 3],
        ]),
      );
    });

    it('advances only from the current position', async () => {
      const { uow, realmId, otherId } = await twoRealms();
      await uow.writeAcross(async ({ consumers }) => {
        await consumers.add('a', new Map([[realmId, at(7)]]));
        expect(await consumers.advance('a', realmId, 6, at(8))).toBe(false);
        expect(await consumers.advance('a', realmId, 0, at(8))).toBe(false);
        expect(await consumers.advance('a', otherId, 5, at(8))).toBe(false);
        expect(await consumers.advance('unknown', realmId, 0, at(8))).toBe(false);
      });
      expect(await uow.readAcross((r) => r.consumers.findPositions('a'))).toEqual(new Map([[realmId, 7]]));
    });

    it('keeps no position of a deleted realm', async () => {
      const { uow, realmId } = await twoRealms();
      await uow.writeAcross(async ({ consumers }) => {
        await consumers.add('a', new Map());
        expect(await consumers.advance('a', (realmId + 1000) as RealmId, 0, at(8))).toBe(false);
      });
      expect(await uow.readAcross((r) => r.consumers.findPositions('a'))).toEqual(new Map());
    });

    it('returns the lowest position of all consumers and ignores removed ones', async () => {
      const { uow, realmId, otherId } = await twoRealms();
      const lowest = () =>
        uow.readAcross(async ({ consumers }) => [
          await consumers.lowestPosition(realmId),
          await consumers.lowestPosition(otherId),
        ]);
      expect(await lowest()).toEqual([null, null]);
      await uow.writeAcross(async ({ consumers }) => {
        await consumers.add('a', new Map([[realmId, at(7)]]));
        const both: [typeof realmId, EventSeq][] = [
          [realmId, at(5)],
          [otherId, at(4)],
        ];
        await consumers.add('b', new Map(both));
      });
      expect(await lowest()).toEqual([5, 0]);
      await uow.writeAcross(async ({ consumers }) => {
        expect(await consumers.remove('a')).toBe(true);
        expect(await consumers.remove('a')).toBe(false);
      });
      expect(await lowest()).toEqual([5, 4]);
      await uow.writeAcross(async ({ consumers }) => {
        await consumers.remove('b');
        await consumers.add('b', new Map());
      });
      expect(await uow.readAcross((r) => r.consumers.findPositions('b'))).toEqual(new Map());
    });

    it('rejects more than the maximum number of consumers', async () => {
      const { uow } = await twoRealms();
      await uow.writeAcross(async ({ consumers }) => {
        for (let number = 0; number < MAX_CONSUMERS; number++) await consumers.add(`c${number}`, new Map());
      });
      await expect(uow.writeAcross((tx) => tx.consumers.add('more', new Map()))).rejects.toEqual(
        code('TOO_MANY_CONSUMERS'),
      );
      expect(await uow.writeAcross((tx) => tx.consumers.add('c0', new Map()))).toBe(false);
    });
  });
}
