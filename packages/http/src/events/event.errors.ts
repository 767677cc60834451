import type { WireErrors } from '../kernel/wire-error.js';

export const EVENT_WIRE_ERRORS = {
  UNKNOWN_EVENT_QUEUE: {
    code: 'BAD_EVENT_QUEUE_ID',
    fields: { queueId: 'queue_id' },
    text: ({ queueId }, variant) => (variant?.hasOldQueueErrorText ? `Bad event queue id: ${queueId}` : undefined),
  },
} as const satisfies WireErrors;
