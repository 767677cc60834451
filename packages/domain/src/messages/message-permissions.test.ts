import {
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
  userId,
} from '@parley/testkit';
import { ROLES, type Role } from '../access/roles.js';
import type { ChannelPermission } from '../channels/channel.js';
import type { GroupId, MessageId } from '../kernel/ids.js';
import type { RealmPermission, RealmSettings } from '../realms/realm-settings.js';
import {
  canChangeChannelOf,
  canChangeTopic,
  canDeleteMessage,
  canDeleteTopic,
  canEditContent,
  canMoveInto,
  canMoveWholeTopic,
  canOpenTopicByMoving,
  canReadEditHistory,
  canReadMessage,
  canResolveTopic,
  canSpectateFile,
  canSpectateMessage,
  dependsOnOwnership,
  resolveToggle,
  topicMark,
} from './message-permissions.js';

const { nobody } = systemGroup;
const UNKNOWN = 'UNKNOWN_MESSAGE: Invalid message(s)';

describe('canReadMessage', () => {
  const inChannel = { channelId: channelId(30) };

  it.each(
    tableRows(`
      who                                           | web-public | public | private, shared history | private, protected history
      owner outside, never received it              | yes        | yes    | no                      | no
      owner outside, received it once               | yes        | yes    | no                      | no
      member outside, never received it             | yes        | yes    | no                      | no
      member outside, received it once              | yes        | yes    | no                      | no
      guest outside, never received it              | no         | no     | no                      | no
      guest outside, received it once               | no         | no     | no                      | no
      owner inside, never received it               | yes        | yes    | yes                     | no
      member inside, never received it              | yes        | yes    | yes                     | no
      member inside, received it                    | yes        | yes    | yes                     | yes
      guest inside, never received it               | yes        | yes    | yes                     | no
      guest inside, received it                     | yes        | yes    | yes                     | yes
    `),
  )('decides message access for %s in a %s channel: %s', (who, kind, expected) => {
    const [role, where = ''] = who.split(' ');
    const access = {
      message: inChannel,
      channel: makeChannel({ privacy: PRIVACY_BY_KIND[kind]! }),
      isSubscribed: where.startsWith('inside'),
      isOwn: !who.includes('never'),
    };
    expect(formatDecision(canReadMessage(makeActor(role as Role), access))).toBe(expected === 'yes' ? 'yes' : UNKNOWN);
    expect(formatDecision(canReadMessage(makeActor(role as Role), access, { modifying: true }))).toBe(
      expected === 'yes' ? 'yes' : UNKNOWN,
    );
  });

  it.each(
    tableRows(`
      member granted       | shared, never received it | shared, received it | protected, never received it | protected, received it
      canSubscribe         | yes                       | yes                 | no                           | yes
      canAddSubscribers    | yes                       | yes                 | no                           | yes
      canAdministerChannel | no                        | no                  | no                           | no
      canDeleteAnyMessage  | no                        | no                  | no                           | no
    `),
  )('decides access from outside a private channel if granted %s, %s: %s', (permission, where, expected) => {
    const access = {
      message: inChannel,
      channel: makeChannel({
        privacy: where.startsWith('shared') ? 'privateSharedHistory' : 'privateProtectedHistory',
        permissionOverrides: { [permission]: TEAM },
      }),
      isSubscribed: false,
      isOwn: !where.includes('never'),
    };
    expect(formatDecision(canReadMessage(inTeam('member'), access))).toBe(expected === 'yes' ? 'yes' : UNKNOWN);
    expect(formatDecision(canReadMessage(inTeam('guest'), access))).toBe(UNKNOWN);
  });

  it('allows reading but not modifying messages of an archived channel', () => {
    const access = {
      message: inChannel,
      channel: makeChannel({ isArchived: true }),
      isSubscribed: true,
      isOwn: true,
    };
    expect(formatDecision(canReadMessage(makeActor('owner'), access))).toBe('yes');
    expect(formatDecision(canReadMessage(makeActor('owner'), access, { modifying: true }))).toBe(UNKNOWN);
  });

  it('allows direct messages only for users who have them, regardless of role', () => {
    const direct = { message: { channelId: null }, channel: null, isSubscribed: false };
    for (const role of ROLES) {
      expect(formatDecision(canReadMessage(makeActor(role), { ...direct, isOwn: true }, { modifying: true }))).toBe(
        'yes',
      );
      expect(formatDecision(canReadMessage(makeActor(role), { ...direct, isOwn: false }))).toBe(UNKNOWN);
    }
  });

  it('depends on ownership exactly if dependsOnOwnership returns true', () => {
    const channels = Object.values(PRIVACY_BY_KIND).map((privacy) => makeChannel({ privacy }));
    for (const channel of [...channels, null]) {
      const decisions = [true, false].map((isOwn) =>
        ROLES.flatMap((role) =>
          [true, false].map((isSubscribed) => {
            const message = channel ? inChannel : { channelId: null };
            return canReadMessage(makeActor(role), { message, channel, isSubscribed, isOwn }).allowed;
          }),
        ),
      );
      const [own, others] = decisions.map((each) => each.join());
      expect([channel?.privacy, dependsOnOwnership({ channel })]).toEqual([channel?.privacy, own !== others]);
    }
  });

  it('rejects a message in an unknown channel', () => {
    const lost = { message: inChannel, channel: null, isSubscribed: false, isOwn: true };
    expect(formatDecision(canReadMessage(makeActor('owner'), lost))).toBe(UNKNOWN);
  });
});

