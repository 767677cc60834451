import { decodeQueue, encodeQueue } from '@parley/domain/composition';
import {
  decodePresentation,
  type EncodedQueue,
  type EndedQueue,
  type EventQueue,
  type EventQueueRepository,
  type EventSeq,
  type Expiry,
  type QueuePosition,
  type RealmId,
  type UnixSeconds,
  type UnreadableQueue,
  type UserId,
} from '@parley/domain/kernel';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly queues: Map<string, EncodedQueue>;
  }
}

export class MemoryEventQueues implements EventQueueRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, id: string): Promise<EventQueue | UnreadableQueue | null> {
    const row = this.unit.read('queues').get(id);
    return row?.realmId === realmId ? decodeQueue(row) : null;
  }

  async listOf(realmId: RealmId, ownerId: UserId): Promise<readonly Pick<QueuePosition, 'id' | 'lastPolledAt'>[]> {
    return this.rows(realmId)
      .filter((row) => row.ownerId === ownerId)
      .map(({ id, lastPolledAt }) => ({ id, lastPolledAt }))
      .sort((a, b) => a.lastPolledAt - b.lastPolledAt);
  }

  async lowestFloor(realmId: RealmId): Promise<EventSeq | null> {
    const floors = this.rows(realmId).map(({ floorSeq }) => floorSeq);
    return floors.length === 0 ? null : (Math.min(...floors) as EventSeq);
  }

  async add(queue: EventQueue): Promise<void> {
    this.unit.change('queues').set(queue.id, encodeQueue(queue));
  }

  async remove(realmId: RealmId, ids: readonly string[]): Promise<void> {
    this.removeRows(this.rows(realmId).filter(({ id }) => ids.includes(id)));
  }

  async removeOfUser(realmId: RealmId, ownerId: UserId): Promise<void> {
    this.removeRows(this.rows(realmId).filter((row) => row.ownerId === ownerId));
  }

  async removeIdle({ before, servedSince }: Expiry, limit: number): Promise<readonly EndedQueue[]> {
    const isIdle = ({ lastPolledAt, idleTimeoutSeconds }: EncodedQueue) =>
      before - Math.max(lastPolledAt, servedSince) >= idleTimeoutSeconds;
    const removed = [...this.unit.read('queues').values()].filter(isIdle).slice(0, limit);
    return this.removeRows(removed);
  }

  async bringBack(now: UnixSeconds): Promise<void> {
    for (const row of [...this.unit.read('queues').values()]) {
      if (row.lastPolledAt > now + row.idleTimeoutSeconds)
        this.unit.change('queues').set(row.id, { ...row, lastPolledAt: now });
    }
  }

  async removeBehind(realmId: RealmId, floorSeq: number, limit: number): Promise<readonly EndedQueue[]> {
    return this.removeRows(
      this.rows(realmId)
        .filter((row) => row.floorSeq < floorSeq)
        .slice(0, limit),
    );
  }

  async savePositions(realmId: RealmId, positions: readonly QueuePosition[]): Promise<readonly string[]> {
    const gone: string[] = [];
    for (const { id, ...position } of positions) {
      const row = this.unit.read('queues').get(id);
      if (row?.realmId !== realmId) gone.push(id);
      else {
        this.unit.change('queues').set(id, {
          ...row,
          acked: Math.max(row.acked, position.acked),
          floorSeq: Math.max(row.floorSeq, position.floorSeq) as EventSeq,
          lastPolledAt: Math.max(row.lastPolledAt, position.lastPolledAt),
        });
      }
    }
    return gone;
  }

  private rows(realmId: RealmId): EncodedQueue[] {
    return [...this.unit.read('queues').values()].filter((row) => row.realmId === realmId);
  }

  private removeRows(rows: readonly EncodedQueue[]): EndedQueue[] {
    for (const { id } of rows) this.unit.change('queues').delete(id);
    return rows.map(({ realmId, id, ownerId, lastPolledAt, presentation }) => ({
      ...{ realmId, id, ownerId, lastPolledAt },
      presentation: decodePresentation(presentation),
    }));
  }
}
