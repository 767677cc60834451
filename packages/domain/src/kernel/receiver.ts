import type { AnyEvent, AnyEventType, EphemeralEvent } from './event.js';
import type { StoredEvent } from './event-log.js';
import type { EventQueue } from './event-queue.js';
import type { UserId } from './ids.js';

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
