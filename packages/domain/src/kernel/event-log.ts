import type { Audience } from './audience.js';
import type { DomainEvent } from './event.js';
import type { EventSeq, MessageId, RealmId, UnixSeconds } from './ids.js';

/** The audience is decided where the change is made, in the same unit. */
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
  /** The message it quotes; null: none. */
  readonly quotes: MessageId | null;
}

/** A row of the log that this version cannot read: damaged, or written in a format that it does not know. */
export interface UnreadableEvent {
  readonly realmId: RealmId;
  readonly seq: EventSeq;
  readonly at: UnixSeconds;
  /** Null: that cannot be read either. */
  readonly audience: Audience | null;
  /** For operators; quotes nothing of the row. */
  readonly reason: string;
}

/** The entry of the log under a seq. */
export type LoggedEvent = StoredEvent | UnreadableEvent;

export const isReadable = (logged: LoggedEvent): logged is StoredEvent => 'event' in logged;

export interface LogEnd {
  readonly realmId: RealmId;
  /** Of the newest event, pruned or not. */
  readonly seq: EventSeq;
  /** Everything up to it is gone; 0 while nothing is. */
  readonly prunedUpTo: number;
}

export interface EventReads {
  /** Of the newest event, pruned or not; every realm has one from its creation on. */
  lastSeq(realmId: RealmId): Promise<EventSeq>;
  /** Of every realm; ascending. */
  listLastSeqs(): Promise<readonly LogEnd[]>;
  /**
   * Ascending seq, at most `limit`, and no more after the one with which they reach `maxBytes` of JSON. A row that cannot be
   * read is answered as unreadable; the others are answered as usual.
   */
  listAfter(realmId: RealmId, after: EventSeq, limit: number, maxBytes?: number): Promise<readonly LoggedEvent[]>;
  /** Everything up to it is gone; 0 while nothing is. */
  prunedUpTo(realmId: RealmId): Promise<number>;
}

/** Every implementation passes event-log.contract.ts. */
export interface EventLog extends EventReads {
  /** In the unit of the change itself. Seq order is commit order. */
  append(realmId: RealmId, announcement: Announcement): Promise<EventSeq>;
  /** Removes the content of these messages from the log; the rows stay, as `blank`. */
  blank(realmId: RealmId, messageIds: readonly MessageId[]): Promise<void>;
  /**
   * Removes events up to this seq that are older than `before`, the oldest `limit` of them. Returns how many went: fewer
   * than `limit` when there are no more.
   */
  prune(realmId: RealmId, upTo: EventSeq, before: UnixSeconds, limit: number): Promise<number>;
}

export interface BlankedMessages {
  readonly realmId: RealmId;
  readonly messageIds: readonly MessageId[];
}

declare module './unit-of-work.js' {
  interface RepositoryMap {
    events: [reads: EventReads, repository: EventLog];
  }
  interface UnitChanges {
    /** As they were stored, in order of seq within a realm. */
    readonly events: readonly StoredEvent[];
    readonly blanked: readonly BlankedMessages[];
  }
}
