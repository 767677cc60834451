import {
  channelGranting,
  channelId,
  formatDecision,
  inTeam,
  makeActor,
  makeChannel,
  makeRealm,
  PRIVACY_BY_KIND,
  systemGroup,
  TEAM,
  tableRows,
} from '@parley/testkit';
import type { Role } from '../access/roles.js';
import type { ChannelPermission, ChannelPrivacy, TopicsPolicy } from './channel.js';
import {
  canAdministerChannel,
  canArchiveChannel,
  canChangeChannel,
  canChangeChannelPermission,
  canChangeDefaultChannels,
  canChangePrivacy,
  canChangeTopicsPolicy,
  canCreateChannel,
  canLimitTopicCreation,
  canMakeDefault,
  canManageFolders,
  canSetDeletePolicy,
  canSetRetention,
  canSetTopicsPolicy,
  canStopBeingDefault,
  canUnarchiveChannel,
  type PrivacyRequest,
  proposedPrivacy,
} from './channel-permissions.js';

const UNKNOWN = 'UNKNOWN_CHANNEL: Invalid channel ID';
const INSUFFICIENT = 'NOT_PERMITTED: Insufficient permission';
const NO_GUESTS = 'MUST_NOT_BE_GUEST: Not allowed for guest users';
const MAY_NOT_ADMINISTER = 'CANNOT_ADMINISTER_CHANNEL: You do not have permission to administer this channel.';

