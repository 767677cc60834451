import { declareErrors } from '../shared/errors.js';

export const INVITATION_ERRORS = declareErrors({
  UNKNOWN_INVITATION: 'unknown',
  INVITATION_REVOKED: 'conflict',
  CANNOT_INVITE_WITH_ROLE: 'forbidden',
  NOT_INVITER: 'forbidden',
  CANNOT_SUBSCRIBE_OTHERS: 'forbidden',
  /** `errors`: see `InvitationError`; `sentInvitations`, `licenseLimitReached`, `dailyLimitReached`. */
  INVITATION_FAILED: 'conflict',
});

type InvitationErrors = typeof INVITATION_ERRORS;

declare module '../shared/errors.js' {
  interface ErrorCodes extends InvitationErrors {}
}
