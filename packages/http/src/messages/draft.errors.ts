import type { WireErrors } from '../kernel/wire-error.js';

export const DRAFT_WIRE_ERRORS = {
  UNKNOWN_DRAFT: { status: 404 },
} as const satisfies WireErrors;