describe('channel creation', () => {
  const webPublic = { webPublicEnabled: true };
  const request = (privacy: ChannelPrivacy) =>
    ({ privacy, isDefault: false, topicsPolicy: 'inherit', retentionChosen: false }) as const;
  const realm = makeRealm({ settings: { enableSpectatorAccess: true } });

  it.each(
    tableRows(`
      who           | web-public   | public | private, shared history | private, protected history
      owner         | yes          | yes    | yes                     | yes
      administrator | insufficient | yes    | yes                     | yes
      moderator     | insufficient | yes    | yes                     | yes
      member        | insufficient | yes    | yes                     | yes
      guest         | no guests    | no guests | no guests            | no guests
    `),
  )('decides if a %s may create a %s channel by default: %s', (role, kind, expected) => {
    const said = { yes: 'yes', insufficient: INSUFFICIENT, 'no guests': NO_GUESTS }[expected];
    expect(
      formatDecision(canCreateChannel(makeActor(role as Role), realm, request(PRIVACY_BY_KIND[kind]!), webPublic)),
    ).toBe(said);
  });

  it.each(
    tableRows(`
      the organization lets the team make | web-public   | public       | private, shared history | private, protected history
      public channels                     | insufficient | yes          | insufficient            | insufficient
      private channels                    | insufficient | insufficient | yes                     | yes
      web-public channels                 | insufficient | insufficient | insufficient            | insufficient
      public and web-public channels      | yes          | yes          | insufficient            | insufficient
    `),
  )('decides for a team that may create %s if it may create a %s channel: %s', (what, kind, expected) => {
    const { nobody } = systemGroup;
    const strict = makeRealm({
      settings: { enableSpectatorAccess: true },
      permissionOverrides: {
        canCreatePublicChannel: what.startsWith('public') ? TEAM : nobody,
        canCreatePrivateChannel: what.startsWith('private') ? TEAM : nobody,
        canCreateWebPublicChannel: what.includes('web-public') ? TEAM : nobody,
      },
    });
    const said = expected === 'yes' ? 'yes' : INSUFFICIENT;
    for (const role of ['member', 'owner'] as const) {
      expect(formatDecision(canCreateChannel(inTeam(role), strict, request(PRIVACY_BY_KIND[kind]!), webPublic))).toBe(
        said,
      );
    }
    expect(
      formatDecision(canCreateChannel(makeActor('owner'), strict, request(PRIVACY_BY_KIND[kind]!), webPublic)),
    ).toBe(INSUFFICIENT);
  });

  it('allows web-public channels only if the server and the organization do', () => {
    const disabled = 'WEB_PUBLIC_CHANNELS_DISABLED: Web-public channels are not enabled.';
    const closed = makeRealm({ settings: { enableSpectatorAccess: false } });
    const owner = makeActor('owner');
    expect(formatDecision(canCreateChannel(owner, realm, request('webPublic'), { webPublicEnabled: false }))).toBe(
      disabled,
    );
    expect(formatDecision(canCreateChannel(owner, closed, request('webPublic'), webPublic))).toBe(disabled);
    expect(formatDecision(canCreateChannel(owner, closed, request('public'), { webPublicEnabled: false }))).toBe('yes');
  });

  it.each`
    who                | privacy                   | expected
    ${'owner'}         | ${'public'}               | ${'yes'}
    ${'administrator'} | ${'public'}               | ${'yes'}
    ${'administrator'} | ${'privateSharedHistory'} | ${'DEFAULT_CHANNEL_MUST_BE_PUBLIC: A default channel cannot be private.'}
    ${'moderator'}     | ${'public'}               | ${INSUFFICIENT}
    ${'member'}        | ${'public'}               | ${INSUFFICIENT}
  `('decides if $who may create a $privacy default channel: $expected', ({ who, privacy, expected }) => {
    const asked = { ...request(privacy), isDefault: true };
    expect(formatDecision(canCreateChannel(makeActor(who), realm, asked, webPublic))).toBe(expected);
  });

  it.each`
    who                | expected
    ${'owner'}         | ${'yes'}
    ${'administrator'} | ${'MUST_BE_OWNER: Must be an organization owner'}
    ${'member'}        | ${'MUST_BE_OWNER: Must be an organization owner'}
  `('decides if $who may set message retention: $expected', ({ who, expected }) => {
    const asked = { ...request('public'), retentionChosen: true };
    expect(formatDecision(canCreateChannel(makeActor(who), realm, asked, webPublic))).toBe(expected);
    expect(formatDecision(canSetRetention(makeActor(who)))).toBe(expected);
  });

  it('reports only the first of several violations', () => {
    const { nobody } = systemGroup;
    const hopeless = makeRealm({
      permissionOverrides: { canSetTopicsPolicy: nobody, canCreatePrivateChannel: nobody },
    });
    const everything = {
      privacy: 'privateSharedHistory',
      isDefault: true,
      topicsPolicy: 'emptyTopicOnly',
      retentionChosen: true,
    } as const;
    const off = { webPublicEnabled: false };
    expect(formatDecision(canCreateChannel(makeActor('guest'), hopeless, everything, off))).toBe(NO_GUESTS);
    expect(formatDecision(canCreateChannel(makeActor('member'), hopeless, everything, off))).toBe(INSUFFICIENT);
    expect(formatDecision(canCreateChannel(makeActor('administrator'), realm, everything, off))).toBe(
      'DEFAULT_CHANNEL_MUST_BE_PUBLIC: A default channel cannot be private.',
    );
    // The missing permission for web-public channels is reported before the retention is checked.
    const webPublicOne = { ...everything, privacy: 'webPublic', isDefault: false } as const;
    expect(formatDecision(canCreateChannel(makeActor('administrator'), realm, webPublicOne, webPublic))).toBe(
      INSUFFICIENT,
    );
  });
});

