import type { EventQueue, QueueFilter, QueueNarrowTerm, UnreadableQueue } from './event-queue.js';

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
