import type { Clock } from '../shared/clock.js';
import type { EventSeq, MessageId, RealmId, UnixSeconds } from '../shared/ids.js';
import type { Announcement, EventLog, StoredEvent } from './event-log.js';

/** Writes to a log, and remembers what it appended. */
export class RecordingEventLog implements EventLog {
  readonly appended: StoredEvent[] = [];

  constructor(
    private readonly log: EventLog,
    private readonly clock: Clock,
  ) {}

  async append(realmId: RealmId, announcement: Announcement): Promise<EventSeq> {
    const seq = await this.log.append(realmId, announcement);
    const { event, audience } = announcement;
    this.appended.push({ realmId, seq, event, audience, at: this.clock.now() });
    return seq;
  }

  headSeq(realmId: RealmId) {
    return this.log.headSeq(realmId);
  }

  listHeads() {
    return this.log.listHeads();
  }

  listAfter(realmId: RealmId, after: EventSeq, limit: number) {
    return this.log.listAfter(realmId, after, limit);
  }

  prunedUpTo(realmId: RealmId) {
    return this.log.prunedUpTo(realmId);
  }

  blank(realmId: RealmId, messageIds: readonly MessageId[]) {
    return this.log.blank(realmId, messageIds);
  }

  prune(realmId: RealmId, upTo: EventSeq, before: UnixSeconds) {
    return this.log.prune(realmId, upTo, before);
  }
}
