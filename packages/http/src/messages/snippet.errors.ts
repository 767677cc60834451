import type { WireErrors } from '../kernel/wire-error.js';

export const SNIPPET_WIRE_ERRORS = {
  UNKNOWN_SNIPPET: { status: 404 },
} as const satisfies WireErrors;
