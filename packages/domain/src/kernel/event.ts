import { declareErrors } from './errors.js';
import type { PersonPart, RealmPart } from './export-parts.js';
import type { AudienceTypes, DomainEventTypes, EphemeralEventTypes } from './feature-types.js';
import type { EventSeq, MessageId, RealmId, UserId } from './ids.js';
import type { RowRules } from './rows.js';
import type { Transaction } from './unit-of-work.js';

/** True for events that only maintain the log itself. */
export const isMaintenance = ({ type }: Pick<DomainEvent, 'type'>): boolean =>
  type === 'blank' || type === 'blanked' || type === 'forked' || type === 'restarted';

export type DomainEventType = keyof DomainEventTypes;
export type EphemeralEventType = keyof EphemeralEventTypes;
export type AnyEventType = DomainEventType | EphemeralEventType;

type AnyEventTypes = DomainEventTypes & EphemeralEventTypes;

/** Event of this type or, for a union, of one of its types. */
export type EventOf<T extends AnyEventType> = { [K in T]: { readonly type: K } & AnyEventTypes[K] }[T];

/** Any logged event. */
export type DomainEvent = EventOf<DomainEventType>;
export type EphemeralEvent = EventOf<EphemeralEventType>;
export type AnyEvent = DomainEvent | EphemeralEvent;

/**
 * Storage format of each event type of a feature. Adding a key increments the number; servers of the previous release
 * ignore the key. Any other change is a new type.
 */
export type EventFormats<Types> = { readonly [T in keyof Types]: EventFormat };

/** Number of the format. `reads`: oldest readable number, so that an upgrade ends no queue. */
export type EventFormat = number | { readonly writes: number; readonly reads: number };

/** Feature parts that `composition/features.ts` combines. */
export interface FeatureParts<Types> {
  readonly eventFormats: EventFormats<Types>;
  readonly personPart?: PersonPart;
  readonly realmPart?: RealmPart;
  /** Repositories of rows that all storages keep in the same way, by name. */
  readonly rows?: Readonly<Record<string, RowRules>>;
  /** Repositories that exports do not read by name, with the reason. */
  readonly notExported?: NotExported;
}

export type NotExported = { readonly [Name in keyof Transaction]?: string };

export const EVENT_FEATURE = {
  eventFormats: { blank: 1, blanked: 1, forked: 1, restarted: 1, 'queue.last_expired': 1 },
  notExported: {
    consumers: 'They belong to the host application.',
    events: 'Clients register anew.',
    queues: 'Clients register anew.',
  },
};

/** Kinds of audience that are independent of features. */
export interface BaseAudienceTypes {
  nobody: unknown;
  /** All users. */
  realm: unknown;
  users: { readonly ids: readonly UserId[] };
  queue: { readonly id: string };
  anyOf: { readonly of: readonly Audience[] };
  allOf: { readonly of: readonly Audience[] };
  except: { readonly from: Audience; readonly without: Audience };
}

export type AudienceKind = keyof AudienceTypes;
export type AudienceOf<K extends AudienceKind> = { [T in K]: { readonly kind: T } & AudienceTypes[T] }[K];

/**
 * Receivers of an event: a set expression over the active users of the realm as of the event. Its size does not depend
 * on the size of a channel or the realm.
 */
export type Audience = AudienceOf<AudienceKind>;

export const nobody: Audience = { kind: 'nobody' };
export const wholeRealm: Audience = { kind: 'realm' };
export const users = (ids: readonly UserId[]): Audience => ({ kind: 'users', ids });
export const anyOf = (...of: readonly Audience[]): Audience => ({ kind: 'anyOf', of });
export const allOf = (...of: readonly Audience[]): Audience => ({ kind: 'allOf', of });
export const except = (from: Audience, without: Audience): Audience => ({ kind: 'except', from, without });

export interface EphemeralAnnouncement {
  readonly event: EphemeralEvent;
  readonly audience: Audience;
}

/** Publishes events that are never stored. Called after the transaction, because they are not part of the commit. */
export interface EphemeralEvents {
  publishEphemeral(realmId: RealmId, announcement: EphemeralAnnouncement): void;
}

export const EVENT_ERRORS = declareErrors({
  /** The queue has expired or never existed: register again; `queueId`. */
  UNKNOWN_EVENT_QUEUE: 'unknown',
  /** The queue has not delivered such an event. */
  UNKNOWN_EVENT: 'unknown',
  /** These events were already acknowledged. */
  EVENTS_PRUNED: 'conflict',
  /** The filter of the queue is too long. */
  EVENT_QUEUE_FILTER_TOO_LONG: 'invalid',
  /** The caller may not read all public channels. */
  CANNOT_FOLLOW_ALL_PUBLIC_CHANNELS: 'forbidden',
  /** Queues do not support this operator. */
  UNSUPPORTED_QUEUE_OPERATOR: 'invalid',
  /** `parley.consume`: only letters, digits and `. _ : -`. */
  INVALID_CONSUMER_NAME: 'invalid',
  /** `parley.consume`: too many consumers. */
  TOO_MANY_CONSUMERS: 'conflict',
});

type EventErrors = typeof EVENT_ERRORS;

declare module './feature-types.js' {
  interface DomainEventTypes {
    /** Row without content: its positions serve ephemeral events, or its content was deleted. */
    blank: unknown;
    /** The log no longer has the content of these messages, or former content if there are none. Sent to nobody. */
    blanked: { readonly messageIds: readonly MessageId[] };
    /**
     * The database was replaced by one with a log that ends at `after`. Events after `after` are lost, and their numbers
     * are not reused. Sent to nobody.
     */
    forked: { readonly after: EventSeq };
    /** Objects were added without events. Caches drop the realm, and its event queues end. Sent to nobody. */
    restarted: unknown;
  }
  interface AudienceTypes extends BaseAudienceTypes {}
  interface ErrorCodes extends EventErrors {}

  interface ErrorDetails {
    UNKNOWN_EVENT_QUEUE: { readonly queueId: string };
  }
}
