import type { InvitationError } from '@parley/domain/invitations';

/** Organization §9.3: `[email, message, is_deactivated_account]` each. */
export const presentInvitationErrors = (errors: readonly InvitationError[]) =>
  errors.map(({ email, message, isDeactivated }) => [email, message, isDeactivated]);
