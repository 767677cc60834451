import {
  channelId,
  formatDecision,
  inTeam,
  makeActor,
  makeChannel,
  makeGroup,
  makeRealm,
  makeSystemGroup,
  systemGroup,
  TEAM,
  tableRows,
  userId,
} from '@parley/testkit';
import type { Role } from '../access/roles.js';
import {
  canChangeInvitation,
  canInvite,
  canInviteAs,
  canInviteIntoChannels,
  canInviteIntoGroups,
  canUseInvitations,
  effectiveWelcomeText,
  type InvitationRights,
  isTooNewToInvite,
  presentOffer,
  seesAllInvitations,
} from './invitations.js';

const INSUFFICIENT = 'NOT_PERMITTED: Insufficient permission';
const NO_GUESTS = 'MUST_NOT_BE_GUEST: Not allowed for guest users';
const NO_BOTS = 'MUST_NOT_BE_BOT: This endpoint does not accept bot requests.';
const OWNERS = 'MUST_BE_OWNER: Must be an organization owner';
// Deliberate: the reference server uses a different code here than for administrator-only operations.
const NOT_INVITER = 'NOT_INVITER: Must be an organization administrator';
const ADMINISTRATORS = 'CANNOT_INVITE_WITH_ROLE: Must be an organization administrator';