describe('canEditContent', () => {
  const message = { senderId: userId(10), sentAt: 1000 };
  const edit = (role: Role, id: number, now: number, settings: Partial<RealmSettings> = {}) =>
    formatDecision(canEditContent(makeActor(role, { id }), makeRealm({ settings }), message, now));
  const mayNot = "CANNOT_EDIT_MESSAGE: You don't have permission to edit this message";
  const tooLate = 'EDIT_TIME_LIMIT_EXCEEDED: The time limit for editing this message has passed';

  it('allows only the sender', () => {
    expect(edit('guest', 10, 1001)).toBe('yes');
    expect(edit('owner', 11, 1001)).toBe(mayNot);
  });

  it('denies editing after the limit plus a grace period of 20 seconds', () => {
    expect(edit('owner', 10, 1000 + 620)).toBe('yes');
    expect(edit('owner', 10, 1000 + 621)).toBe(tooLate);
    expect(edit('member', 10, 1_000_000, { messageContentEditLimitSeconds: null })).toBe('yes');
    expect(edit('member', 10, 1000 + 25, { messageContentEditLimitSeconds: 5 })).toBe('yes');
    expect(edit('member', 10, 1000 + 26, { messageContentEditLimitSeconds: 5 })).toBe(tooLate);
    expect(edit('member', 11, 1_000_000)).toBe(mayNot);
  });

  it('denies everyone if message editing is disabled', () => {
    const off = 'MESSAGE_EDITING_DISABLED: Your organization has turned off message editing';
    expect(edit('owner', 10, 1001, { allowMessageEditing: false })).toBe(off);
    expect(edit('owner', 11, 1_000_000, { allowMessageEditing: false })).toBe(off);
  });
});

describe('canReadEditHistory (messages §10)', () => {
  const DISABLED = 'EDIT_HISTORY_DISABLED: Message edit history is disabled in this organization';
  const access = { message: { channelId: channelId(30) }, isOwn: false };
  const open = { ...access, channel: makeChannel({ isArchived: true }), isSubscribed: false };
  const hidden = { ...access, channel: makeChannel({ privacy: 'privateSharedHistory' }), isSubscribed: false };

  it.each`
    policy     | message   | expected
    ${'all'}   | ${open}   | ${'yes'}
    ${'moves'} | ${open}   | ${'yes'}
    ${'none'}  | ${open}   | ${DISABLED}
    ${'all'}   | ${hidden} | ${UNKNOWN}
    ${'all'}   | ${null}   | ${UNKNOWN}
    ${'none'}  | ${hidden} | ${DISABLED}
    ${'none'}  | ${null}   | ${DISABLED}
  `(
    'decides if the edit history is readable under the organization policy $policy: $expected',
    ({ policy, message, expected }) => {
      const realm = makeRealm({ settings: { messageEditHistoryVisibilityPolicy: policy } });
      expect(formatDecision(canReadEditHistory(makeActor('owner'), realm, message))).toBe(expected);
    },
  );
});