describe('topic and deletion policy', () => {
  it.each(
    tableRows(`
      who           | as the organization | with the empty topic | named topics only | empty topic only
      owner         | yes                 | yes                  | yes               | yes
      administrator | yes                 | yes                  | yes               | yes
      moderator     | yes                 | insufficient         | insufficient      | insufficient
      member        | yes                 | insufficient         | insufficient      | insufficient
      in the team   | yes                 | yes                  | yes               | yes
    `),
  )('decides if a user (%s) may set topics to be %s: %s', (who, policy, expected) => {
    const policies: Record<string, TopicsPolicy> = {
      'as the organization': 'inherit',
      'with the empty topic': 'emptyTopicAllowed',
      'named topics only': 'emptyTopicRefused',
      'empty topic only': 'emptyTopicOnly',
    };
    const realm = makeRealm({ permissionOverrides: { canSetTopicsPolicy: TEAM } });
    const actor = who === 'in the team' ? inTeam('member') : makeActor(who as Role);
    const said = expected === 'yes' ? 'yes' : INSUFFICIENT;
    expect(formatDecision(canSetTopicsPolicy(actor, realm, policies[policy]!))).toBe(said);
    expect(formatDecision(canChangeTopicsPolicy(actor, realm, policies[policy]!, false))).toBe(said);
    const asked = {
      privacy: 'public',
      isDefault: false,
      topicsPolicy: policies[policy]!,
      retentionChosen: false,
    } as const;
    expect(formatDecision(canCreateChannel(actor, realm, asked, { webPublicEnabled: false }))).toBe(said);
  });

  it('requires a channel with named topics to keep allowing them', () => {
    const owner = makeActor('owner');
    // Exact text of protocol §6.3.
    expect(canChangeTopicsPolicy(owner, makeRealm(), 'emptyTopicOnly', true)).toEqual({
      allowed: false,
      code: 'CHANNEL_HAS_NAMED_TOPICS',
      message:
        'To enable this configuration, all messages in this channel must be in the general chat topic. Consider renaming or deleting other topics.',
      details: { emptyTopicDisplayName: 'general chat' },
    });
    expect(formatDecision(canChangeTopicsPolicy(owner, makeRealm(), 'emptyTopicRefused', true))).toBe('yes');
    const strict = makeRealm({ permissionOverrides: { canSetTopicsPolicy: TEAM } });
    expect(formatDecision(canChangeTopicsPolicy(makeActor('member'), strict, 'emptyTopicOnly', true))).toBe(
      INSUFFICIENT,
    );
  });

  it.each`
    who                | expected
    ${'owner'}         | ${'yes'}
    ${'administrator'} | ${'yes'}
    ${'moderator'}     | ${'yes'}
    ${'member'}        | ${INSUFFICIENT}
    ${'guest'}         | ${INSUFFICIENT}
  `('decides if $who may set the delete permissions by default: $expected', ({ who, expected }) => {
    expect(formatDecision(canSetDeletePolicy(makeActor(who), makeRealm()))).toBe(expected);
  });

  it('allows administrators to set the deletion policy even if the permission is granted to nobody', () => {
    const strict = makeRealm({ permissionOverrides: { canSetDeleteMessagePolicy: systemGroup.nobody } });
    expect(formatDecision(canSetDeletePolicy(makeActor('administrator'), strict))).toBe('yes');
    expect(formatDecision(canSetDeletePolicy(makeActor('moderator'), strict))).toBe(INSUFFICIENT);
  });

  it.each`
    privacy                      | who            | expected
    ${'privateProtectedHistory'} | ${'everyone'}  | ${'yes'}
    ${'privateProtectedHistory'} | ${'some only'} | ${'refused'}
    ${'privateSharedHistory'}    | ${'some only'} | ${'yes'}
    ${'public'}                  | ${'some only'} | ${'yes'}
    ${'webPublic'}               | ${'some only'} | ${'yes'}
  `(
    'decides if topic creation may be limited to $who in a $privacy channel: $expected',
    ({ privacy, who, expected }) => {
      const decision = canLimitTopicCreation(privacy, who === 'everyone');
      if (expected === 'yes') expect(formatDecision(decision)).toBe('yes');
      else {
        expect(decision).toMatchObject({ allowed: false, code: 'TOPIC_CREATION_MUST_BE_OPEN' });
      }
    },
  );
});

