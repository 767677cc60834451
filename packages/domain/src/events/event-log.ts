import type { EventSeq, MessageId, RealmId, UnixSeconds } from '../shared/ids.js';
import type { Audience } from './audience.js';
import type { DomainEvent } from './event.js';

/** Who is told is decided where the change is made, in the same unit. */
export interface Announcement {
  readonly event: DomainEvent;
  readonly audience: Audience;
  /** The message the event quotes: when it is deleted, the event is blanked. */
  readonly quotes?: MessageId;
}

export interface StoredEvent {
  readonly realmId: RealmId;
  readonly seq: EventSeq;
  readonly event: DomainEvent;
  readonly audience: Audience;
  readonly at: UnixSeconds;
}

export interface EventReads {
  /** Of the newest event, pruned or not; every realm has one from its creation on. */
  headSeq(realmId: RealmId): Promise<EventSeq>;
  /** The same of every realm; ascending realm. */
  listHeads(): Promise<readonly { readonly realmId: RealmId; readonly seq: EventSeq }[]>;
  /** Ascending seq, at most `limit`. */
  listAfter(realmId: RealmId, after: EventSeq, limit: number): Promise<readonly StoredEvent[]>;
  /** Everything up to it is gone; 0 while nothing is. */
  prunedUpTo(realmId: RealmId): Promise<number>;
}

/** Every implementation passes event-log.contract.ts. */
export interface EventLog extends EventReads {
  /** In the unit of the change it tells of. Seq order is commit order. */
  append(realmId: RealmId, announcement: Announcement): Promise<EventSeq>;
  /** Forgets what the log quotes of these messages; the rows stay, as `blank`. */
  blank(realmId: RealmId, messageIds: readonly MessageId[]): Promise<void>;
  /** Removes events up to this seq that are older than `before`. */
  prune(realmId: RealmId, upTo: EventSeq, before: UnixSeconds): Promise<void>;
}
