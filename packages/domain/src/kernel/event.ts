import type { Transaction } from './unit-of-work.js';

/**
 * All events: each type with its data, in plain JSON values (maps are lists of pairs), with everything that the forms for
 * different clients need. A feature adds its own by declaration merging, in its `<feature>-events.ts`.
 */
export interface DomainEventTypes {
  /** A row without content: its positions are used for ephemeral events, or its content was deleted. */
  blank: unknown;
}

/** The same for ephemeral events: they are not logged, and reach live queues at most once. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it.
export interface EphemeralEventTypes {}

export type DomainEventType = keyof DomainEventTypes;
export type EphemeralEventType = keyof EphemeralEventTypes;
export type AnyEventType = DomainEventType | EphemeralEventType;

type AnyEventTypes = DomainEventTypes & EphemeralEventTypes;

/** The event of this type; of several types, any of them. */
export type EventOf<T extends AnyEventType> = { [K in T]: { readonly type: K } & AnyEventTypes[K] }[T];

/** Everything that is logged. */
export type DomainEvent = EventOf<DomainEventType>;
export type EphemeralEvent = EventOf<EphemeralEventType>;
export type AnyEvent = DomainEvent | EphemeralEvent;

/**
 * In which shape each type of a feature's events is stored. A change after which this version's events cannot be read by an
 * older one, or the other way round, raises its type's number: queues that would have to read such an event register again.
 */
export type EventFormats<Types> = { readonly [T in keyof Types]: number };

/** A feature's share of what the domain puts together; see `composition/features.ts`. */
export interface FeatureParts<Types> {
  readonly eventFormats: EventFormats<Types>;
  /** Repositories that exports do not read by name, and why. */
  readonly notExported?: NotExported;
}

export type NotExported = { readonly [Name in keyof Transaction]?: string };

export const EVENT_FEATURE = {
  eventFormats: { blank: 1 },
  notExported: {
    consumers: 'They belong to the host application.',
    events: 'Clients register anew.',
    queues: 'Clients register anew.',
  },
};
