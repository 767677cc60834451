import { allowed, type Decision, denied } from '../kernel/permission.js';
import { type AddressFault, addressFaultText } from '../users/joining-address.js';

/** What somebody invited by mail turned out to be. The last three cannot be invited; the others but `new` refuse all. */
export type InviteeState = 'new' | 'malformed' | AddressFault | 'hasAccount' | 'isDeactivated' | 'isSystemBot';

export interface Invitee {
  /** As it was typed, without a name around it. */
  readonly email: string;
  readonly state: InviteeState;
}

/** Why an address was not invited. */
export interface InvitationError {
  readonly email: string;
  readonly message: string;
  /** Whether an account with this address was deactivated. */
  readonly isDeactivated: boolean;
}

export interface InvitationOutcome {
  /** To be sent, in the given order. */
  readonly invited: readonly string[];
  /** To be enforced once these invitations are committed: refusing some does not undo the others. */
  readonly decision: Decision;
}

/** Organization §9.3, the group INVITATION_FAILED, after the checks of the request. `isTooNew`: `isTooNewToInvite`. */
export function judgeInvitees(
  invitees: readonly Invitee[],
  { hasReachedDailyLimit, isTooNew }: { readonly hasReachedDailyLimit: boolean; readonly isTooNew: boolean },
): InvitationOutcome {
  if (hasReachedDailyLimit) {
    return nobody(
      'To protect users, Zulip limits the number of invitations you can send in one day. ' +
        'Because you have reached the limit, no invitations were sent.',
      [],
      true,
    );
  }
  if (isTooNew) {
    return nobody(
      'Your account is too new to send invites for this organization. ' +
        'Ask an organization admin, or a more experienced user.',
      [],
    );
  }
  const bad: InvitationError[] = [];
  const skipped: InvitationError[] = [];
  for (const { email, state } of invitees) {
    if (state === 'new') continue;
    const list = isSkipped(state) ? skipped : bad;
    list.push({ email, message: errorText(email, state), isDeactivated: state === 'isDeactivated' });
  }
  if (bad.length > 0) {
    return nobody("Some emails did not validate, so we didn't send any invitations.", [...bad, ...skipped]);
  }
  const invited = invitees.filter(({ state }) => state === 'new').map(({ email }) => email);
  if (invited.length === 0) return nobody("We weren't able to invite anyone.", skipped);
  if (skipped.length === 0) return { invited, decision: allowed };
  const message =
    "Some of those addresses are already using Zulip, so we didn't send them an invitation. " +
    'We did send invitations to everyone else!';
  return { invited, decision: failed(message, skipped, { sentInvitations: true }) };
}

const nobody = (message: string, errors: readonly InvitationError[], dailyLimitReached = false): InvitationOutcome => ({
  invited: [],
  decision: failed(message, errors, { dailyLimitReached }),
});

const failed = (
  message: string,
  errors: readonly InvitationError[],
  { sentInvitations = false, dailyLimitReached = false }: { sentInvitations?: boolean; dailyLimitReached?: boolean },
): Decision =>
  // Nothing here is sold by the seat.
  denied('INVITATION_FAILED', message, { errors, sentInvitations, licenseLimitReached: false, dailyLimitReached });

const SKIPPED_TEXTS = {
  hasAccount: 'Already has an account.',
  isDeactivated: 'Account has been deactivated.',
  isSystemBot: 'Reserved for system bots.',
} as const satisfies Partial<Record<InviteeState, string>>;

const isSkipped = (state: InviteeState): state is keyof typeof SKIPPED_TEXTS => state in SKIPPED_TEXTS;

function errorText(email: string, state: Exclude<InviteeState, 'new'>): string {
  if (state === 'malformed') return 'Invalid address.';
  return isSkipped(state) ? SKIPPED_TEXTS[state] : addressFaultText('invitation', email, state);
}
