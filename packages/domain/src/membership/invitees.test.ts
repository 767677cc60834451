import { type Invitee, type InviteeState, judgeInvitees } from './invitations.js';

const may = { hasReachedDailyLimit: false, isTooNew: false };
const people = (...states: readonly InviteeState[]): Invitee[] =>
  states.map((state, index) => ({ email: `${index}@x.org`, state }));
const error = (index: number, message: string, isDeactivated = false) => ({
  email: `${index}@x.org`,
  message,
  isDeactivated,
});
const HAS_ACCOUNT = 'Already has an account.';
const NOT_VALID = "Some emails did not validate, so we didn't send any invitations.";
const NOBODY = "We weren't able to invite anyone.";
const SOME =
  "Some of those addresses are already using Zulip, so we didn't send them an invitation. We did send invitations to everyone else!";

/** Organization §9.3. */
describe('judgeInvitees', () => {
  it('invites every new address', () => {
    expect(judgeInvitees(people('new', 'new'), may)).toEqual({
      invited: ['0@x.org', '1@x.org'],
      decision: { allowed: true },
    });
  });

  it.each<[string, readonly InviteeState[], Partial<typeof may>, readonly string[], string, object]>([
    [
      'the daily limit',
      ['malformed', 'new'],
      { hasReachedDailyLimit: true, isTooNew: true },
      [],
      'To protect users, Zulip limits the number of invitations you can send in one day. Because you have reached the limit, no invitations were sent.',
      { errors: [], dailyLimitReached: true },
    ],
    [
      'a new account',
      ['malformed', 'new'],
      { isTooNew: true },
      [],
      'Your account is too new to send invites for this organization. Ask an organization admin, or a more experienced user.',
      { errors: [] },
    ],
    [
      'an invalid address, before skipped addresses',
      ['hasAccount', 'new', 'malformed', 'outsideDomain', 'disposable', 'containsPlus'],
      {},
      [],
      NOT_VALID,
      {
        errors: [
          error(2, 'Invalid address.'),
          error(3, 'Outside your domain.'),
          error(4, 'Please use your real email address.'),
          error(5, 'Email addresses containing + are not allowed.'),
          error(0, HAS_ACCOUNT),
        ],
      },
    ],
    [
      'a single invalid address',
      ['new', 'malformed', 'new'],
      {},
      [],
      NOT_VALID,
      { errors: [error(1, 'Invalid address.')] },
    ],
    [
      'no recipient',
      ['hasAccount', 'isDeactivated', 'isSystemBot'],
      {},
      [],
      NOBODY,
      {
        errors: [
          error(0, HAS_ACCOUNT),
          error(1, 'Account has been deactivated.', true),
          error(2, 'Reserved for system bots.'),
        ],
      },
    ],
    [
      'addresses with accounts, and invites the others',
      ['new', 'hasAccount', 'new'],
      {},
      ['0@x.org', '2@x.org'],
      SOME,
      { errors: [error(1, HAS_ACCOUNT)], sentInvitations: true },
    ],
  ])('fails for %s', (_, states, given, invited, message, details) => {
    expect(judgeInvitees(people(...states), { ...may, ...given })).toEqual({
      invited,
      decision: {
        allowed: false,
        code: 'INVITATION_FAILED',
        message,
        details: { sentInvitations: false, licenseLimitReached: false, dailyLimitReached: false, ...details },
      },
    });
  });
});
