import type { EventQueue, EventQueueRepository, QueuePosition, RealmId, UserId } from '@parley/domain';
import type { MemoryUnit } from './tables.js';

export class MemoryEventQueues implements EventQueueRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, id: string): Promise<EventQueue | null> {
    const queue = this.unit.read('queues').get(id);
    return queue?.realmId === realmId ? queue : null;
  }

  async listAll(): Promise<readonly EventQueue[]> {
    return [...this.unit.read('queues').values()];
  }

  async add(queue: EventQueue): Promise<void> {
    this.unit.change('queues').set(queue.id, queue);
  }

  async remove(realmId: RealmId, ids: readonly string[]): Promise<void> {
    for (const id of ids) if (await this.find(realmId, id)) this.unit.change('queues').delete(id);
  }

  async removeOfUser(realmId: RealmId, ownerId: UserId): Promise<void> {
    const own = (await this.listAll()).filter((queue) => queue.ownerId === ownerId);
    await this.remove(
      realmId,
      own.map(({ id }) => id),
    );
  }

  async savePositions(realmId: RealmId, positions: readonly QueuePosition[]): Promise<void> {
    for (const { id, acked, floorSeq, lastPolledAt } of positions) {
      const queue = await this.find(realmId, id);
      if (queue) this.unit.change('queues').set(id, { ...queue, acked, floorSeq, lastPolledAt });
    }
  }
}
