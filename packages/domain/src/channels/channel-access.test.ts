import {
  channelGranting,
  formatDecision,
  inTeam,
  makeActor,
  makeChannel,
  makeRealm,
  PRIVACY_BY_KIND,
  tableRows,
} from '@parley/testkit';
import type { Role } from '../access/roles.js';
import { CHANNEL_PERMISSIONS, type ChannelPermission } from './channel.js';
import {
  canListSubscribers,
  canReadActive,
  canReadContent,
  canReadFullHistory,
  canSeeActive,
  canSeeMetadata,
  canSpectate,
  canSpectateChannel,
} from './channel-access.js';

const UNKNOWN = 'UNKNOWN_CHANNEL: Invalid channel ID';

/** `M C H`: sees metadata, reads content, reads full history; `-`: no access. */
function access(...[actor, channel, isSubscribed]: Parameters<typeof canReadContent>): string {
  const letters = [
    canSeeMetadata(actor, channel, isSubscribed).allowed ? 'M' : '',
    canReadContent(actor, channel, isSubscribed).allowed ? 'C' : '',
    canReadFullHistory(actor, channel, isSubscribed).allowed ? 'H' : '',
  ];
  return letters.filter((letter) => letter !== '').join(' ') || '-';
}

describe('canSeeActive', () => {
  it('requires an active channel with visible metadata', () => {
    const privateChannel = makeChannel({ privacy: 'privateSharedHistory' });
    const member = makeActor('member');
    expect(formatDecision(canSeeActive(member, privateChannel, true))).toBe('yes');
    expect(formatDecision(canSeeActive(makeActor('administrator'), privateChannel, false))).toBe('yes');
    expect(formatDecision(canSeeActive(member, privateChannel, false))).toBe(UNKNOWN);
    expect(formatDecision(canSeeActive(member, { ...privateChannel, isArchived: true }, true))).toBe(UNKNOWN);
  });
});

