import {
  answer,
  cells,
  channelId,
  groupId,
  plainActor,
  plainChannel,
  plainGroup,
  plainRealm,
  plainSystemGroup,
  systemGroup,
  userId,
} from '@parley/testkit';
import type { Role } from '../users/role.js';
import {
  canChangeInvitation,
  canInvite,
  canInviteAs,
  canInviteIntoChannels,
  canInviteIntoGroups,
  canUseInvitations,
  effectiveWelcomeText,
  type InvitationGrants,
  isTooNewToInvite,
  seesAllInvitations,
} from './invitation-permissions.js';

const TEAM = groupId(50);
const INSUFFICIENT = 'NOT_PERMITTED: Insufficient permission';
const NO_GUESTS = 'NOT_PERMITTED: Not allowed for guest users';
const NO_BOTS = 'NOT_PERMITTED: This endpoint does not accept bot requests.';
const OWNERS = 'MUST_BE_OWNER: Must be an organization owner';
// Sic: another reason than where the operation is for administrators.
const ADMINISTRATORS = 'NOT_PERMITTED: Must be an organization administrator';

const inTeam = (role: Role) => plainActor(role, { groups: [TEAM] });

describe('inviting', () => {
  it.each(
    cells(`
      who           | link         | email
      owner         | yes          | yes
      administrator | yes          | yes
      moderator     | insufficient | yes
      member        | insufficient | yes
      guest         | no guests    | no guests
    `),
  )('%s by %s, by default: %s', (role, kind, expected) => {
    const said = { yes: 'yes', insufficient: INSUFFICIENT, 'no guests': NO_GUESTS }[expected];
    expect(answer(canInvite(plainActor(role as Role), plainRealm(), kind as 'link'))).toBe(said);
  });

  it('is for those who are granted it, and people', () => {
    const realm = plainRealm({ grants: { createMultiuseInvite: TEAM, canInviteUsers: systemGroup.nobody } });
    expect(answer(canInvite(inTeam('member'), realm, 'link'))).toBe('yes');
    expect(answer(canInvite(inTeam('owner'), realm, 'email'))).toBe(INSUFFICIENT);
    expect(answer(canInvite(plainActor('owner'), realm, 'link'))).toBe(INSUFFICIENT);
    expect(answer(canInvite(inTeam('guest'), realm, 'link'))).toBe(NO_GUESTS);
    expect(answer(canInvite(plainActor('member', { isBot: true, groups: [TEAM] }), realm, 'link'))).toBe(NO_BOTS);
    expect(answer(canInvite(plainActor('guest', { isBot: true }), realm, 'link'))).toBe(NO_GUESTS);
    expect(answer(canUseInvitations(plainActor('member')))).toBe('yes');
    expect(answer(canUseInvitations(plainActor('member', { isBot: true })))).toBe(NO_BOTS);
  });

  it.each(
    cells(`
      inviter       | owner  | administrator | moderator | member | guest
      owner         | yes    | yes           | yes       | yes    | yes
      administrator | owners | yes           | yes       | yes    | yes
      moderator     | owners | admins        | yes       | yes    | yes
      member        | owners | admins        | admins    | yes    | yes
    `),
  )('%s invites somebody as %s: %s', (inviter, role, expected) => {
    const said = { yes: 'yes', owners: OWNERS, admins: ADMINISTRATORS }[expected];
    expect(answer(canInviteAs(plainActor(inviter as Role), role as Role))).toBe(said);
  });

  describe('into channels', () => {
    const mayNot = 'NOT_PERMITTED: You do not have permission to subscribe other users to channels.';
    const into = (id: number, given: Parameters<typeof plainChannel>[0] = {}, isSubscribed = false) => ({
      id: channelId(id),
      channel: plainChannel({ id: channelId(id), ...given }),
      isSubscribed,
    });
    const nobodyAdds = plainRealm({ grants: { canAddSubscribers: systemGroup.nobody } });
    const ask = (actor: Parameters<typeof canInviteIntoChannels>[0], ...channels: ReturnType<typeof into>[]) =>
      answer(canInviteIntoChannels(actor, nobodyAdds, channels));

    it('takes none', () => {
      expect(ask(plainActor('member'))).toBe('yes');
    });

    it('takes those that newcomers are put into anyway', () => {
      expect(ask(plainActor('member'), into(30, { isDefault: true }))).toBe('yes');
      expect(ask(plainActor('member'), into(30, { isDefault: true }), into(31))).toBe(mayNot);
    });

    it('takes others from those who may add people', () => {
      expect(ask(plainActor('administrator'), into(30))).toBe('yes');
      expect(ask(plainActor('moderator'), into(30))).toBe(mayNot);
      expect(ask(inTeam('member'), into(30, { grants: { canAddSubscribers: TEAM } }))).toBe('yes');
      expect(ask(inTeam('member'), into(30, { grants: { canAdministerChannel: TEAM } }))).toBe('yes');
      expect(ask(inTeam('member'), into(30, { grants: { canSubscribe: TEAM } }))).toBe(mayNot);
      expect(answer(canInviteIntoChannels(plainActor('member'), plainRealm(), [into(30)]))).toBe('yes');
    });

    it('names the first that is not there for the inviter, before all else', () => {
      const unknown = (id: number) => `INVALID_INPUT: Invalid channel ID ${id}. No invites were sent.`;
      const missing = { id: channelId(99), channel: null, isSubscribed: false };
      expect(answer(canInviteIntoChannels(plainActor('owner'), nobodyAdds, [into(30), missing]))).toBe(unknown(99));
      const secret = into(31, { privacy: 'privateSharedHistory' });
      expect(ask(plainActor('owner'), secret)).toBe(unknown(31));
      expect(ask(plainActor('owner'), { ...secret, isSubscribed: true })).toBe('yes');
      expect(ask(plainActor('member'), into(30), secret)).toBe(unknown(31));
      expect(ask(plainActor('owner'), into(32, { isArchived: true }, true))).toBe(unknown(32));
    });
  });

  it('into groups takes those that the inviter may add people to', () => {
    const addable = plainGroup({ grants: { canAddMembers: TEAM } });
    const ask = (...groups: Parameters<typeof canInviteIntoGroups>[2]) =>
      answer(canInviteIntoGroups(inTeam('member'), plainRealm(), groups));
    expect(ask()).toBe('yes');
    expect(ask(addable)).toBe('yes');
    expect(ask(addable, null)).toBe('INVALID_INPUT: Invalid user group');
    expect(ask(plainGroup(), null)).toBe(INSUFFICIENT);
    expect(ask(plainSystemGroup('members'))).toBe(INSUFFICIENT);
    expect(ask({ ...addable, isDeactivated: true })).toBe('INVALID_INPUT: User group is deactivated.');
  });

  it('only administrators choose what newcomers are told', () => {
    expect(effectiveWelcomeText(plainActor('administrator'), 'Hello')).toBe('Hello');
    expect(effectiveWelcomeText(plainActor('owner'), '')).toBe('');
    expect(effectiveWelcomeText(plainActor('owner'), null)).toBeNull();
    expect(effectiveWelcomeText(plainActor('moderator'), 'Hello')).toBeNull();
  });

  it.each`
    who                | invited  | domains  | age               | tooNew
    ${'member'}        | ${false} | ${false} | ${3 * 86_400 - 1} | ${true}
    ${'member'}        | ${false} | ${false} | ${3 * 86_400}     | ${false}
    ${'moderator'}     | ${false} | ${false} | ${0}              | ${true}
    ${'administrator'} | ${false} | ${false} | ${0}              | ${false}
    ${'member'}        | ${true}  | ${false} | ${0}              | ${false}
    ${'member'}        | ${false} | ${true}  | ${0}              | ${true}
  `('$who of $age seconds, invitation needed $invited, domains listed $domains: too new $tooNew', (row) => {
    const settings = { inviteRequired: row.invited, emailsRestrictedToDomains: row.domains };
    expect(isTooNewToInvite(plainActor(row.who), plainRealm({ settings }), 1000, 1000 + row.age)).toBe(row.tooNew);
  });
});

