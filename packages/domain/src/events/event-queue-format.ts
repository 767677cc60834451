import type { EventQueue, QueueFilter, UnreadableQueue } from './event-queue.js';
import { queueConditionOf } from './queue-narrow.js';

/** A queue as storage keeps it. */
export interface EncodedQueue extends Omit<EventQueue, 'filter' | 'presentation'> {
  /** JSON, both. */
  readonly filter: string;
  readonly presentation: string;
}

export const encodeQueue = (queue: EventQueue): EncodedQueue => ({
  ...queue,
  filter: JSON.stringify(queue.filter),
  presentation: JSON.stringify(queue.presentation),
});

/** Never throws: what cannot be read says so. */
export function decodeQueue(row: EncodedQueue): EventQueue | UnreadableQueue {
  const filter = parseObject(row.filter);
  const presentation = parseObject(row.presentation);
  if (!filter || !isFilter(filter)) return { id: row.id, ownerId: row.ownerId, reason: 'its filter is damaged' };
  if (!presentation) return { id: row.id, ownerId: row.ownerId, reason: 'its presentation is damaged' };
  return { ...row, filter, presentation };
}

function isFilter(value: object): value is QueueFilter {
  const { types, allPublicChannels, narrow } = value as Partial<QueueFilter>;
  return (
    (types === null || (Array.isArray(types) && types.every(isText))) &&
    typeof allPublicChannels === 'boolean' &&
    Array.isArray(narrow) &&
    narrow.every(isNarrowTerm)
  );
}

function isNarrowTerm(value: unknown): boolean {
  const { operator, operand } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return isText(operator) && isText(operand) && queueConditionOf({ operator, operand }) !== null;
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
