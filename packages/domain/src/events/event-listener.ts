import type { MessageId, RealmId } from '../shared/ids.js';
import type { StoredEvent, UnreadableEvent } from './event-log.js';

/** Somebody who follows what happens. Called after each commit, in order of seq within a realm. */
export interface EventListener {
  onEvents(events: readonly StoredEvent[]): void;
  /** What the log quoted of these messages is gone. Before the events of the same unit. */
  onBlanked?(realmId: RealmId, messageIds: readonly MessageId[]): void;
  /** Something happened that this version cannot read: what is kept of the realm in memory may not be true any more. */
  onUnreadable?(event: UnreadableEvent): void;
  /** Another process has written to the realm: what was read of its log may not be true any more. Before its events. */
  onWrittenElsewhere?(realmId: RealmId): void;
}