describe('canSpectateMessage and canSpectateFile (protocol §9)', () => {
  const realm = makeRealm({ settings: { enableSpectatorAccess: true } });
  const spectators = { webPublicEnabled: true, hasWebPublicChannel: true };
  const NOT_LOGGED_IN = 'UNAUTHENTICATED: Not logged in: API authentication or user session required';
  const NO_FILE = 'CANNOT_VIEW_FILE: You are not authorized to view this file.';
  const where = (kind: string) => (kind === 'direct' ? null : { privacy: PRIVACY_BY_KIND[kind]! });

  it.each(
    tableRows(`
      what    | web-public | public | private, shared history | private, protected history | direct
      message | yes        | no     | no                      | no                         | no
      file    | yes        | no     | no                      | no                         | no
    `),
  )('decides if anonymous callers can read a %s of a %s channel: %s', (what, kind, expected) => {
    const decision =
      what === 'message'
        ? canSpectateMessage(realm, where(kind), spectators)
        : canSpectateFile(realm, [where(kind)], spectators);
    expect(formatDecision(decision)).toBe(expected === 'yes' ? 'yes' : what === 'message' ? UNKNOWN : NO_FILE);
  });

  it('allows a file if any message with a link to it is readable', () => {
    expect(formatDecision(canSpectateFile(realm, [], spectators))).toBe(NO_FILE);
    expect(formatDecision(canSpectateFile(realm, [where('public'), null, where('web-public')], spectators))).toBe(
      'yes',
    );
  });

  it('denies everything if spectator access is disabled', () => {
    const closed = makeRealm();
    expect(formatDecision(canSpectateMessage(closed, where('web-public'), spectators))).toBe(NOT_LOGGED_IN);
    expect(formatDecision(canSpectateMessage(closed, null, spectators))).toBe(NOT_LOGGED_IN);
    expect(formatDecision(canSpectateFile(closed, [where('web-public')], spectators))).toBe(NOT_LOGGED_IN);
  });
});

