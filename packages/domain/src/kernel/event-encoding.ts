import type { Audiences } from './delivery.js';
import type { DomainEvent, EventFormat, EventFormats } from './event.js';
import type { Announcement, EncodedEvent, EncodedRow, LoggedEvent, StoredEvent } from './event-log.js';
import {
  type EventQueue,
  packIds,
  type QueueFilter,
  type QueueNarrowTerm,
  type UnreadableQueue,
  unpackIds,
} from './event-queue.js';
import type { DomainEventTypes } from './feature-types.js';
import type { MessageId } from './ids.js';

/** Estimated length of an id in a list, including its comma. */
const ID_LENGTH = 8;

/** Stored form of an event that leaves out what is read from a message. */
export interface EventReference {
  /** Type of the stored form. */
  readonly type: string;
  readonly messageId: MessageId;
  /** Length of the texts left out. */
  readonly length: number;
}

/** Row of the log before its content is read. */
export interface ReferringEvent<Reference> extends Omit<StoredEvent, 'event'> {
  readonly reference: Reference;
}

/** Events that are stored as references. */
export interface ReferenceRules<Reference extends EventReference> {
  readonly type: Reference['type'];
  readonly format: number;
  /** Returns null for events that are stored as they are. */
  refer(event: DomainEvent): Reference | null;
}

/** Encodes events for the log and decodes them. */
export interface EventEncoding<Reference> {
  readonly encodeEvent: (announcement: Announcement) => EncodedEvent;
  /** Never throws; returns an `UnreadableEvent` for an unreadable row. */
  readonly decodeEvent: (row: EncodedRow) => LoggedEvent | ReferringEvent<Reference>;
  /** Approximate size of a row and its decoded event without packing, and with the texts left out. */
  readonly sizeOf: (
    row: Pick<EncodedRow, 'payload' | 'audience'>,
    logged: LoggedEvent | ReferringEvent<Reference>,
  ) => number;
  /** Replacement for an event with deleted content. */
  readonly blankEvent: EncodedEvent;
}

export function eventEncoding<Reference extends EventReference>(
  formats: EventFormats<DomainEventTypes>,
  parseAudience: Audiences['parseAudience'],
  references: ReferenceRules<Reference>,
): EventEncoding<Reference> {
  const known: Readonly<Record<string, EventFormat>> = { ...formats, [references.type]: references.format };

  const encodeEvent: EventEncoding<Reference>['encodeEvent'] = ({ event, audience, quotes = null }) => {
    const reference = references.refer(event);
    const stored = reference ?? packed(event);
    return {
      format: writtenBy(known[stored.type]!),
      payload: JSON.stringify(stored),
      audience: JSON.stringify(audience),
      quotes: reference ? null : quotes,
    };
  };

  const decodeEvent: EventEncoding<Reference>['decodeEvent'] = ({ realmId, seq, at, quotes, ...encoded }) => {
    const audience = parseAudience(parseJson(encoded.audience));
    const unreadable = (reason: string, isNewer = false): LoggedEvent => ({
      ...{ realmId, seq, at, audience, reason },
      ...(isNewer && { isNewer }),
    });
    const event = parseJson(encoded.payload) as Partial<DomainEvent | Reference> | null | undefined;
    const type = event?.type;
    if (type === undefined) return unreadable('its payload is damaged');
    if (!Object.hasOwn(known, type)) return unreadable(`its type, ${String(type).slice(0, 60)}, is unknown`, true);
    const newest = writtenBy(known[type]!) + 1;
    if (encoded.format < readBy(known[type]!) || encoded.format > newest) {
      return unreadable(`format ${encoded.format} of ${type} is unknown`, encoded.format > newest);
    }
    if (!audience) return unreadable('its audience is damaged');
    if (type === references.type) {
      const reference = event as Reference;
      return { realmId, seq, at, quotes: reference.messageId, audience, reference };
    }
    const whole = unpacked(event as DomainEvent);
    if (!whole) return unreadable('its list of messages is damaged');
    return { realmId, seq, at, quotes, audience, event: whole };
  };

  const sizeOf: EventEncoding<Reference>['sizeOf'] = ({ payload, audience }, logged) =>
    payload.length +
    audience.length +
    ('event' in logged && 'messageIds' in logged.event ? ID_LENGTH * logged.event.messageIds.length : 0) +
    ('reference' in logged ? logged.reference.length : 0);

  const blankEvent = encodeEvent({ event: { type: 'blank' }, audience: { kind: 'nobody' } });
  return { encodeEvent, decodeEvent, sizeOf, blankEvent };
}

const writtenBy = (format: EventFormat): number => (typeof format === 'number' ? format : format.writes);
const readBy = (format: EventFormat): number => (typeof format === 'number' ? format : format.reads);

/** Events that mark or delete a topic list all of its messages. */
const packed = (event: DomainEvent) =>
  'messageIds' in event ? { ...event, messageIds: packIds(event.messageIds) } : event;

/** Returns null if the list of messages is damaged. */
function unpacked(event: DomainEvent): DomainEvent | null {
  if (!('messageIds' in event) || Array.isArray(event.messageIds)) return event;
  const messageIds = unpackIds(event.messageIds);
  return messageIds && { ...event, messageIds: messageIds as MessageId[] };
}

/** Returns undefined if the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Queue in its stored form. */
export interface EncodedQueue extends Omit<EventQueue, 'filter' | 'presentation'> {
  /** JSON text. */
  readonly filter: string;
  readonly presentation: string;
}

/** Encodes queues for storage and decodes them. */
export interface QueueEncoding {
  readonly encodeQueue: (queue: EventQueue) => EncodedQueue;
  /** Never throws; returns an `UnreadableQueue` for an unreadable row. */
  readonly decodeQueue: (row: EncodedQueue) => EventQueue | UnreadableQueue;
}

/** `isKnown` returns true if the narrow term is supported for queues. */
export function queueEncoding(isKnown: (term: QueueNarrowTerm) => boolean): QueueEncoding {
  function isFilter(value: object): value is QueueFilter {
    const { allPublicChannels, narrow } = value as Partial<QueueFilter>;
    return typeof allPublicChannels === 'boolean' && Array.isArray(narrow) && narrow.every(isNarrowTerm);
  }

  function isNarrowTerm(value: unknown): boolean {
    const { operator, operand } = (value ?? {}) as Readonly<Record<string, unknown>>;
    return isText(operator) && isText(operand) && isKnown({ operator, operand });
  }

  return {
    encodeQueue: (queue) => ({
      ...queue,
      filter: JSON.stringify(queue.filter),
      presentation: JSON.stringify(queue.presentation),
    }),
    decodeQueue(row) {
      const filter = parseObject(row.filter);
      const presentation = decodePresentation(row.presentation);
      if (!filter || !isFilter(filter)) return { id: row.id, ownerId: row.ownerId, reason: 'its filter is damaged' };
      if (!presentation) return { id: row.id, ownerId: row.ownerId, reason: 'its presentation is damaged' };
      return { ...row, filter, presentation };
    },
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Returns null if the text is damaged. */
export const decodePresentation = (text: string): EventQueue['presentation'] | null => parseObject(text);

/** Returns null if the text is not a JSON object. */
function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null;
  } catch {
    return null;
  }
}