describe('canInvite and canInviteAs', () => {
  it.each(
    tableRows(`
      who           | link         | email
      owner         | yes          | yes
      administrator | yes          | yes
      moderator     | insufficient | yes
      member        | insufficient | yes
      guest         | no guests    | no guests
    `),
  )('default permission of %s to invite by %s: %s', (role, kind, expected) => {
    const said = { yes: 'yes', insufficient: INSUFFICIENT, 'no guests': NO_GUESTS }[expected];
    expect(formatDecision(canInvite(makeActor(role as Role), makeRealm(), kind as 'link'))).toBe(said);
  });

  it('allows users with the permission and denies bots', () => {
    const realm = makeRealm({
      permissionOverrides: { createMultiuseInvite: TEAM, canInviteUsers: systemGroup.nobody },
    });
    expect(formatDecision(canInvite(inTeam('member'), realm, 'link'))).toBe('yes');
    expect(formatDecision(canInvite(inTeam('owner'), realm, 'email'))).toBe(INSUFFICIENT);
    expect(formatDecision(canInvite(makeActor('owner'), realm, 'link'))).toBe(INSUFFICIENT);
    expect(formatDecision(canInvite(inTeam('guest'), realm, 'link'))).toBe(NO_GUESTS);
    expect(formatDecision(canInvite(makeActor('member', { isBot: true, groups: [TEAM] }), realm, 'link'))).toBe(
      NO_BOTS,
    );
    expect(formatDecision(canInvite(makeActor('guest', { isBot: true }), realm, 'link'))).toBe(NO_GUESTS);
    expect(formatDecision(canUseInvitations(makeActor('member')))).toBe('yes');
    expect(formatDecision(canUseInvitations(makeActor('member', { isBot: true })))).toBe(NO_BOTS);
  });

  it.each(
    tableRows(`
      inviter       | owner  | administrator | moderator | member | guest
      owner         | yes    | yes           | yes       | yes    | yes
      administrator | owners | yes           | yes       | yes    | yes
      moderator     | owners | admins        | yes       | yes    | yes
      member        | owners | admins        | admins    | yes    | yes
    `),
  )('permission of %s to invite as %s: %s', (inviter, role, expected) => {
    const said = { yes: 'yes', owners: OWNERS, admins: ADMINISTRATORS }[expected];
    expect(formatDecision(canInviteAs(makeActor(inviter as Role), role as Role))).toBe(said);
  });

  describe('canInviteIntoChannels', () => {
    const mayNot = 'CANNOT_SUBSCRIBE_OTHERS: You do not have permission to subscribe other users to channels.';
    const into = (id: number, given: Parameters<typeof makeChannel>[0] = {}, isSubscribed = false) => ({
      id: channelId(id),
      channel: makeChannel({ id: channelId(id), ...given }),
      isSubscribed,
    });
    const nobodyAdds = makeRealm({ permissionOverrides: { canAddSubscribers: systemGroup.nobody } });
    const ask = (actor: Parameters<typeof canInviteIntoChannels>[0], ...channels: ReturnType<typeof into>[]) =>
      formatDecision(canInviteIntoChannels(actor, nobodyAdds, channels));

    it('allows an empty list', () => {
      expect(ask(makeActor('member'))).toBe('yes');
    });

    it('allows default channels for every inviter', () => {
      expect(ask(makeActor('member'), into(30, { isDefault: true }))).toBe('yes');
      expect(ask(makeActor('member'), into(30, { isDefault: true }), into(31))).toBe(mayNot);
    });

    it('allows other channels only for inviters who may add subscribers', () => {
      expect(ask(makeActor('administrator'), into(30))).toBe('yes');
      expect(ask(makeActor('moderator'), into(30))).toBe(mayNot);
      expect(ask(inTeam('member'), into(30, { permissionOverrides: { canAddSubscribers: TEAM } }))).toBe('yes');
      expect(ask(inTeam('member'), into(30, { permissionOverrides: { canAdministerChannel: TEAM } }))).toBe('yes');
      expect(ask(inTeam('member'), into(30, { permissionOverrides: { canSubscribe: TEAM } }))).toBe(mayNot);
      expect(formatDecision(canInviteIntoChannels(makeActor('member'), makeRealm(), [into(30)]))).toBe('yes');
    });

    it('reports the first inaccessible channel before missing permissions', () => {
      const unknown = (id: number) => `UNKNOWN_CHANNEL: Invalid channel ID ${id}. No invites were sent.`;
      const missing = { id: channelId(99), channel: null, isSubscribed: false };
      expect(formatDecision(canInviteIntoChannels(makeActor('owner'), nobodyAdds, [into(30), missing]))).toBe(
        unknown(99),
      );
      const secret = into(31, { privacy: 'privateSharedHistory' });
      expect(ask(makeActor('owner'), secret)).toBe(unknown(31));
      expect(ask(makeActor('owner'), { ...secret, isSubscribed: true })).toBe('yes');
      expect(ask(makeActor('member'), into(30), secret)).toBe(unknown(31));
      expect(ask(makeActor('owner'), into(32, { isArchived: true }, true))).toBe(unknown(32));
    });
  });

  it('allows only invitations into groups to which the inviter may add members', () => {
    const addable = makeGroup({ permissionOverrides: { canAddMembers: TEAM } });
    const ask = (...groups: Parameters<typeof canInviteIntoGroups>[2]) =>
      formatDecision(canInviteIntoGroups(inTeam('member'), makeRealm(), groups));
    expect(ask()).toBe('yes');
    expect(ask(addable)).toBe('yes');
    expect(ask(addable, null)).toBe('UNKNOWN_GROUP: Invalid user group');
    expect(ask(makeGroup(), null)).toBe(INSUFFICIENT);
    expect(ask(makeSystemGroup('members'))).toBe(INSUFFICIENT);
    expect(ask({ ...addable, isDeactivated: true })).toBe('GROUP_DEACTIVATED: User group is deactivated.');
  });

  describe('presentOffer', () => {
    const realm = makeRealm({
      permissionOverrides: {
        createMultiuseInvite: systemGroup.everyone,
        canAddSubscribers: systemGroup.administrators,
      },
    });
    const [open, restricted, secret] = [30, 31, 32].map(channelId);
    const team = makeGroup({ permissionOverrides: { canAddMembers: systemGroup.administrators } });
    const offered = {
      channels: [
        { id: open!, channel: makeChannel({ id: open!, isDefault: true }), isSubscribed: false },
        { id: restricted!, channel: makeChannel({ id: restricted! }), isSubscribed: false },
        { id: secret!, channel: makeChannel({ id: secret!, privacy: 'privateSharedHistory' }), isSubscribed: false },
        { id: channelId(99), channel: null, isSubscribed: false },
      ],
      groups: [team, null],
    };
    const invitation = (role: Role, kind: 'link' | 'email' = 'link') => ({
      kind,
      role,
      channelIds: [],
      groupIds: [],
      includesDefaultChannels: true,
      welcomeText: 'Hello',
    });
    const offerOf = (inviter: Role, role: Role) => presentOffer(makeActor(inviter), realm, invitation(role), offered);

    it.each(
      tableRows(`
        inviter       | owner | administrator | moderator | member | guest
        owner         | yes   | yes           | yes       | yes    | yes
        administrator | void  | yes           | yes       | yes    | yes
        moderator     | void  | void          | yes       | yes    | yes
        member        | void  | void          | void      | yes    | yes
        guest         | void  | void          | void      | void   | void
      `),
    )('determines whether an invitation by %s to become %s still counts: %s', (inviter, role, expected) => {
      expect(offerOf(inviter as Role, role as Role)?.role).toBe(expected === 'yes' ? role : undefined);
    });

    it('keeps the parts that the inviter may still offer', () => {
      const everything = { channelIds: [open, restricted], groupIds: [team.id], welcomeText: 'Hello' };
      expect(offerOf('administrator', 'member')).toEqual({
        ...everything,
        role: 'member',
        includesDefaultChannels: true,
      });
      expect(offerOf('member', 'member')).toMatchObject({ channelIds: [open], groupIds: [], welcomeText: null });
    });

    it('requires an active inviter with the permission for the kind of invitation', () => {
      expect(presentOffer(null, realm, invitation('member'), offered)).toBeNull();
      const nobodyInvites = makeRealm({ permissionOverrides: { canInviteUsers: systemGroup.nobody } });
      const byEmail = (by: typeof realm) =>
        presentOffer(makeActor('owner'), by, invitation('member', 'email'), offered);
      expect(byEmail(nobodyInvites)).toBeNull();
      expect(byEmail(realm)).not.toBeNull();
    });
  });

  it('ignores the custom welcome message of non-administrators', () => {
    expect(effectiveWelcomeText(makeActor('administrator'), 'Hello')).toBe('Hello');
    expect(effectiveWelcomeText(makeActor('owner'), '')).toBe('');
    expect(effectiveWelcomeText(makeActor('owner'), null)).toBeNull();
    expect(effectiveWelcomeText(makeActor('moderator'), 'Hello')).toBeNull();
  });

  it.each`
    who                | invited  | domains  | age               | tooNew
    ${'member'}        | ${false} | ${false} | ${3 * 86_400 - 1} | ${true}
    ${'member'}        | ${false} | ${false} | ${3 * 86_400}     | ${false}
    ${'moderator'}     | ${false} | ${false} | ${0}              | ${true}
    ${'administrator'} | ${false} | ${false} | ${0}              | ${false}
    ${'member'}        | ${true}  | ${false} | ${0}              | ${false}
    ${'member'}        | ${false} | ${true}  | ${0}              | ${true}
  `('treats $who of $age seconds (invitation needed $invited, domains listed $domains) as too new: $tooNew', (row) => {
    const settings = { inviteRequired: row.invited, emailsRestrictedToDomains: row.domains };
    expect(isTooNewToInvite(makeActor(row.who), makeRealm({ settings }), 1000, 1000 + row.age)).toBe(row.tooNew);
  });
});

