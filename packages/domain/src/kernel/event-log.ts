import type { AnyEvent, AnyEventType, Audience, DomainEvent, EphemeralEvent } from './event.js';
import type { EventQueue } from './event-queue.js';
import type { EventSeq, MessageId, RealmId, UnixSeconds, UserId } from './ids.js';

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

/** What presenting an event reads of whoever receives it; a feature adds what it looks up, by declaration merging. */
export interface Receiver {
  readonly userId: UserId;
}

/**
 * What has to be looked up before an event can be presented to somebody, beyond what it holds itself. A feature adds what
 * it can look up, by declaration merging.
 */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it.
export interface EventNeeds {}

/** What delivery has to know of each type of event; whoever presents events says it. */
export interface EventCatalogue {
  /** Whether a queue with this presentation gets anything of such an event. */
  wants(presentation: EventQueue['presentation'], type: AnyEventType): boolean;
  /** Null: nothing, as for most. */
  needsOf(event: AnyEvent): EventNeeds | null;
}

/** An event on its way to a client. */
export type Delivery = LoggedDelivery | EphemeralDelivery;

export interface LoggedDelivery {
  readonly stored: StoredEvent;
  /** Seen for being public, not for being received: a message then has no flags. */
  readonly isNotSubscriber: boolean;
  readonly receiver: Receiver;
}

export interface EphemeralDelivery {
  readonly ephemeral: EphemeralEvent;
  /** Its id: it has none in the log. */
  readonly position: number;
  readonly receiver: Receiver;
}
