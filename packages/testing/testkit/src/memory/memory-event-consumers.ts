import {
  type EventConsumerRepository,
  type EventSeq,
  MAX_CONSUMERS,
  type RealmId,
  tooManyConsumers,
} from '@parley/domain/kernel';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Positions per realm by consumer name. */
    readonly eventConsumers: Map<string, ReadonlyMap<RealmId, EventSeq>>;
  }
}

export class MemoryEventConsumers implements EventConsumerRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async list(): Promise<readonly string[]> {
    return [...this.unit.read('eventConsumers').keys()].sort();
  }

  async findPositions(name: string): Promise<ReadonlyMap<RealmId, EventSeq> | null> {
    return this.unit.read('eventConsumers').get(name) ?? null;
  }

  async lowestPosition(realmId: RealmId): Promise<number | null> {
    const positions = [...this.unit.read('eventConsumers').values()].map((of) => of.get(realmId) ?? 0);
    return positions.length === 0 ? null : Math.min(...positions);
  }

  async add(name: string, positions: ReadonlyMap<RealmId, EventSeq>): Promise<boolean> {
    const consumers = this.unit.read('eventConsumers');
    if (consumers.has(name)) return false;
    if (consumers.size >= MAX_CONSUMERS) throw tooManyConsumers();
    this.unit.change('eventConsumers').set(name, new Map(positions));
    return true;
  }

  async advance(name: string, realmId: RealmId, from: number, to: EventSeq): Promise<boolean> {
    const positions = await this.findPositions(name);
    if (!positions || (positions.get(realmId) ?? 0) !== from || !this.unit.read('realms').has(realmId)) return false;
    this.unit.change('eventConsumers').set(name, new Map([...positions, [realmId, to]]));
    return true;
  }

  async remove(name: string): Promise<boolean> {
    return this.unit.change('eventConsumers').delete(name);
  }
}