describe('canChangeInvitation', () => {
  const none = 'UNKNOWN_INVITATION: No such invitation';
  const invitation = (given: Partial<InvitationRights> = {}): InvitationRights => ({
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
    ${'moderator'}     | ${{}}                                       | ${NOT_INVITER}
    ${'member'}        | ${{ inviterId: userId(10) }}                | ${'yes'}
    ${'member'}        | ${{ inviterId: null }}                      | ${NOT_INVITER}
    ${'administrator'} | ${{ inviterId: null }}                      | ${'yes'}
    ${'administrator'} | ${{ inviterId: null, kind: 'email' }}       | ${none}
    ${'administrator'} | ${{ isRevoked: true }}                      | ${'INVITATION_REVOKED: Invitation has already been revoked'}
    ${'moderator'}     | ${{ isRevoked: true }}                      | ${NOT_INVITER}
    ${'administrator'} | ${{ isRevoked: true, kind: 'email' }}       | ${none}
    ${'administrator'} | ${{ kind: 'email' }}                        | ${'yes'}
    ${'guest'}         | ${{ inviterId: userId(10) }}                | ${NO_GUESTS}
  `('decides whether $who may revoke or resend $given: $expected', ({ who, given, expected }) => {
    expect(formatDecision(canChangeInvitation(makeActor(who, { id: 10 }), invitation(given)))).toBe(expected);
  });

  it('denies bots and rejects unknown invitations', () => {
    const bot = makeActor('owner', { id: 10, isBot: true });
    expect(formatDecision(canChangeInvitation(bot, invitation({ inviterId: userId(10) })))).toBe(NO_BOTS);
    expect(formatDecision(canChangeInvitation(makeActor('member'), null))).toBe(none);
  });

  it('shows all invitations only to administrators', () => {
    expect(seesAllInvitations(makeActor('administrator'))).toBe(true);
    expect(seesAllInvitations(makeActor('moderator'))).toBe(false);
  });
});
