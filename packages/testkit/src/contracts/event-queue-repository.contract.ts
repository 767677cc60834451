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

const byId = (a: EventQueue, b: EventQueue) => (a.id < b.id ? -1 : 1);

export function eventQueueRepositoryContract(open: OpenStorage): void {
  describe('event queue repository', () => {
    const stage = stagesOn(open);
    const all = async (scene: Scene) => [...(await scene.uow.read((r) => r.queues.listAll()))].sort(byId);

    it('keeps every part of a queue', async () => {
      const scene = await stage(aUser({ name: 'a' }));
      const plain = aQueue(scene, 'a');
      const rich = aQueue(scene, 'a', {
        filter: {
          types: ['message', 'realm_user'],
          allPublicChannels: true,
          narrow: [
            { operator: 'channel', operand: 'Général' },
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

    it('lists those of all realms', async () => {
      const scene = await stage(aUser({ name: 'a' }));
      const other = await givenOn(scene.uow, scene.clock, aRealm({ stringId: 'other' }), aUser({ name: 'b' }));
      const queues = [aQueue(scene, 'a'), aQueue(other, 'b')];
      await scene.uow.write(async (tx) => {
        for (const queue of queues) await tx.queues.add(queue);
      });
      expect(await all(scene)).toEqual([...queues].sort(byId));
    });

    it('removes by id, again without effect, and never those of another realm', async () => {
      const scene = await stage(aUser({ name: 'a' }));
      const other = await givenOn(scene.uow, scene.clock, aRealm({ stringId: 'other' }), aUser({ name: 'b' }));
      const [gone, kept, foreign] = [aQueue(scene, 'a'), aQueue(scene, 'a'), aQueue(other, 'b')];
      await scene.uow.write(async (tx) => {
        for (const queue of [gone, kept, foreign]) await tx.queues.add(queue);
      });
      const remove = () => scene.uow.write((tx) => tx.queues.remove(scene.realm.id, [gone.id, foreign.id, 'unknown']));
      await remove();
      await remove();
      expect(await all(scene)).toEqual([kept, foreign].sort(byId));
      expect(await scene.uow.read((r) => r.queues.find(scene.realm.id, foreign.id))).toBeNull();
    });

    it('removes those of a user', async () => {
      const scene = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }));
      const queues = [aQueue(scene, 'a'), aQueue(scene, 'b'), aQueue(scene, 'a')];
      await scene.uow.write(async (tx) => {
        for (const queue of queues) await tx.queues.add(queue);
      });
      await scene.uow.write(async (tx) => {
        await tx.queues.removeOfUser(scene.realm.id, scene.user('a').id);
        await tx.queues.removeOfUser(scene.realm.id, 9999 as UserId);
      });
      expect(await all(scene)).toEqual([queues[1]]);
    });

    it('saves positions, skipping queues that are gone', async () => {
      const scene = await stage(aUser({ name: 'a' }));
      const [moved, still, gone] = [aQueue(scene, 'a'), aQueue(scene, 'a'), aQueue(scene, 'a')];
      await scene.uow.write(async (tx) => {
        for (const queue of [moved, still]) await tx.queues.add(queue);
      });
      const position = { acked: 9 * 1024, floorSeq: 9 as EventSeq, lastPolledAt: 1_700_000_090 };
      await scene.uow.write((tx) =>
        tx.queues.savePositions(scene.realm.id, [
          { id: gone.id, ...position },
          { id: moved.id, ...position },
        ]),
      );
      expect(await all(scene)).toEqual([{ ...moved, ...position }, still].sort(byId));
    });

    it('saves no position of another realm', async () => {
      const scene = await stage(aUser({ name: 'a' }));
      const other = await givenOn(scene.uow, scene.clock, aRealm({ stringId: 'other' }));
      const queue = aQueue(scene, 'a');
      await scene.uow.write((tx) => tx.queues.add(queue));
      await scene.uow.write((tx) =>
        tx.queues.savePositions(other.realm.id, [
          { id: queue.id, acked: 9 * 1024, floorSeq: 9 as EventSeq, lastPolledAt: 1_700_000_090 },
        ]),
      );
      expect(await all(scene)).toEqual([queue]);
    });
  });
}
