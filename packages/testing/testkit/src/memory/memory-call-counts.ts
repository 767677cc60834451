import type { CallCountRepository, CountedCalls, UnixSeconds } from '@parley/domain/kernel';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly callCounts: Map<number, CountedCalls & { readonly id: number; readonly server: string }>;
  }
}

export class MemoryCallCounts implements CallCountRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async listOfOthers(server: string, after: number, limit: number) {
    return [...this.unit.read('callCounts').values()]
      .filter((row) => row.id > after && row.server !== server)
      .slice(0, limit)
      .map(({ server: _, ...row }) => row);
  }

  async add(server: string, counted: readonly CountedCalls[]): Promise<void> {
    for (const calls of counted) {
      const id = this.unit.nextNumber<number>('counted calls');
      this.unit.change('callCounts').set(id, { ...calls, id, server });
    }
  }

  async removeExpired(now: UnixSeconds, limit: number): Promise<number> {
    const expired = [...this.unit.read('callCounts').values()].filter(({ expiresAt }) => expiresAt <= now);
    for (const { id } of expired.slice(0, limit)) this.unit.change('callCounts').delete(id);
    return Math.min(expired.length, limit);
  }

  async removeAll(): Promise<void> {
    this.unit.change('callCounts').clear();
  }
}