describe('channel change', () => {
  it.each(
    tableRows(`
      who                                 | public         | private, inside | private, outside
      owner                               | yes            | yes             | yes
      administrator                       | yes            | yes             | yes
      moderator                           | not administer | not administer  | unknown
      member                              | not administer | not administer  | unknown
      member granted canAdministerChannel | yes            | yes             | yes
      member granted canAddSubscribers    | not administer | not administer  | not administer
      guest granted canAdministerChannel  | unknown        | not administer  | unknown
    `),
  )('decides if %s may change a channel (%s): %s', (who, where, expected) => {
    const [role, , permission] = who.split(' ');
    const channel = makeChannel({
      privacy: where === 'public' ? 'public' : 'privateProtectedHistory',
      permissionOverrides: permission === undefined ? {} : { [permission]: TEAM },
    });
    const actor = inTeam(role as Role);
    const isSubscribed = where === 'private, inside';
    const said = { yes: 'yes', 'not administer': MAY_NOT_ADMINISTER, unknown: UNKNOWN }[expected];
    expect(formatDecision(canChangeChannel(actor, channel, isSubscribed))).toBe(said);
    expect(formatDecision(canArchiveChannel(actor, channel, isSubscribed))).toBe(said);
    expect(formatDecision(canAdministerChannel(actor, channel))).toBe(expected === 'yes' ? 'yes' : MAY_NOT_ADMINISTER);
  });

  it('archives a channel only once and unarchives a private channel only if it has subscribers', () => {
    const archived = makeChannel({ isArchived: true });
    const lonely = makeChannel({ isArchived: true, privacy: 'privateSharedHistory' });
    const already = 'CHANNEL_ARCHIVED: Channel is already deactivated';
    expect(formatDecision(canArchiveChannel(makeActor('administrator'), archived, false))).toBe(already);
    expect(formatDecision(canArchiveChannel(makeActor('member'), archived, false))).toBe(MAY_NOT_ADMINISTER);
    expect(formatDecision(canUnarchiveChannel(archived, false))).toBe('yes');
    expect(formatDecision(canUnarchiveChannel(lonely, true))).toBe('yes');
    expect(formatDecision(canUnarchiveChannel(lonely, false))).toBe(
      'CHANNEL_WITHOUT_SUBSCRIBERS: Channel is private and have no subscribers',
    );
    expect(formatDecision(canUnarchiveChannel(makeChannel(), true))).toBe(
      'CHANNEL_NOT_ARCHIVED: Channel is not currently deactivated',
    );
  });

  it.each(
    tableRows(`
      permission                   | administrator, inside | administrator, outside | channel administrator, inside | channel administrator, outside
      canAddSubscribers            | yes                   | content                | yes                           | content
      canAdministerChannel         | yes                   | yes                    | yes                           | yes
      canCreateTopic               | yes                   | yes                    | yes                           | yes
      canDeleteAnyMessage          | yes                   | yes                    | insufficient                  | insufficient
      canDeleteOwnMessage          | yes                   | yes                    | insufficient                  | insufficient
      canMoveMessagesOutOfChannel  | yes                   | yes                    | yes                           | yes
      canMoveMessagesWithinChannel | yes                   | yes                    | yes                           | yes
      canRemoveSubscribers         | yes                   | yes                    | yes                           | yes
      canResolveTopics             | yes                   | yes                    | yes                           | yes
      canSendMessage               | yes                   | yes                    | yes                           | yes
      canSubscribe                 | yes                   | content                | yes                           | content
    `),
  )('decides if %s can be changed by an %s: %s', (permission, who, expected) => {
    const actor = who.startsWith('administrator') ? makeActor('administrator') : inTeam('member');
    const channel = channelGranting('canAdministerChannel', 'privateSharedHistory');
    const said = {
      yes: 'yes',
      content: 'CHANNEL_CONTENT_ACCESS_REQUIRED: Channel content access is required.',
      insufficient: INSUFFICIENT,
    }[expected];
    const decision = canChangeChannelPermission(
      actor,
      makeRealm(),
      channel,
      who.endsWith('inside'),
      permission as ChannelPermission,
    );
    expect(formatDecision(decision)).toBe(said);
  });
});

