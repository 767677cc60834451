import type { BusHint } from './bus.js';
import type { AnyEvent, AnyEventType, Audience, DomainEvent, EphemeralEvent } from './event.js';
import type { EventQueue } from './event-queue.js';
import type { EventNeeds, Receiver } from './feature-types.js';
import type { EventSeq, MessageId, RealmId, UnixSeconds, UserId } from './ids.js';

/** Event with its audience, which is determined in the transaction of the change. */
export interface Announcement {
  readonly event: DomainEvent;
  readonly audience: Audience;
  /** Message quoted by the event; its deletion blanks the event. */
  readonly quotes?: MessageId;
}

export interface StoredEvent {
  readonly realmId: RealmId;
  readonly seq: EventSeq;
  readonly event: DomainEvent;
  readonly audience: Audience;
  readonly at: UnixSeconds;
  /** Quoted message; null if none. */
  readonly quotes: MessageId | null;
}

/** Event in its stored form. */
export interface EncodedEvent {
  readonly format: number;
  /** JSON text. */
  readonly payload: string;
  readonly audience: string;
  /** Message with content in the payload; null if there is none. */
  readonly quotes: MessageId | null;
}

export interface EncodedRow extends EncodedEvent {
  readonly realmId: RealmId;
  readonly seq: EventSeq;
  readonly at: UnixSeconds;
}

/** Row of the log that this version cannot read because it is damaged or has an unknown format. */
export interface UnreadableEvent {
  readonly realmId: RealmId;
  readonly seq: EventSeq;
  readonly at: UnixSeconds;
  /** Null if the audience cannot be read either. */
  readonly audience: Audience | null;
  /** Reason for operators, without content of the row. */
  readonly reason: string;
  /** True if a server with a newer release can read the event. */
  readonly isNewer?: boolean;
}

/** Log entry at a position. */
export type LoggedEvent = StoredEvent | UnreadableEvent;

export const isReadable = (logged: LoggedEvent): logged is StoredEvent => 'event' in logged;

/** True if the log continues with this event after `after`, without lost events in between. */
export const follows = (logged: LoggedEvent | undefined, after: number): logged is LoggedEvent =>
  logged !== undefined &&
  (logged.seq === after + 1 || (isReadable(logged) && logged.event.type === 'forked' && logged.event.after === after));

export interface LogEnd {
  readonly realmId: RealmId;
  /** Seq of the newest event, even if pruned. */
  readonly seq: EventSeq;
  /** Last pruned seq; 0 before any pruning. */
  readonly prunedUpTo: number;
}

export interface EventReads {
  /** Returns the seq of the newest event, even if pruned. Each realm has events from its creation on. */
  lastSeq(realmId: RealmId): Promise<EventSeq>;
  /** Returns the log ends of these realms, by default of all realms, by ascending id. */
  listLastSeqs(realmIds?: readonly RealmId[]): Promise<readonly LogEnd[]>;
  /**
   * Returns at most `limit` events in ascending order, and stops after the event that reaches `maxBytes` of JSON.
   * Unreadable rows are returned as such. A sent message is returned as it was sent, by its present sender, and as
   * `blank` once it is deleted.
   */
  listAfter(realmId: RealmId, after: EventSeq, limit: number, maxBytes?: number): Promise<readonly LoggedEvent[]>;
  /** Returns at most `limit` events after `after` in their stored form, in ascending order. */
  listRows(realmId: RealmId, after: number, limit: number): Promise<readonly EncodedRow[]>;
  /** Returns the last pruned seq; 0 before any pruning. */
  prunedUpTo(realmId: RealmId): Promise<number>;
  /**
   * Returns the newest event at which the total size from there to the end of the log exceeds `bytes`, including
   * audiences; 0 if there is none. The cost does not depend on the length of the log.
   */
  seqBeyond(realmId: RealmId, bytes: number): Promise<number>;
}

/** Every implementation passes event-log.contract.ts. */
export interface EventLog extends EventReads {
  /** Appends an event in the transaction of its change. Seq order is commit order. */
  append(realmId: RealmId, announcement: Announcement): Promise<void>;
  /** Replaces the payload of an event; null makes it blank. The event `blanked` empties caches. */
  replace(realmId: RealmId, seq: EventSeq, payload: string | null): Promise<void>;
  /** Replaces events that quote these messages with `blank` rows, and appends `blanked`. */
  blank(realmId: RealmId, messageIds: readonly MessageId[]): Promise<void>;
  /**
   * Removes up to `limit` of the oldest events up to this seq that are older than `before`. Returns the number removed;
   * less than `limit` if none are left.
   */
  prune(realmId: RealmId, upTo: EventSeq, before: UnixSeconds, limit: number): Promise<number>;
  /** Removes the oldest events beyond `maxBytes` (see `seqBeyond`), even if queues or consumers need them. */
  shrink(realmId: RealmId, maxBytes: number): Promise<void>;
}

declare module './feature-types.js' {
  interface Receiver {
    readonly userId: UserId;
  }
  interface RepositoryMap {
    events: [reads: EventReads, repository: EventLog];
  }
  interface UnitChanges {
    /** Events as stored, in seq order within a realm. */
    readonly events: readonly StoredEvent[];
  }
  interface BusHintTypes {
    /** The organization's log contains this event. `events` may hold the events of its commit. */
    committed: { readonly seq: EventSeq; readonly events?: readonly StoredEvent[] };
  }
}

/** Receives events after each commit, in seq order within a realm. */
export interface EventListener {
  onEvents(events: readonly StoredEvent[]): void;
  /** Called for an event that this version cannot read; in-memory state of the realm may be outdated. */
  onUnreadable?(event: UnreadableEvent): void;
  /** Called for messages from other servers. */
  onHint?(realmId: RealmId, hint: BusHint): void;
  /** Returns true to keep following the realm although no unit of work uses it. */
  holds?(realmId: RealmId): boolean;
  /** Called when events of the realm no longer arrive; all cached data of the realm must be dropped. */
  onClosed?(realmId: RealmId): void;
  /** Called after `onClosed` when the log has lost the events between these two. */
  onForked?(realmId: RealmId, after: EventSeq, before: number): void;
}

/** Log of events from other servers, as far as this server has read it. */
export interface FollowedLog {
  /** Returns false if the log could not be read for some seconds, so that revocations may have been missed. */
  isCurrent(): boolean;
}

/** Delivery properties of each event type, provided by the presenting adapter. */
export interface EventCatalogue {
  /** Returns true if a queue with this presentation receives any part of such an event. */
  wants(presentation: EventQueue['presentation'], type: AnyEventType): boolean;
  /** Returns null for most events, which need no look-up. */
  needsOf(event: AnyEvent, presentation: EventQueue['presentation']): EventNeeds | null;
  /** True if a queue with this presentation receives all messages of its owner, if it receives any. */
  isWhole(presentation: EventQueue['presentation']): boolean;
}

/** Event on its way to a client. */
export type Delivery = LoggedDelivery | EphemeralDelivery;

export interface LoggedDelivery {
  readonly stored: StoredEvent;
  /** True if the owner sees a public event without having received its message; such a message has no flags. */
  readonly isNotSubscriber: boolean;
  readonly receiver: Receiver;
}

export interface EphemeralDelivery {
  readonly ephemeral: EphemeralEvent;
  /** Position used as event id, because the log assigns none. */
  readonly position: number;
  readonly receiver: Receiver;
}