describe('channel access to metadata (M), content (C) and history (H)', () => {
  it.each(
    tableRows(`
      who           | web-public | public | private, shared history | private, protected history
      owner         | M C H      | M C H  | M                       | M
      administrator | M C H      | M C H  | M                       | M
      moderator     | M C H      | M C H  | -                       | -
      member        | M C H      | M C H  | -                       | -
      guest         | M C H      | -      | -                       | -
    `),
  )('decides access of a %s outside a %s channel: %s', (role, kind, expected) => {
    expect(access(makeActor(role as Role), makeChannel({ privacy: PRIVACY_BY_KIND[kind]! }), false)).toBe(expected);
    expect(
      access(makeActor(role as Role), makeChannel({ privacy: PRIVACY_BY_KIND[kind]!, isArchived: true }), false),
    ).toBe(expected);
  });

  it.each(
    tableRows(`
      who           | web-public | public | private, shared history | private, protected history
      owner         | M C H      | M C H  | M C H                   | M C
      administrator | M C H      | M C H  | M C H                   | M C
      moderator     | M C H      | M C H  | M C H                   | M C
      member        | M C H      | M C H  | M C H                   | M C
      guest         | M C H      | M C H  | M C H                   | M C
    `),
  )('decides access of a %s subscribed to a %s channel: %s', (role, kind, expected) => {
    expect(access(makeActor(role as Role), makeChannel({ privacy: PRIVACY_BY_KIND[kind]! }), true)).toBe(expected);
  });

  it.each(
    tableRows(`
      permission                   | web-public | public | private, shared history | private, protected history
      canAdministerChannel         | M C H      | M C H  | M                       | M
      canAddSubscribers            | M C H      | M C H  | M C H                   | M C
      canSubscribe                 | M C H      | M C H  | M C H                   | M C
      canCreateTopic               | M C H      | M C H  | -                       | -
      canDeleteAnyMessage          | M C H      | M C H  | -                       | -
      canDeleteOwnMessage          | M C H      | M C H  | -                       | -
      canMoveMessagesOutOfChannel  | M C H      | M C H  | -                       | -
      canMoveMessagesWithinChannel | M C H      | M C H  | -                       | -
      canRemoveSubscribers         | M C H      | M C H  | -                       | -
      canResolveTopics             | M C H      | M C H  | -                       | -
      canSendMessage               | M C H      | M C H  | -                       | -
    `),
  )('decides if a member with %s outside a %s channel has access: %s', (permission, kind, expected) => {
    const channel = channelGranting(permission as ChannelPermission, PRIVACY_BY_KIND[kind]!);
    expect(access(inTeam('member'), channel, false)).toBe(expected);
    // Guests gain nothing from any of these permissions.
    expect(access(inTeam('guest'), channel, false)).toBe(kind === 'web-public' ? 'M C H' : '-');
  });

  it('covers every channel permission', () => {
    expect(Object.keys(CHANNEL_PERMISSIONS)).toHaveLength(11);
  });

  it('reports a hidden channel like a missing one', () => {
    const hidden = makeChannel({ privacy: 'privateSharedHistory' });
    for (const can of [canSeeMetadata, canReadContent, canReadFullHistory, canReadActive, canListSubscribers]) {
      expect(formatDecision(can(makeActor('member'), hidden, false))).toBe(UNKNOWN);
    }
  });

  it('treats an archived channel as unknown if the operation requires an active one', () => {
    expect(formatDecision(canReadActive(makeActor('member'), makeChannel({ isArchived: true }), true))).toBe(UNKNOWN);
    expect(formatDecision(canReadActive(makeActor('member'), makeChannel(), false))).toBe('yes');
  });

  const NOT_LOGGED_IN = 'UNAUTHENTICATED: Not logged in: API authentication or user session required';

  it.each`
    server   | organization | exists   | expected
    ${true}  | ${true}      | ${true}  | ${'yes'}
    ${false} | ${true}      | ${true}  | ${NOT_LOGGED_IN}
    ${true}  | ${false}     | ${true}  | ${NOT_LOGGED_IN}
    ${true}  | ${true}      | ${false} | ${NOT_LOGGED_IN}
  `(
    'decides if spectators have access (server $server, organization $organization, web-public channel $exists; protocol §9)',
    (row) => {
      const realm = makeRealm({ settings: { enableSpectatorAccess: row.organization } });
      const access = { webPublicEnabled: row.server, hasWebPublicChannel: row.exists };
      expect(formatDecision(canSpectate(realm, access))).toBe(row.expected);
      expect(formatDecision(canSpectateChannel(realm, { privacy: 'webPublic' }, access))).toBe(row.expected);
    },
  );

  it.each(
    tableRows(`
      who                     | web-public | public  | private, shared history | private, protected history
      who is not logged in    | yes        | unknown | unknown                 | unknown
    `),
  )('decides if a caller %s can read a %s channel: %s', (_, kind, expected) => {
    const realm = makeRealm({ settings: { enableSpectatorAccess: true } });
    const access = { webPublicEnabled: true, hasWebPublicChannel: true };
    expect(formatDecision(canSpectateChannel(realm, { privacy: PRIVACY_BY_KIND[kind]! }, access))).toBe(
      expected === 'unknown' ? UNKNOWN : 'yes',
    );
  });
});

describe('subscriber list access', () => {
  it.each(
    tableRows(`
      who                               | web-public | public | private, shared history | private, protected history
      owner outside                     | yes        | yes    | yes                     | yes
      administrator outside             | yes        | yes    | yes                     | yes
      moderator outside                 | yes        | yes    | no                      | no
      member outside                    | yes        | yes    | no                      | no
      member inside                     | yes        | yes    | yes                     | yes
      guest outside                     | yes        | no     | no                      | no
      guest inside                      | yes        | yes    | yes                     | yes
    `),
  )('decides if a user (%s) can list subscribers of a %s channel: %s', (who, kind, expected) => {
    const [role, where] = who.split(' ');
    const decision = canListSubscribers(
      makeActor(role as Role),
      makeChannel({ privacy: PRIVACY_BY_KIND[kind]! }),
      where === 'inside',
    );
    expect(formatDecision(decision)).toBe(expected === 'no' ? UNKNOWN : 'yes');
  });

  it('allows members who may add subscribers to a private channel to see its subscribers', () => {
    const channel = channelGranting('canAddSubscribers', 'privateProtectedHistory');
    expect(formatDecision(canListSubscribers(inTeam('member'), channel, false))).toBe('yes');
    expect(formatDecision(canListSubscribers(inTeam('guest'), channel, false))).toBe(UNKNOWN);
  });
});
