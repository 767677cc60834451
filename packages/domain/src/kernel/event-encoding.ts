import type { Audiences } from './delivery.js';
import type { DomainEvent, DomainEventTypes, EventFormats } from './event.js';
import type { Announcement, LoggedEvent } from './event-log.js';
import {
  type EventQueue,
  packIds,
  type QueueFilter,
  type QueueNarrowTerm,
  type UnreadableQueue,
  unpackIds,
} from './event-queue.js';
import type { EventSeq, MessageId, RealmId, UnixSeconds } from './ids.js';

/** Of one in a list, with its comma. */
const ID_LENGTH = 8;

/** An event as storage keeps it. */
export interface EncodedEvent {
  readonly format: number;
  /** JSON, both. */
  readonly payload: string;
  readonly audience: string;
}

export interface EncodedRow extends EncodedEvent {
  readonly realmId: RealmId;
  readonly seq: EventSeq;
  readonly at: UnixSeconds;
  readonly quotes: MessageId | null;
}

/** How events are written to the log and read from it. */
export interface EventEncoding {
  readonly encodeEvent: (announcement: Pick<Announcement, 'event' | 'audience'>) => EncodedEvent;
  /** Never throws: what cannot be read is answered as unreadable. */
  readonly decodeEvent: (row: EncodedRow) => LoggedEvent;
  /** Of a row and what it was decoded to, about: of the text, were nothing of it packed. */
  readonly sizeOf: (row: Pick<EncodedRow, 'payload' | 'audience'>, logged: LoggedEvent) => number;
  /** What is left of an event whose content is gone. */
  readonly blankEvent: EncodedEvent;
}

export function eventEncoding(
  formats: EventFormats<DomainEventTypes>,
  parseAudience: Audiences['parseAudience'],
): EventEncoding {
  const encodeEvent: EventEncoding['encodeEvent'] = ({ event, audience }) => ({
    format: formats[event.type],
    payload: JSON.stringify(packed(event)),
    audience: JSON.stringify(audience),
  });

  const decodeEvent: EventEncoding['decodeEvent'] = ({ realmId, seq, at, quotes, ...encoded }) => {
    const audience = parseAudience(parseJson(encoded.audience));
    const unreadable = (reason: string): LoggedEvent => ({ realmId, seq, at, audience, reason });
    const event = parseJson(encoded.payload) as Partial<DomainEvent> | null | undefined;
    const type = event?.type;
    if (type === undefined) return unreadable('its payload is damaged');
    if (!Object.hasOwn(formats, type)) return unreadable(`its type, ${String(type).slice(0, 60)}, is unknown`);
    if (encoded.format !== formats[type]) return unreadable(`format ${encoded.format} of ${type} is unknown`);
    if (!audience) return unreadable('its audience is damaged');
    const whole = unpacked(event as DomainEvent);
    if (!whole) return unreadable('its list of messages is damaged');
    return { realmId, seq, at, quotes, audience, event: whole };
  };

  const sizeOf: EventEncoding['sizeOf'] = ({ payload, audience }, logged) =>
    payload.length +
    audience.length +
    ('event' in logged && 'messageIds' in logged.event ? ID_LENGTH * logged.event.messageIds.length : 0);

  const blankEvent = encodeEvent({ event: { type: 'blank' }, audience: { kind: 'nobody' } });
  return { encodeEvent, decodeEvent, sizeOf, blankEvent };
}

/** What marks or deletes a topic names all of its messages. */
const packed = (event: DomainEvent): unknown =>
  'messageIds' in event ? { ...event, messageIds: packIds(event.messageIds) } : event;

/** Null where its list of messages is damaged. */
function unpacked(event: DomainEvent): DomainEvent | null {
  if (!('messageIds' in event) || Array.isArray(event.messageIds)) return event;
  const messageIds = unpackIds(event.messageIds);
  return messageIds && { ...event, messageIds: messageIds as MessageId[] };
}

/** Undefined where the text is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A queue as storage keeps it. */
export interface EncodedQueue extends Omit<EventQueue, 'filter' | 'presentation'> {
  /** JSON, both. */
  readonly filter: string;
  readonly presentation: string;
}

/** How queues are stored, and read again. */
export interface QueueEncoding {
  readonly encodeQueue: (queue: EventQueue) => EncodedQueue;
  /** Never throws: what cannot be read is answered as unreadable. */
  readonly decodeQueue: (row: EncodedQueue) => EventQueue | UnreadableQueue;
}

/** `isKnown`: whether queues can be narrowed by a term. */
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
      const presentation = parseObject(row.presentation);
      if (!filter || !isFilter(filter)) return { id: row.id, ownerId: row.ownerId, reason: 'its filter is damaged' };
      if (!presentation) return { id: row.id, ownerId: row.ownerId, reason: 'its presentation is damaged' };
      return { ...row, filter, presentation };
    },
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Null where the text is no JSON, or not an object's. */
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
