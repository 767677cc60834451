import type { QueueNarrowTerm } from '../kernel/event-queue.js';
import { queueEncoding } from '../kernel/event-queue-format.js';
import type { QueueFilters } from '../kernel/use-cases/register-queue.js';
import { loadQueueDefaults } from '../membership/queue-defaults.js';
import { queueConditionOf } from '../messages/queue-narrow.js';

/** Whether queues can be narrowed by it. */
const isQueueNarrowTerm = (term: QueueNarrowTerm): boolean => queueConditionOf(term) !== null;

/** What queues can be narrowed by, and are where nothing is said. */
export const QUEUE_FILTERS: QueueFilters = { isSupported: isQueueNarrowTerm, loadDefaults: loadQueueDefaults };

export const { encodeQueue, decodeQueue } = queueEncoding(isQueueNarrowTerm);