describe('invitations that were made', () => {
  const none = 'INVALID_INPUT: No such invitation';
  const invitation = (given: Partial<InvitationGrants> = {}): InvitationGrants => ({
    kind: 'link',
    inviterId: userId(11),
    role: 'member',
    isRevoked: false,
    ...given,
  });

  it.each`
    who                | given                                       | expected
    ${'owner'}         | ${{ role: 'owner' }}                        | ${'yes'}
    ${'administrator'} | ${{ role: 'owner' }}                        | ${OWNERS}
    ${'member'}        | ${{ role: 'owner' }}                        | ${OWNERS}
    ${'member'}        | ${{ role: 'owner', inviterId: userId(10) }} | ${'yes'}
    ${'administrator'} | ${{}}                                       | ${'yes'}
    ${'moderator'}     | ${{}}                                       | ${ADMINISTRATORS}
    ${'member'}        | ${{ inviterId: userId(10) }}                | ${'yes'}
    ${'member'}        | ${{ inviterId: null }}                      | ${ADMINISTRATORS}
    ${'administrator'} | ${{ inviterId: null }}                      | ${'yes'}
    ${'administrator'} | ${{ inviterId: null, kind: 'email' }}       | ${none}
    ${'administrator'} | ${{ isRevoked: true }}                      | ${'INVALID_INPUT: Invitation has already been revoked'}
    ${'moderator'}     | ${{ isRevoked: true }}                      | ${ADMINISTRATORS}
    ${'administrator'} | ${{ isRevoked: true, kind: 'email' }}       | ${none}
    ${'administrator'} | ${{ kind: 'email' }}                        | ${'yes'}
    ${'guest'}         | ${{ inviterId: userId(10) }}                | ${NO_GUESTS}
  `('are revoked or sent again by $who: $given: $expected', ({ who, given, expected }) => {
    expect(answer(canChangeInvitation(plainActor(who, { id: 10 }), invitation(given)))).toBe(expected);
  });

  it('are none of a bot, and there is none with an unknown id', () => {
    const bot = plainActor('owner', { id: 10, isBot: true });
    expect(answer(canChangeInvitation(bot, invitation({ inviterId: userId(10) })))).toBe(NO_BOTS);
    expect(answer(canChangeInvitation(plainActor('member'), null))).toBe(none);
  });

  it('administrators see all of them, others their own', () => {
    expect(seesAllInvitations(plainActor('administrator'))).toBe(true);
    expect(seesAllInvitations(plainActor('moderator'))).toBe(false);
  });
});