describe('resolveToggle and canResolveTopic', () => {
  it('denies resolving a topic without the permission in the organization, its channel and the new channel', () => {
    const realm = makeRealm({ permissionOverrides: { canResolveTopics: TEAM } });
    const channel = makeChannel({ permissionOverrides: { canResolveTopics: TEAM } });
    const withoutTeam = makeActor('member');
    expect(canResolveTopic(withoutTeam, realm, channel, channel).allowed).toBe(false);
    expect(canResolveTopic(withoutTeam, realm, channel, null).allowed).toBe(false);
    expect(canResolveTopic(inTeam('member'), makeRealm(), channel, channel).allowed).toBe(true);
  });

  it.each`
    from            | to             | what
    ${'plans'}      | ${'✔ plans'}   | ${'resolve'}
    ${'✔ plans'}    | ${'plans'}     | ${'unresolve'}
    ${'✔ ✔✔ plans'} | ${'plans'}     | ${'unresolve'}
    ${'✔ ✔✔ plans'} | ${'✔✔ plans'}  | ${'unresolve'}
    ${'✔ ✔✔ plans'} | ${'✔ plans'}   | ${null}
    ${'✔ ✔ plans'}  | ${'✔ plans'}   | ${null}
    ${'plans'}      | ${'✔ other'}   | ${null}
    ${'✔ plans'}    | ${'other'}     | ${null}
    ${'plans'}      | ${'other'}     | ${null}
    ${'✔ plans'}    | ${'✔ other'}   | ${null}
    ${'✔ plans'}    | ${'✔ ✔ plans'} | ${null}
    ${'✔plans'}     | ${'plans'}     | ${null}
    ${'plans'}      | ${'✔plans'}    | ${null}
    ${''}           | ${'✔ '}        | ${'resolve'}
    ${'a ✔ b'}      | ${'✔ a ✔ b'}   | ${'resolve'}
    ${'✔ a ✔ b'}    | ${'a ✔ b'}     | ${'unresolve'}
    ${'✔ a ✔ b'}    | ${'a b'}       | ${null}
  `('classifies the change from "$from" to "$to" as $what', ({ from, to, what }) => {
    expect(resolveToggle(from, to)).toBe(what);
  });

  it.each`
    from         | to           | mark
    ${'plans'}   | ${'✔ plans'} | ${'resolve'}
    ${'plans'}   | ${'✔ other'} | ${'resolve'}
    ${'✔ plans'} | ${'other'}   | ${'unresolve'}
    ${'✔ plans'} | ${'✔ other'} | ${null}
    ${'plans'}   | ${'✔plans'}  | ${null}
  `('detects the mark of "$to" after "$from": $mark', ({ from, to, mark }) => {
    expect(topicMark(from, to)).toBe(mark);
  });

  const a = (length: number) => 'a'.repeat(length);

  it.each`
    from               | to                 | what
    ${a(58)}           | ${`✔ ${a(58)}`}    | ${'resolve'}
    ${a(59)}           | ${`✔ ${a(59)}`}    | ${'resolve'}
    ${a(60)}           | ${`✔ ${a(60)}`}    | ${'resolve'}
    ${a(60)}           | ${`✔ ${a(55)}...`} | ${'resolve'}
    ${a(60)}           | ${`✔ ${a(54)}...`} | ${null}
    ${a(60)}           | ${'✔ a...'}        | ${null}
    ${a(58)}           | ${`✔ ${a(55)}...`} | ${null}
    ${`✔ ${a(55)}...`} | ${`${a(55)}...`}   | ${'unresolve'}
    ${`✔ ${a(55)}...`} | ${a(60)}           | ${null}
  `('classifies a name that becomes too long with the prefix: $what', ({ from, to, what }) => {
    expect(resolveToggle(from, to)).toBe(what);
  });

  const mayNot = "CANNOT_RESOLVE_TOPICS: You don't have permission to resolve topics in this channel.";
  const granting = makeChannel({ permissionOverrides: { canResolveTopics: TEAM } });

  it.each`
    grantedBy             | who                | expected
    ${'the organization'} | ${'owner'}         | ${mayNot}
    ${'the organization'} | ${'team'}          | ${'yes'}
    ${'the channel'}      | ${'owner'}         | ${mayNot}
    ${'the channel'}      | ${'team'}          | ${'yes'}
    ${'the target'}       | ${'team'}          | ${'yes'}
    ${'nobody'}           | ${'administrator'} | ${mayNot}
    ${'nobody'}           | ${'team'}          | ${mayNot}
  `('decides if $who may resolve topics if a team is granted it by $grantedBy: $expected', (row) => {
    const by = row.grantedBy as string;
    const actor = row.who === 'team' ? inTeam('guest') : makeActor(row.who as Role);
    const realm = makeRealm({ permissionOverrides: { canResolveTopics: by === 'the organization' ? TEAM : nobody } });
    const source = by === 'the channel' ? granting : makeChannel();
    const target = by === 'the target' ? granting : null;
    expect(formatDecision(canResolveTopic(actor, realm, source, target))).toBe(row.expected);
    const change = { message: { topic: 'plans', sentAt: 0 }, topic: '✔ plans', source, target };
    // Resolving has no time limit.
    expect(formatDecision(canChangeTopic(actor, realm, change, 1e9))).toBe(row.expected);
  });

  it('allows everyone to resolve topics by default', () => {
    expect(formatDecision(canResolveTopic(makeActor('guest'), makeRealm(), makeChannel()))).toBe('yes');
  });
});

