import type { InvitationError, JoinOutcome, ListedInvitation } from '@parley/domain/membership';
import type { WireFields } from '../kernel/reply.js';
import { presentApiKey } from '../users/authentication.presenters.js';
import { ROLE_NUMBERS } from '../users/user.presenters.js';

/** Organization §9.3: `[email, message, is_deactivated_account]` each. */
export const presentInvitationErrors = (errors: readonly InvitationError[]) =>
  errors.map(({ email, message, isDeactivated }) => [email, message, isDeactivated]);

/** Organization §9.2. */
export const presentInvitation = ({ invitation, link }: ListedInvitation): WireFields => ({
  id: invitation.id,
  invited_by_user_id: invitation.inviterId,
  invited: invitation.invitedAt,
  expiry_date: invitation.expiresAt,
  invited_as: ROLE_NUMBERS[invitation.role],
  is_multiuse: link !== null,
  ...(link === null
    ? { email: invitation.email, notify_referrer_on_join: invitation.notifiesInviter }
    : { link_url: link }),
});

/** Organization §10.7: an account, or the letter that comes before it. */
export const presentJoined = (outcome: JoinOutcome): WireFields =>
  'confirmedBy' in outcome ? { email: outcome.email, confirmation_sent: true } : presentApiKey(outcome);
