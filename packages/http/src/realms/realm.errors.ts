import type { WireErrors } from '../kernel/wire-error.js';

export const REALM_WIRE_ERRORS = {
  UNKNOWN_REALM: { status: 404, code: 'NONEXISTENT_SUBDOMAIN' },
  REALM_DEACTIVATED: { status: 401, code: 'REALM_DEACTIVATED' },
} as const satisfies WireErrors;
