import { BASIC_CHALLENGE } from '../kernel/challenges.js';
import type { WireErrors } from '../kernel/wire-error.js';

export const AUTHENTICATION_WIRE_ERRORS = {
  UNAUTHENTICATED: { status: 401, code: 'UNAUTHORIZED', headers: BASIC_CHALLENGE },
  AUTHENTICATION_FAILED: { status: 401, code: 'AUTHENTICATION_FAILED' },
  PASSWORD_AUTH_DISABLED: { status: 401, code: 'PASSWORD_AUTH_DISABLED' },
} as const satisfies WireErrors;