describe('channel privacy change', () => {
  const off = { webPublicEnabled: false };
  const on = { webPublicEnabled: true };
  const open = makeRealm({ settings: { enableSpectatorAccess: true } });

  it.each`
    now                          | asked                                             | then
    ${'public'}                  | ${{ isPrivate: true }}                            | ${'privateProtectedHistory'}
    ${'public'}                  | ${{ isPrivate: true, hasSharedHistory: true }}    | ${'privateSharedHistory'}
    ${'public'}                  | ${{ isPrivate: true, hasSharedHistory: false }}   | ${'privateProtectedHistory'}
    ${'public'}                  | ${{ hasSharedHistory: false }}                    | ${null}
    ${'public'}                  | ${{}}                                             | ${'public'}
    ${'public'}                  | ${{ isWebPublic: true }}                          | ${'webPublic'}
    ${'public'}                  | ${{ isWebPublic: true, isPrivate: true }}         | ${null}
    ${'public'}                  | ${{ isWebPublic: true, hasSharedHistory: false }} | ${null}
    ${'webPublic'}               | ${{ isPrivate: true }}                            | ${null}
    ${'webPublic'}               | ${{ isWebPublic: false }}                         | ${'public'}
    ${'webPublic'}               | ${{ isWebPublic: false, isPrivate: true }}        | ${'privateProtectedHistory'}
    ${'webPublic'}               | ${{}}                                             | ${'webPublic'}
    ${'privateSharedHistory'}    | ${{}}                                             | ${'privateSharedHistory'}
    ${'privateSharedHistory'}    | ${{ isPrivate: true }}                            | ${'privateProtectedHistory'}
    ${'privateSharedHistory'}    | ${{ hasSharedHistory: false }}                    | ${'privateProtectedHistory'}
    ${'privateSharedHistory'}    | ${{ isPrivate: false }}                           | ${'public'}
    ${'privateSharedHistory'}    | ${{ isWebPublic: true }}                          | ${null}
    ${'privateProtectedHistory'} | ${{}}                                             | ${'privateProtectedHistory'}
    ${'privateProtectedHistory'} | ${{ isPrivate: false }}                           | ${'public'}
    ${'privateProtectedHistory'} | ${{ isPrivate: false, hasSharedHistory: false }}  | ${null}
    ${'privateProtectedHistory'} | ${{ hasSharedHistory: true }}                     | ${'privateSharedHistory'}
    ${'privateProtectedHistory'} | ${{ isPrivate: false, isWebPublic: true }}        | ${'webPublic'}
  `('changes $now with $asked to $then', ({ now, asked, then }) => {
    expect(proposedPrivacy({ privacy: now }, asked)).toBe(then);
    if (then === null) {
      const decision = canChangePrivacy(makeActor('owner'), open, makeChannel({ privacy: now }), true, asked, on);
      expect(formatDecision(decision)).toBe('INVALID_CHANNEL_PRIVACY: Invalid parameters');
    }
  });

  const change = (
    ...[who, channel, isSubscribed, asked, realm = open, server = on]: [
      Parameters<typeof canChangePrivacy>[0],
      Parameters<typeof canChangePrivacy>[2],
      boolean,
      PrivacyRequest,
      typeof open?,
      typeof on?,
    ]
  ) => formatDecision(canChangePrivacy(who, realm, channel, isSubscribed, asked, server));
  const owner = makeActor('owner');
  const secret = makeChannel({ privacy: 'privateSharedHistory' });
  const contentNeeded = 'CHANNEL_CONTENT_ACCESS_REQUIRED: Channel content access is required.';

  it('requires content access to make a channel private or public', () => {
    expect(change(owner, secret, false, { isPrivate: false })).toBe(contentNeeded);
    expect(change(owner, secret, true, { isPrivate: false })).toBe('yes');
    expect(change(makeActor('administrator'), makeChannel(), false, { isPrivate: true })).toBe('yes');
    // Also depends on the permission to create channels of that kind.
    const { nobody } = systemGroup;
    const noPublic = makeRealm({ permissionOverrides: { canCreatePublicChannel: nobody } });
    const noPrivate = makeRealm({ permissionOverrides: { canCreatePrivateChannel: nobody } });
    expect(change(owner, secret, true, { isPrivate: false }, noPublic)).toBe(INSUFFICIENT);
    expect(change(owner, secret, true, { isPrivate: false }, noPrivate)).toBe('yes');
    expect(change(owner, makeChannel(), true, { isPrivate: true }, noPrivate)).toBe(INSUFFICIENT);
    expect(change(owner, makeChannel(), true, { isPrivate: true }, noPublic)).toBe('yes');
  });

  it('requires no content access for changing only the history or the web-public state', () => {
    expect(change(owner, secret, false, { hasSharedHistory: false })).toBe('yes');
    expect(change(owner, makeChannel(), false, { isWebPublic: true })).toBe('yes');
    expect(change(makeActor('administrator'), makeChannel(), true, { isWebPublic: true })).toBe(INSUFFICIENT);
    expect(change(owner, makeChannel(), true, { isWebPublic: true }, open, off)).toBe(
      'WEB_PUBLIC_CHANNELS_DISABLED: Web-public channels are not enabled.',
    );
    expect(change(owner, makeChannel({ privacy: 'webPublic' }), true, { isWebPublic: false }, open, off)).toBe('yes');
    expect(change(owner, makeChannel({ privacy: 'webPublic' }), true, {}, open, off)).toBe('yes');
  });

  it('rejects private default channels', () => {
    const isDefault = 'DEFAULT_CHANNEL_MUST_BE_PUBLIC: A default channel cannot be private.';
    expect(change(owner, makeChannel({ isDefault: true }), true, { isPrivate: true })).toBe(isDefault);
    expect(change(owner, makeChannel({ isDefault: true }), true, { isPrivate: true, isDefault: false })).toBe('yes');
    expect(change(owner, secret, true, { isDefault: true })).toBe(isDefault);
    expect(change(owner, makeChannel(), true, { isDefault: true })).toBe('yes');
    // Reported before the missing permission to make the channel private.
    expect(change(inTeam('guest'), makeChannel({ isDefault: true }), false, { isPrivate: true })).toBe(isDefault);
  });

  it('requires the channel for moderation requests to stay private', () => {
    const reports = makeChannel({ id: channelId(31), privacy: 'privateSharedHistory' });
    const moderated = makeRealm({ settings: { moderationRequestChannelId: channelId(31) } });
    const refusal = 'MODERATION_CHANNEL_MUST_BE_PRIVATE: Moderation request channel must be private.';
    expect(change(owner, reports, false, { isPrivate: false }, moderated)).toBe(refusal);
    expect(change(owner, reports, true, { hasSharedHistory: false }, moderated)).toBe('yes');
    expect(change(owner, secret, true, { isPrivate: false }, moderated)).toBe('yes');
  });
});

