import { BLANK_EVENT, decodeEvent, encodeEvent, sizeOfEvent } from '@parley/domain/composition';
import type {
  Announcement,
  EncodedRow,
  EventLog,
  EventSeq,
  LogEnd,
  LoggedEvent,
  LoggedSize,
  MessageId,
  RealmId,
  UnixSeconds,
} from '@parley/domain/kernel';
import { keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Ascending by sequence number. */
    readonly events: Map<RealmId, readonly EncodedRow[]>;
    readonly prunedUpTo: Map<RealmId, number>;
  }
}

export class MemoryEventLog implements EventLog {
  constructor(private readonly unit: MemoryUnit) {}

  async lastSeq(realmId: RealmId): Promise<EventSeq> {
    return (this.unit.read('counters').get(keyOf('seq', realmId)) ?? 0) as EventSeq;
  }

  async listLastSeqs(): Promise<readonly LogEnd[]> {
    const realmIds = [...this.unit.read('realms').keys()];
    return Promise.all(
      realmIds.map(async (realmId) => ({
        realmId,
        seq: await this.lastSeq(realmId),
        prunedUpTo: await this.prunedUpTo(realmId),
      })),
    );
  }

  async listAfter(
    realmId: RealmId,
    after: EventSeq,
    limit: number,
    maxBytes = Number.POSITIVE_INFINITY,
  ): Promise<readonly LoggedEvent[]> {
    const listed: LoggedEvent[] = [];
    let bytes = 0;
    for (const row of this.rows(realmId)) {
      if (row.seq <= after) continue;
      if (listed.length >= limit || bytes >= maxBytes) break;
      const logged = decodeEvent(row);
      bytes += sizeOfEvent(row, logged);
      listed.push(logged);
    }
    return listed;
  }

  async prunedUpTo(realmId: RealmId): Promise<number> {
    return this.unit.read('prunedUpTo').get(realmId) ?? 0;
  }

  async listSizes(realmId: RealmId, before: number, limit: number): Promise<readonly LoggedSize[]> {
    const older = this.rows(realmId).filter(({ seq }) => seq < before);
    const sizeOf = (text: string) => Buffer.byteLength(text);
    return older
      .slice(-limit)
      .reverse()
      .map(({ seq, audience, payload }) => ({ seq, bytes: sizeOf(audience) + sizeOf(payload) }));
  }

  async append(realmId: RealmId, announcement: Announcement): Promise<void> {
    this.unit.record.requireRealm(realmId);
    const row: EncodedRow = {
      realmId,
      seq: this.unit.nextNumber<EventSeq>(keyOf('seq', realmId)),
      at: this.unit.clock.now(),
      quotes: announcement.quotes ?? null,
      ...encodeEvent(announcement),
    };
    this.unit.change('events').set(realmId, [...this.rows(realmId), row]);
    const { event, audience } = announcement;
    const { seq, at, quotes } = row;
    this.unit.record.events.push({ realmId, seq, at, quotes, event: asKept(event), audience: asKept(audience) });
  }

  async blank(realmId: RealmId, messageIds: readonly MessageId[]): Promise<void> {
    this.unit.record.requireRealm(realmId);
    const { payload, format } = BLANK_EVENT;
    const rows = this.rows(realmId).map((row): EncodedRow => {
      const isQuoting = row.quotes !== null && messageIds.includes(row.quotes);
      return isQuoting ? { ...row, payload, format } : row;
    });
    this.unit.change('events').set(realmId, rows);
    this.unit.record.blanked.push({ realmId, messageIds });
  }

  async prune(realmId: RealmId, upTo: EventSeq, before: UnixSeconds, limit: number): Promise<number> {
    const rows = this.rows(realmId);
    const firstKept = rows.findIndex(({ seq, at }, index) => seq > upTo || at >= before || index >= limit);
    const pruned = firstKept === -1 ? rows : rows.slice(0, firstKept);
    const last = pruned.at(-1);
    if (last) {
      this.unit.change('events').set(realmId, rows.slice(pruned.length));
      this.unit.change('prunedUpTo').set(realmId, last.seq);
    }
    return pruned.length;
  }

  private rows(realmId: RealmId): readonly EncodedRow[] {
    return this.unit.read('events').get(realmId) ?? [];
  }
}

/** Converts to JSON like real storage, so that a map or date in an event is detected. */
function asKept<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
