import type { EventQueue, EventSeq, UserId } from '@parley/domain';
import { aRealm, aUser, givenOn, type Scene } from '../builders.js';
import { SeededRandomness } from '../seeded-randomness.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const uuids = new SeededRandomness(11);

function aQueue(scene: Scene, owner: string, more: Partial<EventQueue> = {}): EventQueue {
  return {
    id: uuids.uuid(),
    realmId: scene.realm.id,
    ownerId: scene.user(owner).id,
    filter: { types: null, allPublicChannels: false, narrow: [] },
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
    const add = (scene: Scene, ...queues: readonly EventQueue[]) =>
      scene.uow.write(async (tx) => {
        for (const queue of queues) await tx.queues.add(queue);
      });
    /** Those of the queues that are still there, as they are now. */
    const left = (scene: Scene, ...queues: readonly EventQueue[]) =>
      scene.uow.read(async (r) => {
        const found = [];
        for (const { realmId, id } of queues) found.push(await r.queues.find(realmId, id));
        return found.filter((queue) => queue !== null);
      });

    it('keeps every part of a queue', async () => {
      const scene = await stage(aUser({ name: 'a' }));
      const plain = aQueue(scene, 'a');
      const rich = aQueue(scene, 'a', {
        filter: {
          types: ['message', 'realm_user'],
          allPublicChannels: true,
          narrow: [
            { operator: 'channel', name: 'Général' },
            { operator: 'is', operand: 'dm' },
          ],
        },
        presentation: { client_gravatar: true, capabilities: { bulk_message_deletion: true }, level: 5 },
        acked: 5 * 1024 + 3,
      });
      await scene.uow.write(async (tx) => {
        await tx.queues.add(plain);
        await tx.queues.add(rich);
      });
      await scene.uow.read(async (r) => {
        expect(await r.queues.find(scene.realm.id, plain.id)).toEqual(plain);
        expect(await r.queues.find(scene.realm.id, rich.id)).toEqual(rich);
        expect(await r.queues.find(scene.realm.id, uuids.uuid())).toBeNull();
      });
    });

    it.each([
      ['filter is no JSON', { filter: '{"types":' }],
      ['filter lacks something', { filter: '{"types":null,"narrow":[]}' }],
      [
        'narrow is of no operator',
        { filter: '{"types":null,"allPublicChannels":false,"narrow":[{"operator":"near"}]}' },
      ],
      ['presentation is no JSON', { presentation: '' }],
      ['presentation is no object', { presentation: '[]' }],
    ])('says of a queue whose %s that it cannot be read, and removes it like any other', async (_, parts) => {
      const scene = await stage(aUser({ name: 'a' }));
      const queue = aQueue(scene, 'a');
      await add(scene, queue);
      await scene.storage.damage.queue(queue.id, parts);
      const unreadable = { id: queue.id, ownerId: queue.ownerId, reason: expect.any(String) };
      expect(await left(scene, queue)).toEqual([unreadable]);
      expect(await scene.uow.read((r) => r.queues.listOf(scene.realm.id, queue.ownerId))).toHaveLength(1);
      await scene.uow.write((tx) => tx.queues.remove(scene.realm.id, [queue.id]));
      expect(await left(scene, queue)).toEqual([]);
    });

    it('lists those of a user, the least recently polled one first', async () => {
      const scene = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }));
      const at = (lastPolledAt: number) => aQueue(scene, 'a', { lastPolledAt });
      const [second, third, first] = [at(20), at(30), at(10)];
      await add(scene, second, third, first, aQueue(scene, 'b'));
      expect(await scene.uow.read((r) => r.queues.listOf(scene.realm.id, scene.user('a').id))).toEqual(
        [first, second, third].map(({ id, lastPolledAt }) => ({ id, lastPolledAt })),
      );
      const other = await givenOn(scene.uow, scene.clock, aRealm({ stringId: 'other' }));
      expect(await scene.uow.read((r) => r.queues.listOf(other.realm.id, scene.user('a').id))).toEqual([]);
    });

    it('knows the lowest floor of a realm', async () => {
      const scene = await stage(aUser({ name: 'a' }));
      const other = await givenOn(scene.uow, scene.clock, aRealm({ stringId: 'other' }), aUser({ name: 'b' }));
      const lowest = (of: Scene) => scene.uow.read((r) => r.queues.lowestFloor(of.realm.id));
      expect(await lowest(scene)).toBeNull();
      await add(
        scene,
        aQueue(scene, 'a', { floorSeq: 9 as EventSeq }),
        aQueue(scene, 'a', { floorSeq: 7 as EventSeq }),
        aQueue(other, 'b', { floorSeq: 3 as EventSeq }),
      );
      expect([await lowest(scene), await lowest(other)]).toEqual([7, 3]);
    });

    it('removes by id, again without effect, and never those of another realm', async () => {
      const scene = await stage(aUser({ name: 'a' }));
      const other = await givenOn(scene.uow, scene.clock, aRealm({ stringId: 'other' }), aUser({ name: 'b' }));
      const [gone, kept, foreign] = [aQueue(scene, 'a'), aQueue(scene, 'a'), aQueue(other, 'b')];
      await add(scene, gone, kept, foreign);
      const remove = () => scene.uow.write((tx) => tx.queues.remove(scene.realm.id, [gone.id, foreign.id, 'unknown']));
      await remove();
      await remove();
      expect(await left(scene, gone, kept, foreign)).toEqual([kept, foreign]);
      expect(await scene.uow.read((r) => r.queues.find(scene.realm.id, foreign.id))).toBeNull();
    });

    it('removes those that nobody has polled for as long as they live, a few at a time', async () => {
      const scene = await stage(aUser({ name: 'a' }));
      const other = await givenOn(scene.uow, scene.clock, aRealm({ stringId: 'other' }), aUser({ name: 'b' }));
      const queue = (of: Scene, who: string, lastPolledAt: number, idleTimeoutSeconds: number) =>
        aQueue(of, who, { lastPolledAt, idleTimeoutSeconds });
      const idle = [queue(scene, 'a', 1000, 600), queue(scene, 'a', 1550, 50), queue(other, 'b', 900, 100)];
      const kept = [queue(scene, 'a', 1001, 600), queue(scene, 'a', 1000, 601), queue(scene, 'a', 0, 1000)];
      const waitedFor = queue(other, 'b', 900, 100);
      await add(scene, ...idle, ...kept, waitedFor);
      const expiry = { now: 1600, servedSince: 700, except: [waitedFor.id] };
      const removed = [];
      for (let round = 0; round < 3; round++) {
        removed.push(await scene.uow.write((tx) => tx.queues.removeIdle(expiry, 2)));
      }
      expect(removed.map(({ length }) => length)).toEqual([2, 1, 0]);
      expect(removed.flat().map(idOf).sort()).toEqual(idle.map(idOf).sort());
      expect(removed.flat().find(({ id }) => id === idle[2]!.id)!.realmId).toBe(other.realm.id);
      expect(await left(scene, ...idle, ...kept, waitedFor)).toEqual([...kept, waitedFor]);
    });

    it('removes those of a realm that are far behind, a few at a time', async () => {
      const scene = await stage(aUser({ name: 'a' }));
      const other = await givenOn(scene.uow, scene.clock, aRealm({ stringId: 'other' }), aUser({ name: 'b' }));
      const at = (floorSeq: number, of: Scene = scene, who = 'a') =>
        aQueue(of, who, { floorSeq: floorSeq as EventSeq });
      const behind = [at(3), at(5), at(9)];
      const kept = [at(10), at(3, other, 'b')];
      await add(scene, ...behind, ...kept);
      const remove = () => scene.uow.write((tx) => tx.queues.removeBehind(scene.realm.id, 10, 2));
      const removed = [await remove(), await remove(), await remove()];
      expect(removed.map(({ length }) => length)).toEqual([2, 1, 0]);
      expect(removed.flat().map(idOf).sort()).toEqual(behind.map(idOf).sort());
      expect(await left(scene, ...behind, ...kept)).toEqual(kept);
    });

    it('removes those of a user', async () => {
      const scene = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }));
      const queues = [aQueue(scene, 'a'), aQueue(scene, 'b'), aQueue(scene, 'a')];
      await add(scene, ...queues);
      await scene.uow.write(async (tx) => {
        await tx.queues.removeOfUser(scene.realm.id, scene.user('a').id);
        await tx.queues.removeOfUser(scene.realm.id, 9999 as UserId);
      });
      expect(await left(scene, ...queues)).toEqual([queues[1]]);
    });

    it('saves positions, skipping queues that are gone', async () => {
      const scene = await stage(aUser({ name: 'a' }));
      const [moved, still, gone] = [aQueue(scene, 'a'), aQueue(scene, 'a'), aQueue(scene, 'a')];
      await add(scene, moved, still);
      const position = { acked: 9 * 1024, floorSeq: 9 as EventSeq, lastPolledAt: 1_700_000_090 };
      await scene.uow.write((tx) =>
        tx.queues.savePositions(scene.realm.id, [
          { id: gone.id, ...position },
          { id: moved.id, ...position },
        ]),
      );
      expect(await left(scene, moved, still)).toEqual([{ ...moved, ...position }, still]);
    });

    it('saves no position of another realm', async () => {
      const scene = await stage(aUser({ name: 'a' }));
      const other = await givenOn(scene.uow, scene.clock, aRealm({ stringId: 'other' }));
      const queue = aQueue(scene, 'a');
      await add(scene, queue);
      await scene.uow.write((tx) =>
        tx.queues.savePositions(other.realm.id, [
          { id: queue.id, acked: 9 * 1024, floorSeq: 9 as EventSeq, lastPolledAt: 1_700_000_090 },
        ]),
      );
      expect(await left(scene, queue)).toEqual([queue]);
    });
  });
}
