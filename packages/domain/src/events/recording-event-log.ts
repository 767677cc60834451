import type { Clock } from '../shared/clock.js';
import type { EventSeq, MessageId, RealmId, UnixSeconds } from '../shared/ids.js';
import type { Announcement, EventLog, StoredEvent } from './event-log.js';

/** Writes to a log, and remembers what it appended and blanked. */
export class RecordingEventLog implements EventLog {
  readonly appended: StoredEvent[] = [];
  readonly blanked: { readonly realmId: RealmId; readonly messageIds: readonly MessageId[] }[] = [];

  constructor(
    private readonly log: EventLog,
    private readonly clock: Clock,
  ) {}

  async append(realmId: RealmId, announcement: Announcement): Promise<EventSeq> {
    const seq = await this.log.append(realmId, announcement);
    const { event, audience, quotes = null } = announcement;
    this.appended.push({ realmId, seq, event, audience, at: this.clock.now(), quotes });
    return seq;
  }

  async blank(realmId: RealmId, messageIds: readonly MessageId[]): Promise<void> {
    await this.log.blank(realmId, messageIds);
    this.blanked.push({ realmId, messageIds });
  }

  lastSeq(realmId: RealmId) {
    return this.log.lastSeq(realmId);
  }

  listLastSeqs() {
    return this.log.listLastSeqs();
  }

  listAfter(realmId: RealmId, after: EventSeq, limit: number, maxBytes?: number) {
    return this.log.listAfter(realmId, after, limit, maxBytes);
  }

  prunedUpTo(realmId: RealmId) {
    return this.log.prunedUpTo(realmId);
  }

  prune(realmId: RealmId, upTo: EventSeq, before: UnixSeconds, limit: number) {
    return this.log.prune(realmId, upTo, before, limit);
  }
}