describe('canChangeTopic', () => {
  const mayNot = "CANNOT_EDIT_MESSAGE: You don't have permission to edit this message";
  const tooOld = "TOPIC_EDIT_TIME_LIMIT_EXCEEDED: The time limit for editing this message's topic has passed.";
  const WEEK = 604_800;

  it.each`
    grantedBy                 | who                | expected
    ${'nobody'}               | ${'owner'}         | ${'yes'}
    ${'nobody'}               | ${'administrator'} | ${'yes'}
    ${'nobody'}               | ${'moderator'}     | ${mayNot}
    ${'nobody'}               | ${'member'}        | ${mayNot}
    ${'the organization'}     | ${'team'}          | ${'yes'}
    ${'the organization'}     | ${'guest team'}    | ${'yes'}
    ${'administering source'} | ${'team'}          | ${'yes'}
    ${'administering source'} | ${'guest team'}    | ${mayNot}
    ${'administering target'} | ${'team'}          | ${'yes'}
    ${'moving within source'} | ${'team'}          | ${'yes'}
    ${'moving within source'} | ${'guest team'}    | ${'yes'}
    ${'moving within source'} | ${'member'}        | ${mayNot}
    ${'moving within target'} | ${'team'}          | ${'yes'}
    ${'moving out of source'} | ${'team'}          | ${mayNot}
  `('decides if $who may move messages if granted by $grantedBy: $expected', (row) => {
    const by = row.grantedBy as string;
    const who = row.who as string;
    const actor = who === 'team' ? inTeam('member') : who === 'guest team' ? inTeam('guest') : makeActor(who as Role);
    const realm = makeRealm({
      permissionOverrides: { canMoveMessagesBetweenTopics: by === 'the organization' ? TEAM : nobody },
    });
    const permissions: Record<string, ChannelPermission> = {
      administering: 'canAdministerChannel',
      'moving within': 'canMoveMessagesWithinChannel',
      'moving out of': 'canMoveMessagesOutOfChannel',
    };
    const [, how = '', where] = /^(.+) (source|target)$/.exec(by) ?? [];
    const granting = makeChannel({ permissionOverrides: { [permissions[how] ?? 'canResolveTopics']: TEAM } });
    const change = {
      message: { topic: 'plans', sentAt: 0 },
      topic: 'deeds',
      source: where === 'source' ? granting : makeChannel(),
      target: where === 'target' ? granting : null,
    };
    expect(formatDecision(canChangeTopic(actor, realm, change, 0))).toBe(row.expected);
  });

  it.each`
    who                | age          | expected
    ${'member'}        | ${WEEK + 20} | ${'yes'}
    ${'member'}        | ${WEEK + 21} | ${tooOld}
    ${'guest'}         | ${WEEK + 21} | ${tooOld}
    ${'moderator'}     | ${WEEK + 21} | ${'yes'}
    ${'administrator'} | ${WEEK + 21} | ${'yes'}
    ${'owner'}         | ${WEEK + 21} | ${'yes'}
  `('decides if $who may move a message that is $age seconds old: $expected', ({ who, age, expected }) => {
    const change = {
      message: { topic: 'plans', sentAt: 100 },
      topic: 'deeds',
      source: makeChannel(),
      target: null,
    };
    expect(formatDecision(canChangeTopic(makeActor(who), makeRealm(), change, 100 + age))).toBe(expected);
    const boundless = makeRealm({ settings: { moveMessagesWithinChannelLimitSeconds: null } });
    expect(formatDecision(canChangeTopic(makeActor(who), boundless, change, 100 + age))).toBe('yes');
  });

  it('requires the create-topic permission for a topic without messages', () => {
    const channel = makeChannel({ permissionOverrides: { canCreateTopic: TEAM } });
    expect(formatDecision(canOpenTopicByMoving(inTeam('member'), null, channel))).toBe('yes');
    expect(formatDecision(canOpenTopicByMoving(makeActor('owner'), null, channel))).toMatch(/create new topics/);
  });
});

