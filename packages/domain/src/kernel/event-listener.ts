import type { StoredEvent, UnreadableEvent } from './event-log.js';
import type { MessageId, RealmId } from './ids.js';

/** Follows the events. Called after each commit, in order of seq within a realm. */
export interface EventListener {
  onEvents(events: readonly StoredEvent[]): void;
  /** The log no longer has the content of these messages. Called before the events of the same unit. */
  onBlanked?(realmId: RealmId, messageIds: readonly MessageId[]): void;
  /** There is an event that this version cannot read: what is kept of the realm in memory may be out of date. */
  onUnreadable?(event: UnreadableEvent): void;
  /** Another process has written to the realm: what was read of its log may be out of date. Called before its events. */
  onWrittenElsewhere?(realmId: RealmId): void;
}
