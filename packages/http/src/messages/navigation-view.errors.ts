import type { WireErrors } from '../kernel/wire-error.js';

export const NAVIGATION_VIEW_WIRE_ERRORS = {
  UNKNOWN_NAVIGATION_VIEW: { status: 404 },
} as const satisfies WireErrors;