describe('default channel permission', () => {
  const mayNot = 'CANNOT_MANAGE_DEFAULT_CHANNEL: You do not have permission to change default channels.';

  it.each`
    who                | expected
    ${'owner'}         | ${'yes'}
    ${'administrator'} | ${'yes'}
    ${'moderator'}     | ${mayNot}
    ${'member'}        | ${mayNot}
    ${'guest'}         | ${mayNot}
  `('decides if $who may change default channels: $expected', ({ who, expected }) => {
    expect(formatDecision(canChangeDefaultChannels(makeActor(who)))).toBe(expected);
    expect(formatDecision(canMakeDefault(makeActor(who), makeChannel(), true))).toBe(expected);
    expect(formatDecision(canStopBeingDefault(makeActor(who), makeChannel(), true))).toBe(expected);
  });

  it('requires an active, non-private channel', () => {
    const administrator = makeActor('administrator');
    const archived = makeChannel({ isArchived: true });
    const secret = makeChannel({ privacy: 'privateSharedHistory' });
    expect(formatDecision(canMakeDefault(administrator, archived, true))).toBe(UNKNOWN);
    expect(formatDecision(canMakeDefault(administrator, secret, false))).toBe(UNKNOWN);
    expect(formatDecision(canMakeDefault(administrator, secret, true))).toBe(
      'DEFAULT_CHANNEL_MUST_BE_PUBLIC: Private channels cannot be made default.',
    );
    expect(formatDecision(canStopBeingDefault(administrator, archived, true))).toBe(UNKNOWN);
    expect(formatDecision(canStopBeingDefault(administrator, secret, false))).toBe('yes');
  });

  it('requires an administrator to manage folders', () => {
    expect(formatDecision(canManageFolders(makeActor('administrator')))).toBe('yes');
    expect(formatDecision(canManageFolders(makeActor('moderator')))).toBe(
      'MUST_BE_ADMINISTRATOR: Must be an organization administrator',
    );
  });
});