describe('canChangeChannelOf and canMoveInto', () => {
  const mayNot = "CANNOT_MOVE_MESSAGE: You don't have permission to move this message";
  const mayNotPost = 'CANNOT_POST_IN_CHANNEL: You do not have permission to post in this channel.';
  const tooOld = "CHANNEL_EDIT_TIME_LIMIT_EXCEEDED: The time limit for editing this message's channel has passed";
  const WEEK = 604_800;

  it.each`
    grantedBy                 | who                | expected
    ${'nobody'}               | ${'owner'}         | ${'yes'}
    ${'nobody'}               | ${'administrator'} | ${'yes'}
    ${'nobody'}               | ${'moderator'}     | ${mayNot}
    ${'the organization'}     | ${'team'}          | ${'yes'}
    ${'the organization'}     | ${'guest team'}    | ${mayNot}
    ${'administering source'} | ${'team'}          | ${'yes'}
    ${'administering target'} | ${'team'}          | ${mayNot}
    ${'moving out of source'} | ${'team'}          | ${'yes'}
    ${'moving out of source'} | ${'guest team'}    | ${'yes'}
    ${'moving out of target'} | ${'team'}          | ${mayNot}
    ${'moving within source'} | ${'team'}          | ${mayNot}
  `('decides if $who may move messages if granted by $grantedBy: $expected', (row) => {
    const by = row.grantedBy as string;
    const who = row.who as string;
    const actor = who === 'team' ? inTeam('member') : who === 'guest team' ? inTeam('guest') : makeActor(who as Role);
    const realm = makeRealm({
      permissionOverrides: { canMoveMessagesBetweenChannels: by === 'the organization' ? TEAM : nobody },
    });
    const permissions: Record<string, ChannelPermission> = {
      administering: 'canAdministerChannel',
      'moving within': 'canMoveMessagesWithinChannel',
      'moving out of': 'canMoveMessagesOutOfChannel',
    };
    const [, how = '', where] = /^(.+) (source|target)$/.exec(by) ?? [];
    const granting = makeChannel({ permissionOverrides: { [permissions[how] ?? 'canResolveTopics']: TEAM } });
    const change = {
      message: { sentAt: 0 },
      source: where === 'source' ? granting : makeChannel(),
      target: where === 'target' ? granting : makeChannel(),
    };
    expect(formatDecision(canChangeChannelOf(actor, null, realm, change, 0))).toBe(row.expected);
  });

  it('requires permission to post in the target, directly or through the bot owner', () => {
    const change = {
      message: { sentAt: 0 },
      source: makeChannel(),
      target: makeChannel({ permissionOverrides: { canSendMessage: TEAM } }),
    };
    const realm = makeRealm();
    expect(formatDecision(canChangeChannelOf(makeActor('owner'), null, realm, change, 0))).toBe(mayNotPost);
    expect(formatDecision(canChangeChannelOf(makeActor('owner'), null, realm, change, 1e9))).toBe(mayNotPost);
    expect(formatDecision(canChangeChannelOf(inTeam('member'), null, realm, change, 0))).toBe('yes');
    expect(formatDecision(canChangeChannelOf(makeActor('member'), inTeam('member'), realm, change, 0))).toBe('yes');
  });

  it.each`
    who            | age          | expected
    ${'member'}    | ${WEEK + 20} | ${'yes'}
    ${'member'}    | ${WEEK + 21} | ${tooOld}
    ${'moderator'} | ${WEEK + 21} | ${'yes'}
  `('decides if $who may move a message that is $age seconds old: $expected', ({ who, age, expected }) => {
    const change = { message: { sentAt: 100 }, source: makeChannel(), target: makeChannel() };
    const settings = { moveMessagesWithinChannelLimitSeconds: 1 };
    expect(formatDecision(canChangeChannelOf(makeActor(who), null, makeRealm({ settings }), change, 100 + age))).toBe(
      expected,
    );
  });

  it('accepts only readable, active channels as the target', () => {
    const unknown = 'UNKNOWN_CHANNEL: Invalid channel ID';
    expect(formatDecision(canMoveInto(makeActor('owner'), makeChannel(), false))).toBe('yes');
    expect(formatDecision(canMoveInto(makeActor('owner'), makeChannel({ isArchived: true }), true))).toBe(unknown);
    expect(
      formatDecision(canMoveInto(makeActor('owner'), makeChannel({ privacy: 'privateSharedHistory' }), false)),
    ).toBe(unknown);
  });
});

