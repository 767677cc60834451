import type { QueueNarrowTerm } from '../events/event-queue.js';
import { queueEncoding } from '../events/event-queue-format.js';
import { queueConditionOf } from '../messages/queue-narrow.js';

/** Whether queues can be narrowed by it. */
export const isQueueNarrowTerm = (term: QueueNarrowTerm): boolean => queueConditionOf(term) !== null;

export const { encodeQueue, decodeQueue } = queueEncoding(isQueueNarrowTerm);
