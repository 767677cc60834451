import { BLANK_EVENT, completeEvents, decodeEvent, encodeEvent, sizeOfEvent } from '@parley/domain/composition';
import type {
  Announcement,
  EncodedRow,
  EventLog,
  EventSeq,
  LogEnd,
  LoggedEvent,
  MessageId,
  RealmId,
  UnixSeconds,
} from '@parley/domain/kernel';
import type { MessagePageReads } from '@parley/domain/messages';
import { keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Ascending by sequence number. */
    readonly events: Map<RealmId, readonly MemoryRow[]>;
    readonly prunedUpTo: Map<RealmId, number>;
  }
}

interface MemoryRow extends EncodedRow {
  /** Size when the event was appended. */
  readonly bytes: number;
}

const blankContent = { payload: BLANK_EVENT.payload, format: BLANK_EVENT.format };

export class MemoryEventLog implements EventLog {
  constructor(
    private readonly unit: MemoryUnit,
    private readonly pages: Pick<MessagePageReads, 'listViews'>,
  ) {}

  async lastSeq(realmId: RealmId): Promise<EventSeq> {
    return (this.unit.read('counters').get(keyOf('seq', realmId)) ?? 0) as EventSeq;
  }

  async listLastSeqs(only?: readonly RealmId[]): Promise<readonly LogEnd[]> {
    const realmIds = [...this.unit.read('realms').keys()].filter((realmId) => only?.includes(realmId) ?? true);
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
    const listed: ReturnType<typeof decodeEvent>[] = [];
    let bytes = 0;
    for (const row of this.rows(realmId)) {
      if (row.seq <= after) continue;
      if (listed.length >= limit || bytes >= maxBytes) break;
      const logged = decodeEvent(row);
      bytes += sizeOfEvent(row, logged);
      listed.push(logged);
    }
    return completeEvents(listed, (ids) => this.pages.listViews(realmId, ids));
  }

  async prunedUpTo(realmId: RealmId): Promise<number> {
    return this.unit.read('prunedUpTo').get(realmId) ?? 0;
  }

  async seqBeyond(realmId: RealmId, bytes: number): Promise<number> {
    let sum = 0;
    const newestFirst = [...this.rows(realmId)].reverse();
    const beyond = newestFirst.find((row) => {
      sum += row.bytes;
      return sum > bytes;
    });
    return beyond?.seq ?? 0;
  }

  async append(realmId: RealmId, announcement: Announcement): Promise<void> {
    this.unit.record.requireRealm(realmId);
    const encoded = encodeEvent(announcement);
    const row: MemoryRow = {
      realmId,
      seq: this.unit.nextNumber<EventSeq>(keyOf('seq', realmId)),
      at: this.unit.clock.now(),
      ...encoded,
      bytes: Buffer.byteLength(encoded.audience) + Buffer.byteLength(encoded.payload),
    };
    this.unit.change('events').set(realmId, [...this.rows(realmId), row]);
    const { event, audience, quotes = null } = announcement;
    const { seq, at } = row;
    this.unit.record.events.push({ realmId, seq, at, quotes, event: asKept(event), audience: asKept(audience) });
  }

  async listRows(realmId: RealmId, after: number, limit: number): Promise<readonly EncodedRow[]> {
    return this.rows(realmId)
      .filter(({ seq }) => seq > after)
      .slice(0, limit);
  }

  async replace(realmId: RealmId, seq: EventSeq, payload: string | null): Promise<void> {
    const rows = this.rows(realmId).map((row) =>
      row.seq === seq ? { ...row, ...(payload === null ? blankContent : { payload }) } : row,
    );
    this.unit.change('events').set(realmId, rows);
  }

  async blank(realmId: RealmId, messageIds: readonly MessageId[]): Promise<void> {
    this.unit.record.requireRealm(realmId);
    const rows = this.rows(realmId).map((row): MemoryRow => {
      const isQuoting = row.quotes !== null && messageIds.includes(row.quotes);
      return isQuoting ? { ...row, ...blankContent } : row;
    });
    this.unit.change('events').set(realmId, rows);
    await this.append(realmId, { event: { type: 'blanked', messageIds }, audience: { kind: 'nobody' } });
  }

  async prune(realmId: RealmId, upTo: EventSeq, before: UnixSeconds, limit: number): Promise<number> {
    const rows = this.rows(realmId);
    const firstKept = rows.findIndex(({ seq, at }, index) => seq > upTo || at >= before || index >= limit);
    const pruned = firstKept === -1 ? rows : rows.slice(0, firstKept);
    const last = pruned.at(-1);
    if (last) {
      this.unit.change('events').set(realmId, rows.slice(pruned.length));
      this.unit.change('prunedUpTo').set(realmId, last.seq);
      // Each message has a row per receiver, so ended spans are needed only for events, which are now pruned.
      const spans = this.unit.change('spans');
      for (const [number, { realmId: of, toSeq }] of spans) {
        if (of === realmId && toSeq !== null && toSeq <= last.seq) spans.delete(number);
      }
    }
    return pruned.length;
  }

  async shrink(realmId: RealmId, maxBytes: number): Promise<void> {
    const upTo = (await this.seqBeyond(realmId, maxBytes)) as EventSeq;
    await this.prune(realmId, upTo, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  }

  private rows(realmId: RealmId): readonly MemoryRow[] {
    return this.unit.read('events').get(realmId) ?? [];
  }
}

/** Converts to JSON like real storage, so that a map or date in an event is detected. */
function asKept<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