describe('canMoveWholeTopic', () => {
  const HOUR = 3600;
  const messages = [0, HOUR, 2 * HOUR].map((sentAt, index) => ({ id: (index + 1) as MessageId, sentAt }));
  const settings = { moveMessagesWithinChannelLimitSeconds: HOUR, moveMessagesBetweenChannelsLimitSeconds: 2 * HOUR };
  const realm = makeRealm({ settings });
  const move = (given: { topic?: boolean; channel?: boolean; role?: Role; now: number; realm?: typeof realm }) =>
    canMoveWholeTopic(
      makeActor(given.role ?? 'member'),
      given.realm ?? realm,
      { messages, isOtherTopic: given.topic ?? false, isOtherChannel: given.channel ?? false },
      given.now,
    );
  const refusal = (allowed: number, first: number | null) => ({
    allowed: false,
    code: 'MOVE_TIME_LIMIT_EXCEEDED',
    message: `You only have permission to move the ${allowed}/3 most recent messages in this topic.`,
    details: {
      firstMessageIdAllowedToMove: first,
      totalMessagesInTopic: 3,
      totalMessagesAllowedToMove: allowed,
    },
  });

  it('denies the move if any message is too old', () => {
    expect(formatDecision(move({ topic: true, now: HOUR + 20 }))).toBe('yes');
    expect(move({ topic: true, now: HOUR + 21 })).toEqual(refusal(2, 2));
    expect(move({ topic: true, now: 3 * HOUR + 20 })).toEqual(refusal(1, 3));
    expect(move({ topic: true, now: 9 * HOUR })).toEqual(refusal(0, null));
  });

  it('applies the limit of the changed part, or the stricter of both limits', () => {
    expect(formatDecision(move({ channel: true, now: 2 * HOUR + 20 }))).toBe('yes');
    expect(move({ channel: true, now: 2 * HOUR + 21 })).toEqual(refusal(2, 2));
    expect(move({ channel: true, topic: true, now: 2 * HOUR + 20 })).toEqual(refusal(2, 2));
    expect(formatDecision(move({ now: 9 * HOUR }))).toBe('yes');
    const noLimitOnTopics = makeRealm({ settings: { ...settings, moveMessagesWithinChannelLimitSeconds: null } });
    expect(formatDecision(move({ topic: true, now: 9 * HOUR, realm: noLimitOnTopics }))).toBe('yes');
    expect(move({ topic: true, channel: true, now: 2 * HOUR + 21, realm: noLimitOnTopics })).toEqual(refusal(2, 2));
  });

  it('exempts moderators and higher roles from the time limit', () => {
    for (const role of ['moderator', 'administrator', 'owner'] as const) {
      expect(formatDecision(move({ topic: true, now: 9 * HOUR, role }))).toBe('yes');
    }
    expect(move({ topic: true, now: 9 * HOUR, role: 'guest' })).toEqual(refusal(0, null));
  });
});

