import type { EventQueue, EventSeq, UserId } from '@parley/domain/kernel';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { SeededRandomness } from '../seeded-randomness.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const uuids = new SeededRandomness(11);

function aQueue(fixture: Fixture, owner: string, more: Partial<EventQueue> = {}): EventQueue {
  return {
    id: uuids.uuid(),
    realmId: fixture.realm.id,
    ownerId: fixture.user(owner).id,
    filter: { allPublicChannels: false, narrow: [] },
    presentation: {},
    startSeq: 4 as EventSeq,
    acked: -1,
    floorSeq: 4 as EventSeq,
    lastPolledAt: 1_700_000_000,
    idleTimeoutSeconds: 600,
    ...more,
  };
}

const idOf = ({ id }: { readonly id: string }) => id;

export function eventQueueRepositoryContract(open: OpenStorage): void {
  describe('event queue repository', () => {
    const stage = stagesOn(open);
    const add = (fixture: Fixture, ...queues: readonly EventQueue[]) =>
      fixture.uow.writeAcross(async (tx) => {
        for (const queue of queues) await tx.queues.add(queue);
      });
    /** Current state of the remaining queues. */
    const left = (fixture: Fixture, ...queues: readonly EventQueue[]) =>
      fixture.uow.readAcross(async (r) => {
        const found = [];
        for (const { realmId, id } of queues) found.push(await r.queues.find(realmId, id));
        return found.filter((queue) => queue !== null);
      });

    it('stores every property of a queue', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const plain = aQueue(fixture, 'a');
      const rich = aQueue(fixture, 'a', {
        filter: {
          allPublicChannels: true,
          narrow: [
            { operator: 'channel', operand: 'Général' },
            { operator: 'is', operand: 'dm' },
          ],
        },
        presentation: { client_gravatar: true, capabilities: { bulk_message_deletion: true }, level: 5 },
        acked: 5 * 1024 + 3,
      });
      await fixture.uow.write(plain.realmId, async (tx) => {
        await tx.queues.add(plain);
        await tx.queues.add(rich);
      });
      await fixture.uow.readAcross(async (r) => {
        expect(await r.queues.find(fixture.realm.id, plain.id)).toEqual(plain);
        expect(await r.queues.find(fixture.realm.id, rich.id)).toEqual(rich);
        expect(await r.queues.find(fixture.realm.id, uuids.uuid())).toBeNull();
      });
    });

    it.each([
      ['filter is not JSON', { filter: '{"narrow":' }],
      ['filter lacks something', { filter: '{"narrow":[]}' }],
      ['narrow is of no operator', { filter: '{"allPublicChannels":false,"narrow":[{"operator":"near"}]}' }],
      ['presentation is not JSON', { presentation: '' }],
      ['presentation is not an object', { presentation: '[]' }],
    ])('reports a queue as unreadable when its %s and removes it normally', async (_, parts) => {
      const fixture = await stage(aUser({ name: 'a' }));
      const queue = aQueue(fixture, 'a');
      await add(fixture, queue);
      await fixture.storage.damage.queue(queue.id, parts);
      const unreadable = { id: queue.id, ownerId: queue.ownerId, reason: expect.any(String) };
      expect(await left(fixture, queue)).toEqual([unreadable]);
      expect(await fixture.uow.readAcross((r) => r.queues.listOf(fixture.realm.id, queue.ownerId))).toHaveLength(1);
      await fixture.uow.writeAcross((tx) => tx.queues.remove(fixture.realm.id, [queue.id]));
      expect(await left(fixture, queue)).toEqual([]);
    });

    it("lists a user's queues, least recently polled first", async () => {
      const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }));
      const at = (lastPolledAt: number) => aQueue(fixture, 'a', { lastPolledAt });
      const [second, third, first] = [at(20), at(30), at(10)];
      await add(fixture, second, third, first, aQueue(fixture, 'b'));
      expect(await fixture.uow.readAcross((r) => r.queues.listOf(fixture.realm.id, fixture.user('a').id))).toEqual(
        [first, second, third].map(({ id, lastPolledAt }) => ({ id, lastPolledAt })),
      );
      const other = await anotherRealm(fixture);
      expect(
        await fixture.uow.read(other.realm.id, (r) => r.queues.listOf(other.realm.id, fixture.user('a').id)),
      ).toEqual([]);
    });

    it('returns the lowest queue position of a realm', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const other = await anotherRealm(fixture, aUser({ name: 'b' }));
      const lowest = (of: Fixture) => fixture.uow.read(of.realm.id, (r) => r.queues.lowestFloor(of.realm.id));
      expect(await lowest(fixture)).toBeNull();
      await add(
        fixture,
        aQueue(fixture, 'a', { floorSeq: 9 as EventSeq }),
        aQueue(fixture, 'a', { floorSeq: 7 as EventSeq }),
        aQueue(other, 'b', { floorSeq: 3 as EventSeq }),
      );
      expect([await lowest(fixture), await lowest(other)]).toEqual([7, 3]);
    });

    it('removes queues by id idempotently and within the realm only', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const other = await anotherRealm(fixture, aUser({ name: 'b' }));
      const [gone, kept, foreign] = [aQueue(fixture, 'a'), aQueue(fixture, 'a'), aQueue(other, 'b')];
      await add(fixture, gone, kept, foreign);
      const remove = () =>
        fixture.uow.writeAcross((tx) => tx.queues.remove(fixture.realm.id, [gone.id, foreign.id, 'unknown']));
      await remove();
      await remove();
      expect(await left(fixture, gone, kept, foreign)).toEqual([kept, foreign]);
      expect(await fixture.uow.readAcross((r) => r.queues.find(fixture.realm.id, foreign.id))).toBeNull();
    });

    it('removes expired queues in batches', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const other = await anotherRealm(fixture, aUser({ name: 'b' }));
      const queue = (of: Fixture, who: string, lastPolledAt: number, idleTimeoutSeconds: number) =>
        aQueue(of, who, { lastPolledAt, idleTimeoutSeconds });
      const idle = [queue(fixture, 'a', 1000, 600), queue(fixture, 'a', 1550, 50), queue(other, 'b', 900, 100)];
      const kept = [queue(fixture, 'a', 1001, 600), queue(fixture, 'a', 1000, 601), queue(fixture, 'a', 0, 1000)];
      await add(fixture, ...idle, ...kept);
      const expiry = { before: 1600, servedSince: 700 };
      const removed = [];
      for (let round = 0; round < 3; round++) {
        removed.push(await fixture.uow.writeAcross((tx) => tx.queues.removeIdle(expiry, 2)));
      }
      expect(removed.map(({ length }) => length)).toEqual([2, 1, 0]);
      expect(removed.flat().map(idOf).sort()).toEqual(idle.map(idOf).sort());
      expect(removed.flat().find(({ id }) => id === idle[2]!.id)).toEqual({
        ...{ realmId: other.realm.id, id: idle[2]!.id },
        ...{ ownerId: other.user('b').id, lastPolledAt: 900, presentation: idle[2]!.presentation },
      });
      expect(await left(fixture, ...idle, ...kept)).toEqual(kept);
    });

    it('brings polls back that are further in the future than the idle time', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const at = (lastPolledAt: number) => aQueue(fixture, 'a', { lastPolledAt, idleTimeoutSeconds: 600 });
      const queues = [at(900), at(1600), at(1601), at(100_000)];
      await add(fixture, ...queues);
      await fixture.uow.writeAcross((tx) => tx.queues.bringBack(1000));
      const found = await left(fixture, ...queues);
      expect(found.map((queue) => (queue as EventQueue).lastPolledAt)).toEqual([900, 1600, 1000, 1000]);
    });

    it("removes a realm's queues that are far behind, in batches", async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const other = await anotherRealm(fixture, aUser({ name: 'b' }));
      const at = (floorSeq: number, of: Fixture = fixture, who = 'a') =>
        aQueue(of, who, { floorSeq: floorSeq as EventSeq });
      const behind = [at(3), at(5), at(9)];
      const kept = [at(10), at(3, other, 'b')];
      await add(fixture, ...behind, ...kept);
      const remove = () => fixture.uow.writeAcross((tx) => tx.queues.removeBehind(fixture.realm.id, 10, 2));
      const removed = [await remove(), await remove(), await remove()];
      expect(removed.map(({ length }) => length)).toEqual([2, 1, 0]);
      expect(removed.flat().map(idOf).sort()).toEqual(behind.map(idOf).sort());
      const { realmId, id, ownerId, lastPolledAt, presentation } = behind[0]!;
      expect(removed.flat()).toContainEqual({ realmId, id, ownerId, lastPolledAt, presentation });
      expect(await left(fixture, ...behind, ...kept)).toEqual(kept);
    });

    it('removes the queues of a user', async () => {
      const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }));
      const queues = [aQueue(fixture, 'a'), aQueue(fixture, 'b'), aQueue(fixture, 'a')];
      await add(fixture, ...queues);
      await fixture.uow.writeAcross(async (tx) => {
        await tx.queues.removeOfUser(fixture.realm.id, fixture.user('a').id);
        await tx.queues.removeOfUser(fixture.realm.id, 9999 as UserId);
      });
      expect(await left(fixture, ...queues)).toEqual([queues[1]]);
    });

    it('moves positions forward only', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const queue = aQueue(fixture, 'a', { acked: 9 * 1024, floorSeq: 9 as EventSeq, lastPolledAt: 1_700_000_090 });
      await add(fixture, queue);
      const save = (acked: number, floorSeq: number, lastPolledAt: number) =>
        fixture.uow.write(fixture.realm.id, (tx) =>
          tx.queues.savePositions(fixture.realm.id, [
            { id: queue.id, acked, floorSeq: floorSeq as EventSeq, lastPolledAt },
          ]),
        );
      expect(await save(-1, 8, 1_700_000_000)).toEqual([]);
      expect(await left(fixture, queue)).toEqual([queue]);
      await save(10 * 1024, 8, 1_700_000_091);
      expect(await left(fixture, queue)).toEqual([{ ...queue, acked: 10 * 1024, lastPolledAt: 1_700_000_091 }]);
    });

    it('saves positions and returns removed queues', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const [moved, still, gone] = [aQueue(fixture, 'a'), aQueue(fixture, 'a'), aQueue(fixture, 'a')];
      await add(fixture, moved, still);
      const position = { acked: 9 * 1024, floorSeq: 9 as EventSeq, lastPolledAt: 1_700_000_090 };
      const missing = await fixture.uow.writeAcross((tx) =>
        tx.queues.savePositions(fixture.realm.id, [
          { id: gone.id, ...position },
          { id: moved.id, ...position },
        ]),
      );
      expect(missing).toEqual([gone.id]);
      expect(await left(fixture, moved, still)).toEqual([{ ...moved, ...position }, still]);
    });

    it('isolates realms when saving positions', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const other = await anotherRealm(fixture);
      const queue = aQueue(fixture, 'a');
      await add(fixture, queue);
      await fixture.uow.write(other.realm.id, (tx) =>
        tx.queues.savePositions(other.realm.id, [
          { id: queue.id, acked: 9 * 1024, floorSeq: 9 as EventSeq, lastPolledAt: 1_700_000_090 },
        ]),
      );
      expect(await left(fixture, queue)).toEqual([queue]);
    });
  });
}
