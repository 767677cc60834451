import type { Announcement, EventLog, EventSeq, MessageId, RealmId, StoredEvent, UnixSeconds } from '@parley/domain';
import { type EventRow, keyOf, type MemoryUnit } from './tables.js';

export class MemoryEventLog implements EventLog {
  /** What this unit appended. */
  readonly appended: StoredEvent[] = [];

  constructor(private readonly unit: MemoryUnit) {}

  async headSeq(realmId: RealmId): Promise<EventSeq> {
    return (this.unit.read('counters').get(keyOf('seq', realmId)) ?? 0) as EventSeq;
  }

  async listHeads(): Promise<readonly { readonly realmId: RealmId; readonly seq: EventSeq }[]> {
    const realmIds = [...this.unit.read('realms').keys()];
    return Promise.all(realmIds.map(async (realmId) => ({ realmId, seq: await this.headSeq(realmId) })));
  }

  async listAfter(realmId: RealmId, after: EventSeq, limit: number): Promise<readonly StoredEvent[]> {
    return this.rows(realmId)
      .filter(({ seq }) => seq > after)
      .slice(0, limit)
      .map(({ quotes: _, ...event }) => event);
  }

  async prunedUpTo(realmId: RealmId): Promise<number> {
    return this.unit.read('prunedUpTo').get(realmId) ?? 0;
  }

  async append(realmId: RealmId, { event, audience, quotes }: Announcement): Promise<EventSeq> {
    const stored: StoredEvent = {
      realmId,
      seq: this.unit.nextNumber<EventSeq>(keyOf('seq', realmId)),
      event: asKept(event),
      audience: asKept(audience),
      at: this.unit.clock.now(),
    };
    this.unit.change('events').set(realmId, [...this.rows(realmId), { ...stored, quotes: quotes ?? null }]);
    this.appended.push(stored);
    return stored.seq;
  }

  async blank(realmId: RealmId, messageIds: readonly MessageId[]): Promise<void> {
    const rows = this.rows(realmId).map((row): EventRow => {
      const isQuoting = row.quotes !== null && messageIds.includes(row.quotes);
      return isQuoting ? { ...row, event: { type: 'blank' } } : row;
    });
    this.unit.change('events').set(realmId, rows);
  }

  async prune(realmId: RealmId, upTo: EventSeq, before: UnixSeconds): Promise<void> {
    const rows = this.rows(realmId);
    const firstKept = rows.findIndex(({ seq, at }) => seq > upTo || at >= before);
    const pruned = firstKept === -1 ? rows : rows.slice(0, firstKept);
    const last = pruned.at(-1);
    if (!last) return;
    this.unit.change('events').set(realmId, rows.slice(pruned.length));
    this.unit.change('prunedUpTo').set(realmId, last.seq);
  }

  private rows(realmId: RealmId): readonly EventRow[] {
    return this.unit.read('events').get(realmId) ?? [];
  }
}

/** Real storage keeps JSON; a map or a date in an event has to be noticed here too. */
function asKept<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
