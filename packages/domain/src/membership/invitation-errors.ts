import { declareErrors } from '../kernel/errors.js';
import type { InvitationError } from './invitees.js';

export const INVITATION_ERRORS = declareErrors({
  /** Of the wrong length. */
  INVALID_INVITATION_KEY: 'invalid',
  UNKNOWN_INVITATION: 'unknown',
  /** Or revoked, or used. */
  INVITATION_EXPIRED: 'conflict',
  /** Only those who were invited join. */
  INVITATION_REQUIRED: 'forbidden',
  /** The address has to be confirmed by mail first. */
  EMAIL_UNCONFIRMED: 'conflict',
  /** No address is given. */
  INVITEES_REQUIRED: 'invalid',
  TOO_MANY_INVITEES: 'invalid',
  TOO_MANY_INVITATIONS: 'conflict',
  INVITATION_REVOKED: 'conflict',
  CANNOT_INVITE_WITH_ROLE: 'forbidden',
  NOT_INVITER: 'forbidden',
  CANNOT_SUBSCRIBE_OTHERS: 'forbidden',
  INVITATION_FAILED: 'conflict',
});

type InvitationErrors = typeof INVITATION_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends InvitationErrors {}

  interface ErrorDetails {
    INVITATION_FAILED: {
      readonly errors: readonly InvitationError[];
      readonly sentInvitations: boolean;
      readonly licenseLimitReached: boolean;
      readonly dailyLimitReached: boolean;
    };
  }
}
