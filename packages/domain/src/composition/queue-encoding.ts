import { loadQueueDefaults } from '../bots/queue-defaults.js';
import type { QueueNarrowTerm } from '../events/event-queue.js';
import { queueEncoding } from '../events/event-queue-format.js';
import type { QueueFilters } from '../events/use-cases/register-queue.js';
import { queueConditionOf } from '../messages/queue-narrow.js';

/** Whether queues can be narrowed by it. */
const isQueueNarrowTerm = (term: QueueNarrowTerm): boolean => queueConditionOf(term) !== null;

/** What queues can be narrowed by, and are where nothing is said. */
export const QUEUE_FILTERS: QueueFilters = { isSupported: isQueueNarrowTerm, loadDefaults: loadQueueDefaults };

export const { encodeQueue, decodeQueue } = queueEncoding(isQueueNarrowTerm);
