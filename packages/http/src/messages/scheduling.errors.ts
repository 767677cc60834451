import type { WireErrors } from '../kernel/wire-error.js';

export const SCHEDULING_WIRE_ERRORS = {
  UNKNOWN_SCHEDULED_MESSAGE: { status: 404 },
  UNKNOWN_REMINDER: { status: 404 },
} as const satisfies WireErrors;