describe('canDeleteMessage', () => {
  const mayNot = "CANNOT_DELETE_MESSAGE: You don't have permission to delete this message";
  const tooLate = 'DELETE_TIME_LIMIT_EXCEEDED: The time limit for deleting this message has passed';

  interface Row {
    role?: Role;
    sender?: number;
    owner?: number | null;
    age?: number;
    realm?: Partial<Record<RealmPermission, GroupId>>;
    channel?: Partial<Record<ChannelPermission, GroupId>> | null;
    settings?: Partial<RealmSettings>;
  }
  const remove = (given: Row) =>
    formatDecision(
      canDeleteMessage(
        makeActor(given.role ?? 'member', { id: 10, groups: [TEAM] }),
        makeRealm({
          settings: given.settings ?? {},
          permissionOverrides: { canDeleteAnyMessage: nobody, canDeleteOwnMessage: nobody, ...given.realm },
        }),
        {
          message: { senderId: userId(given.sender ?? 10), sentAt: 1000 },
          senderOwnerId: given.owner == null ? null : userId(given.owner),
          channel: given.channel === null ? null : makeChannel({ permissionOverrides: given.channel ?? {} }),
        },
        1000 + (given.age ?? 0),
      ),
    );
  const any = { canDeleteAnyMessage: TEAM };
  const own = { canDeleteOwnMessage: TEAM };

  it.each`
    whose                | granted                       | age    | given                                        | expected
    ${"another's"}       | ${'any, by the organization'} | ${1e9} | ${{ sender: 11, realm: any }}                | ${'yes'}
    ${"another's"}       | ${'any, by the channel'}      | ${1e9} | ${{ sender: 11, channel: any }}              | ${'yes'}
    ${"another's"}       | ${'own, by both'}             | ${0}   | ${{ sender: 11, realm: own, channel: own }}  | ${mayNot}
    ${"another's"}       | ${'nothing'}                  | ${0}   | ${{ sender: 11 }}                            | ${mayNot}
    ${"another's bot's"} | ${'own, by the organization'} | ${0}   | ${{ sender: 11, owner: 12, realm: own }}     | ${mayNot}
    ${'their own'}       | ${'own, by the organization'} | ${600} | ${{ realm: own }}                            | ${'yes'}
    ${'their own'}       | ${'own, by the organization'} | ${601} | ${{ realm: own }}                            | ${tooLate}
    ${'their own'}       | ${'own, by the channel'}      | ${600} | ${{ channel: own }}                          | ${'yes'}
    ${'their own'}       | ${'own, by the channel'}      | ${601} | ${{ channel: own }}                          | ${tooLate}
    ${'their own'}       | ${'nothing'}                  | ${0}   | ${{}}                                        | ${mayNot}
    ${'their own'}       | ${'nothing'}                  | ${601} | ${{}}                                        | ${mayNot}
    ${'their own'}       | ${'any, by the organization'} | ${601} | ${{ realm: any }}                            | ${'yes'}
    ${"their bot's"}     | ${'own, by the organization'} | ${600} | ${{ sender: 11, owner: 10, realm: own }}     | ${'yes'}
    ${"their bot's"}     | ${'own, by the organization'} | ${601} | ${{ sender: 11, owner: 10, realm: own }}     | ${tooLate}
    ${"their bot's"}     | ${'nothing'}                  | ${0}   | ${{ sender: 11, owner: 10 }}                 | ${mayNot}
    ${'direct, own'}     | ${'own, by the organization'} | ${0}   | ${{ channel: null, realm: own }}             | ${'yes'}
    ${'direct, own'}     | ${'nothing'}                  | ${0}   | ${{ channel: null }}                         | ${mayNot}
    ${'direct, to them'} | ${'any, by the organization'} | ${1e9} | ${{ channel: null, sender: 11, realm: any }} | ${'yes'}
    ${'direct, to them'} | ${'own, by the organization'} | ${0}   | ${{ channel: null, sender: 11, realm: own }} | ${mayNot}
  `(
    'decides if $whose message may be deleted at $age seconds if granted $granted: $expected',
    ({ age, given, expected }) => {
      expect(remove({ ...given, age })).toBe(expected);
    },
  );

  it('allows deleting old messages if the realm has no time limit', () => {
    expect(remove({ realm: own, age: 1e9, settings: { messageContentDeleteLimitSeconds: null } })).toBe('yes');
  });

  it.each`
    who                | anothers  | theirOwn
    ${'owner'}         | ${'yes'}  | ${'yes'}
    ${'administrator'} | ${'yes'}  | ${'yes'}
    ${'moderator'}     | ${mayNot} | ${'yes'}
    ${'member'}        | ${mayNot} | ${'yes'}
    ${'guest'}         | ${mayNot} | ${'yes'}
  `('applies the default delete permissions to $who', (row) => {
    const byDefault = { canDeleteAnyMessage: systemGroup.administrators, canDeleteOwnMessage: systemGroup.everyone };
    expect(remove({ role: row.who, sender: 11, realm: byDefault })).toBe(row.anothers);
    expect(remove({ role: row.who, realm: byDefault })).toBe(row.theirOwn);
  });

  it('denies guests the realm-wide permission to delete any message', () => {
    expect(remove({ role: 'guest', sender: 11, realm: any })).toBe(mayNot);
    // A channel may grant this permission to guests.
    expect(remove({ role: 'guest', sender: 11, channel: any })).toBe('yes');
  });
});

describe('canDeleteTopic', () => {
  it('reports a nonexistent channel as unknown', () => {
    expect(formatDecision(canDeleteTopic(makeActor('owner'), null, false))).toBe('UNKNOWN_CHANNEL: Invalid channel ID');
  });

  it.each`
    who                | channel                                                   | inside   | expected
    ${'owner'}         | ${{}}                                                     | ${false} | ${'yes'}
    ${'administrator'} | ${{}}                                                     | ${false} | ${'yes'}
    ${'moderator'}     | ${{}}                                                     | ${true}  | ${'MUST_BE_ADMINISTRATOR: Must be an organization administrator'}
    ${'member'}        | ${{ permissionOverrides: { canDeleteAnyMessage: TEAM } }} | ${true}  | ${'MUST_BE_ADMINISTRATOR: Must be an organization administrator'}
    ${'administrator'} | ${{ privacy: 'privateSharedHistory' }}                    | ${false} | ${'UNKNOWN_CHANNEL: Invalid channel ID'}
    ${'administrator'} | ${{ privacy: 'privateSharedHistory' }}                    | ${true}  | ${'yes'}
    ${'administrator'} | ${{ isArchived: true }}                                   | ${true}  | ${'UNKNOWN_CHANNEL: Invalid channel ID'}
  `(
    'decides if $who may delete a topic of channel $channel (inside: $inside): $expected',
    ({ who, channel, inside, expected }) => {
      expect(formatDecision(canDeleteTopic(inTeam(who), makeChannel(channel), inside))).toBe(expected);
    },
  );
});
