import type { WireErrors } from '../kernel/wire-error.js';
import { presentInvitationErrors } from './invitation.presenters.js';

export const INVITATION_WIRE_ERRORS = {
  INVITATION_FAILED: {
    code: 'INVITATION_FAILED',
    fields: {
      errors: 'errors',
      sentInvitations: 'sent_invitations',
      licenseLimitReached: 'license_limit_reached',
      dailyLimitReached: 'daily_limit_reached',
    },
    present: { errors: presentInvitationErrors },
  },
} as const satisfies WireErrors;
