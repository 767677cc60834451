import { queueEncoding } from '../events/event-queue-format.js';
import { queueConditionOf } from '../messages/queue-narrow.js';

export const { encodeQueue, decodeQueue } = queueEncoding((term) => queueConditionOf(term) !== null);
