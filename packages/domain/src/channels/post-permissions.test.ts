import {
  aChannel,
  aUser,
  createFixture,
  formatDecision,
  makeActor,
  makeChannel,
  makeRealm,
  makeUser,
  PRIVACY_BY_KIND,
  systemGroup,
  TEAM,
  tableRows,
  userId,
} from '@parley/testkit';
import type { Role } from '../access/roles.js';
import type { Bot } from '../users/user.js';
import type { Channel, ChannelPermission } from './channel.js';
import {
  canCreateTopic,
  canPost,
  canPostSomewhere,
  canSendDirect,
  canSendTo,
  type DirectRecipient,
  fitsTopicsPolicy,
  loadPosting,
  type Posting,
} from './post-permissions.js';

const MAY_NOT_POST = 'CANNOT_POST_IN_CHANNEL: You do not have permission to post in this channel.';
const UNKNOWN = "UNKNOWN_DESTINATION: Channel with ID '30' does not exist";
const NOT_HERE = "CANNOT_POST_IN_CHANNEL: Not authorized to send to channel 'denmark'";
const NO_NEW_TOPICS = 'CANNOT_CREATE_TOPIC: You do not have permission to create new topics in this channel.';

type PostRequest = Parameters<typeof canPost>[0];

/** Creates a message from a member outside a public channel to an existing topic. */
const posting = (given: Partial<PostRequest> = {}): PostRequest => ({
  sender: makeActor('member'),
  botOwner: null,
  channel: makeChannel(),
  typedName: 'denmark',
  isSubscribed: false,
  isOwnerSubscribed: false,
  isSystemBot: false,
  topicExists: true,
  topic: 'plans',
  realm: makeRealm(),
  ...given,
});

describe('loadPosting', () => {
  it.each`
    sender         | owner         | isSubscribed | isOwnerSubscribed
    ${'member'}    | ${null}       | ${true}      | ${false}
    ${'outsider'}  | ${null}       | ${false}     | ${false}
    ${'bot'}       | ${'member'}   | ${false}     | ${true}
    ${'other bot'} | ${'outsider'} | ${false}     | ${false}
  `('loads the subscriptions of $sender and the owner $owner', async (row) => {
    const { uow, realm, caller, channel, user } = await createFixture(
      aUser({ name: 'member' }),
      aUser({ name: 'outsider' }),
      aUser({ name: 'bot', botOf: 'member' }),
      aUser({ name: 'other bot', botOf: 'outsider' }),
      aChannel({ name: 'general', subscribers: ['member'] }),
    );
    const posting = await uow.read(realm.id, async (r) =>
      loadPosting(r, await r.actors.get(caller(row.sender)), channel('general'), null),
    );
    const { isSubscribed, isOwnerSubscribed } = row;
    expect(posting).toMatchObject({ isSubscribed, isOwnerSubscribed, isSystemBot: false });
    expect(posting.botOwner).toEqual(row.owner === null ? null : expect.objectContaining({ id: user(row.owner).id }));
  });
});

describe('canPost', () => {
  it.each(
    tableRows(`
      who                                      | web-public | public | private, shared history | private, protected history
      owner outside                            | yes        | yes    | no                      | no
      administrator outside                    | yes        | yes    | no                      | no
      moderator outside                        | yes        | yes    | no                      | no
      member outside                           | yes        | yes    | no                      | no
      guest outside                            | yes        | no     | no                      | no
      owner inside                             | yes        | yes    | yes                     | yes
      member inside                            | yes        | yes    | yes                     | yes
      guest inside                             | yes        | yes    | yes                     | yes
      member outside granted canSubscribe      | yes        | yes    | yes                     | no
      member outside granted canAddSubscribers | yes        | yes    | yes                     | no
      member outside granted canAdministerChannel | yes     | yes    | no                      | no
      guest outside granted canSubscribe       | yes        | no     | no                      | no
      guest outside granted canAddSubscribers  | yes        | no     | no                      | no
    `),
  )('decides if %s may post in %s: %s', (who, kind, expected) => {
    const [role, where, , permission] = who.split(' ');
    const permissionOverrides: Partial<Record<ChannelPermission, typeof TEAM>> =
      permission === undefined ? {} : { [permission]: TEAM };
    const fixture = posting({
      sender: makeActor(role as Role, { groups: [TEAM] }),
      channel: makeChannel({ privacy: PRIVACY_BY_KIND[kind]!, permissionOverrides }),
      isSubscribed: where === 'inside',
    });
    const said = expected === 'yes' ? 'yes' : NOT_HERE;
    expect(formatDecision(canPost(fixture))).toBe(said);
    expect(formatDecision(canPostSomewhere(fixture))).toBe(said);
  });

  it.each(
    tableRows(`
      the bot's owner          | web-public | public | private, shared history | private, protected history
      is subscribed            | yes        | yes    | yes                     | yes
      is not                   | yes        | yes    | no                      | no
      is granted canSubscribe  | yes        | yes    | no                      | no
    `),
  )('decides if a bot with an owner who %s may post in a %s channel: %s', (owner, kind, expected) => {
    const fixture = posting({
      sender: makeActor('member', { botOwnerId: 11 }),
      botOwner: makeActor('member', { id: 11, groups: [TEAM] }),
      channel: makeChannel({
        privacy: PRIVACY_BY_KIND[kind]!,
        permissionOverrides: owner === 'is granted canSubscribe' ? { canSubscribe: TEAM } : {},
      }),
      isOwnerSubscribed: owner === 'is subscribed',
    });
    expect(formatDecision(canPost(fixture))).toBe(expected === 'yes' ? 'yes' : NOT_HERE);
  });

  it.each`
    who                               | by          | expected
    ${'guest outside'}                | ${'its id'} | ${UNKNOWN}
    ${'member outside'}               | ${'its id'} | ${UNKNOWN}
    ${'member outside'}               | ${'name'}   | ${"CANNOT_POST_IN_CHANNEL: Not authorized to send to channel 'DENmark'"}
    ${'member granted canAdminister'} | ${'its id'} | ${NOT_HERE}
    ${'member granted canAdminister'} | ${'name'}   | ${NOT_HERE}
    ${'administrator outside'}        | ${'its id'} | ${NOT_HERE}
    ${'bot whose owner is outside'}   | ${'its id'} | ${UNKNOWN}
    ${'bot without an owner'}         | ${'its id'} | ${UNKNOWN}
    ${'bot whose owner is inside'}    | ${'its id'} | ${'yes'}
    ${'bot whose owner is an admin'}  | ${'its id'} | ${UNKNOWN}
    ${'system bot'}                   | ${'its id'} | ${'yes'}
  `(
    'decides if $who may address a private channel by $by (messages §3.2 row 8, decision 20)',
    ({ who, by, expected }) => {
      const bot = makeActor('member', { botOwnerId: 11 });
      const owner = makeActor('member', { id: 11 });
      const given: Record<string, Partial<PostRequest>> = {
        'guest outside': { sender: makeActor('guest') },
        'member outside': {},
        'member granted canAdminister': { sender: makeActor('member', { groups: [TEAM] }) },
        'administrator outside': { sender: makeActor('administrator') },
        'bot whose owner is outside': { sender: bot, botOwner: owner },
        'bot without an owner': { sender: bot, isOwnerSubscribed: true },
        'bot whose owner is inside': { sender: bot, botOwner: owner, isOwnerSubscribed: true },
        'bot whose owner is an admin': { sender: bot, botOwner: makeActor('administrator', { id: 11 }) },
        'system bot': { isSystemBot: true },
      };
      const channel = makeChannel({
        privacy: 'privateProtectedHistory',
        permissionOverrides: { canAdministerChannel: TEAM },
      });
      const fixture = posting({ channel, typedName: by === 'name' ? 'DENmark' : null, ...given[who] });
      expect(formatDecision(canPost(fixture))).toBe(expected);
      expect(formatDecision(canPostSomewhere(fixture))).toBe(expected);
    },
  );

  it('does not reveal the state or posting permission of a hidden channel addressed by id', () => {
    const channel = makeChannel({
      privacy: 'privateSharedHistory',
      isArchived: true,
      permissionOverrides: { canSendMessage: systemGroup.nobody },
    });
    const decision = canPost(posting({ channel, typedName: null }));
    expect(formatDecision(decision)).toBe(UNKNOWN);
    expect(decision).toMatchObject({ details: { channelId: channel.id } });
    // Users who see the channel learn the actual reason.
    expect(formatDecision(canPost(posting({ channel, typedName: null, isSubscribed: true })))).toBe(MAY_NOT_POST);
  });

  it('grants no owner rights to a bot without an owner', () => {
    const channel = makeChannel({ privacy: 'privateSharedHistory' });
    expect(formatDecision(canPost(posting({ channel, isOwnerSubscribed: true })))).toBe(NOT_HERE);
  });

  it('lets a guest bot post in public channels that its owner is subscribed to', () => {
    const sender = makeActor('guest', { botOwnerId: 11 });
    const botOwner = makeActor('member', { id: 11 });
    expect(formatDecision(canPost(posting({ sender, botOwner, isOwnerSubscribed: true })))).toBe('yes');
    expect(formatDecision(canPost(posting({ sender, botOwner, isOwnerSubscribed: false })))).toBe(NOT_HERE);
  });

  it.each`
    who                            | may     | expected
    ${'a team member'}             | ${TEAM} | ${'yes'}
    ${'an owner outside the team'} | ${TEAM} | ${MAY_NOT_POST}
    ${'a member outside the team'} | ${TEAM} | ${MAY_NOT_POST}
    ${'the bot of a team member'}  | ${TEAM} | ${'yes'}
    ${'the bot of somebody else'}  | ${TEAM} | ${MAY_NOT_POST}
    ${'a guest in the team'}       | ${TEAM} | ${'yes'}
  `('decides if $who may post when only a team may: $expected', ({ who, expected }) => {
    const inTeam = { groups: [TEAM] };
    const actors: Record<string, Pick<Posting, 'sender' | 'botOwner'>> = {
      'a team member': { sender: makeActor('member', inTeam), botOwner: null },
      'an owner outside the team': { sender: makeActor('owner'), botOwner: null },
      'a member outside the team': { sender: makeActor('member'), botOwner: null },
      'the bot of a team member': { sender: makeActor('member'), botOwner: makeActor('member', inTeam) },
      'the bot of somebody else': { sender: makeActor('member'), botOwner: makeActor('owner') },
      'a guest in the team': { sender: makeActor('guest', inTeam), botOwner: null },
    };
    const channel = makeChannel({ permissionOverrides: { canSendMessage: TEAM } });
    const fixture = posting({ ...actors[who]!, channel, isSubscribed: true });
    expect(formatDecision(canPost(fixture))).toBe(expected);
    expect(formatDecision(canSendTo(fixture.sender, fixture.botOwner, channel))).toBe(expected);
  });

  it.each`
    who                            | topic    | expected
    ${'a team member'}             | ${'new'} | ${'yes'}
    ${'an owner outside the team'} | ${'new'} | ${NO_NEW_TOPICS}
    ${'an owner outside the team'} | ${'old'} | ${'yes'}
    ${'the bot of a team member'}  | ${'new'} | ${'yes'}
    ${'the bot of somebody else'}  | ${'new'} | ${NO_NEW_TOPICS}
  `(
    'decides if $who may write to a $topic topic when only a team may create topics: $expected',
    ({ who, topic, expected }) => {
      const inTeam = { groups: [TEAM] };
      const [sender, botOwner] = {
        'a team member': [makeActor('member', inTeam), null],
        'an owner outside the team': [makeActor('owner'), null],
        'the bot of a team member': [makeActor('member'), makeActor('member', inTeam)],
        'the bot of somebody else': [makeActor('member'), makeActor('owner')],
      }[who as 'a team member'] as [PostRequest['sender'], PostRequest['botOwner']];
      const channel = makeChannel({ permissionOverrides: { canCreateTopic: TEAM } });
      expect(formatDecision(canPost(posting({ sender, botOwner, channel, topicExists: topic === 'old' })))).toBe(
        expected,
      );
      if (topic === 'new') expect(formatDecision(canCreateTopic(sender, botOwner, channel))).toBe(expected);
    },
  );

  it('rejects posts to an archived channel by subscribers and others', () => {
    const channel = makeChannel({ isArchived: true });
    expect(formatDecision(canPost(posting({ sender: makeActor('owner'), channel, isSubscribed: true })))).toBe(
      NOT_HERE,
    );
    expect(formatDecision(canPost(posting({ sender: makeActor('owner'), channel })))).toBe(NOT_HERE);
  });

  it("allows the realm's system bots to post in any channel", () => {
    const channel = makeChannel({
      isArchived: true,
      privacy: 'privateProtectedHistory',
      topicsPolicy: 'emptyTopicOnly',
      permissionOverrides: { canSendMessage: systemGroup.nobody, canCreateTopic: systemGroup.nobody },
    });
    const fixture = posting({ channel, isSystemBot: true, topicExists: false });
    expect(formatDecision(canPost(fixture))).toBe('yes');
    expect(formatDecision(canPostSomewhere(fixture))).toBe('yes');
  });

  it('reports only the first of several violations', () => {
    const { nobody } = systemGroup;
    const shut = { isArchived: true, topicsPolicy: 'emptyTopicOnly' } as const;
    const fixture = (given: Partial<Channel>, permissionOverrides: Partial<Record<ChannelPermission, typeof TEAM>>) =>
      posting({ channel: makeChannel({ ...given, permissionOverrides }), topicExists: false });
    expect(formatDecision(canPost(fixture(shut, { canSendMessage: nobody, canCreateTopic: nobody })))).toBe(
      MAY_NOT_POST,
    );
    expect(formatDecision(canPost(fixture(shut, { canCreateTopic: nobody })))).toBe(NOT_HERE);
    expect(formatDecision(canPost(fixture({ ...shut, isArchived: false }, { canCreateTopic: nobody })))).toBe(
      NO_NEW_TOPICS,
    );
    expect(formatDecision(canPost(fixture({ ...shut, isArchived: false }, {})))).toMatch(
      /^EMPTY_TOPIC_REQUIRED: Only the/,
    );
  });
});

describe('fitsTopicsPolicy', () => {
  const noEmpty = 'TOPIC_REQUIRED: Sending messages to the general chat is not allowed in this channel.';
  const onlyEmpty = 'EMPTY_TOPIC_REQUIRED: Only the general chat topic is allowed in this channel.';

  it.each`
    channel                | organization           | empty      | named
    ${'emptyTopicAllowed'} | ${'emptyTopicRefused'} | ${'yes'}   | ${'yes'}
    ${'emptyTopicRefused'} | ${'emptyTopicAllowed'} | ${noEmpty} | ${'yes'}
    ${'emptyTopicOnly'}    | ${'emptyTopicAllowed'} | ${'yes'}   | ${onlyEmpty}
    ${'inherit'}           | ${'emptyTopicAllowed'} | ${'yes'}   | ${'yes'}
    ${'inherit'}           | ${'emptyTopicRefused'} | ${noEmpty} | ${'yes'}
  `(
    'applies the channel policy $channel over the organization policy $organization',
    ({ channel, organization, empty, named }) => {
      const fixture = {
        realm: makeRealm({ settings: { topicsPolicy: organization } }),
        channel: makeChannel({ topicsPolicy: channel }),
      };
      for (const [topic, expected] of [
        ['', empty],
        ['plans', named],
      ]) {
        expect(formatDecision(fitsTopicsPolicy(fixture.realm, fixture.channel, topic))).toBe(expected);
        expect(formatDecision(canPost(posting({ ...fixture, topic })))).toBe(expected);
      }
    },
  );

  it('includes the display name of the empty topic in the rejection', () => {
    for (const [topicsPolicy, topic] of [
      ['emptyTopicRefused', ''],
      ['emptyTopicOnly', 'plans'],
    ] as const) {
      const decision = fitsTopicsPolicy(makeRealm(), makeChannel({ topicsPolicy }), topic);
      expect(decision).toMatchObject({ details: { emptyTopicDisplayName: 'general chat' } });
    }
  });
});

describe('canSendDirect', () => {
  const bot: Bot = { kind: 'generic', ownerId: userId(10), isSystem: false, defaultSendingChannelId: null };
  const person = (id: number, given: Partial<DirectRecipient> & { isActive?: boolean; bot?: Bot | null } = {}) => ({
    user: makeUser({ id: userId(id), isActive: given.isActive ?? true, bot: given.bot ?? null }),
    actor: makeActor('member', { id }),
    address: `user${id}@example.com`,
    sharesConversation: false,
    ...given,
  });
  const send = (given: Partial<Parameters<typeof canSendDirect>[0]>) =>
    formatDecision(
      canSendDirect({
        sender: makeActor('member', { id: 10 }),
        recipients: [person(20)],
        realm: makeRealm(),
        nobodyGroupId: systemGroup.nobody,
        conversationExists: false,
        ...given,
      }),
    );
  const disabled = 'DIRECT_MESSAGES_DISABLED: Direct messages are disabled in this organization.';
  const unauthorized =
    'CONVERSATION_NOT_AUTHORIZED: This conversation does not include any users who can authorize it.';
  const mayNotBegin = 'CANNOT_START_CONVERSATION: You do not have permission to initiate direct message conversations.';
  const noAccess = 'CANNOT_ACCESS_RECIPIENT: You do not have permission to access some of the recipients.';

  it.each(['owner', 'administrator', 'moderator', 'member', 'guest'] as const)('allows a %s by default', (role) => {
    expect(send({ sender: makeActor(role) })).toBe('yes');
  });

  it.each`
    holder      | sender       | recipient    | expected
    ${'nobody'} | ${'outside'} | ${'outside'} | ${disabled}
    ${'team'}   | ${'outside'} | ${'outside'} | ${unauthorized}
    ${'team'}   | ${'inside'}  | ${'outside'} | ${'yes'}
    ${'team'}   | ${'outside'} | ${'inside'}  | ${'yes'}
  `('decides for a permission holder in $holder with sender $sender and recipient $recipient: $expected', (row) => {
    const groups = (where: string) => (where === 'inside' ? [TEAM] : []);
    const realm = makeRealm({
      permissionOverrides: { directMessagePermission: row.holder === 'team' ? TEAM : systemGroup.nobody },
    });
    const recipients = [person(20), person(21, { actor: makeActor('guest', { groups: groups(row.recipient) }) })];
    expect(send({ realm, recipients, sender: makeActor('guest', { groups: groups(row.sender) }) })).toBe(row.expected);
  });

  it.each`
    sender       | before   | expected
    ${'inside'}  | ${false} | ${'yes'}
    ${'outside'} | ${false} | ${mayNotBegin}
    ${'outside'} | ${true}  | ${'yes'}
  `('decides for a sender $sender the initiator team with existing conversation $before: $expected', (row) => {
    const realm = makeRealm({ permissionOverrides: { directMessageInitiator: TEAM } });
    const sender = makeActor('owner', { groups: row.sender === 'inside' ? [TEAM] : [] });
    // A recipient's permission to start conversations is not sufficient.
    const recipients = [person(20, { actor: makeActor('member', { groups: [TEAM] }) })];
    expect(send({ realm, sender, recipients, conversationExists: row.before })).toBe(row.expected);
  });

  it('checks the permission for direct messages before the permission to start a conversation', () => {
    const { nobody } = systemGroup;
    const realm = makeRealm({
      permissionOverrides: { directMessagePermission: nobody, directMessageInitiator: nobody },
    });
    expect(send({ realm })).toBe(disabled);
  });

  it('requires no permission for messages with bots, from bots or to oneself', () => {
    const { nobody } = systemGroup;
    const realm = makeRealm({
      permissionOverrides: { directMessagePermission: nobody, directMessageInitiator: nobody },
    });
    expect(send({ realm, sender: makeActor('member', { isBot: true }) })).toBe('yes');
    expect(send({ realm, recipients: [person(20, { bot })] })).toBe('yes');
    expect(send({ realm, recipients: [person(20, { bot }), person(10)] })).toBe('yes');
    expect(send({ realm, recipients: [person(10)] })).toBe('yes');
    expect(send({ realm, recipients: [person(20, { bot }), person(21)] })).toBe(disabled);
  });

  it('ignores recipients without known permissions when looking for an authorizing user', () => {
    const realm = makeRealm({ permissionOverrides: { directMessagePermission: TEAM } });
    expect(send({ realm, recipients: [person(20, { actor: null })] })).toBe(unauthorized);
  });

  it('lets limited guests write only to users they share a conversation with', () => {
    const realm = makeRealm({ permissionOverrides: { canAccessAllUsers: systemGroup.members } });
    const sender = makeActor('guest', { id: 10 });
    expect(send({ realm, sender })).toBe(noAccess);
    expect(send({ realm, sender, recipients: [person(20, { sharesConversation: true })] })).toBe('yes');
    expect(send({ realm, sender, recipients: [person(20, { sharesConversation: true }), person(21)] })).toBe(noAccess);
    expect(send({ realm, sender, recipients: [person(20, { bot })] })).toBe('yes');
    expect(send({ realm, sender, recipients: [person(10)] })).toBe('yes');
    expect(send({ realm, sender: makeActor('member') })).toBe('yes');
  });

  it('rejects deactivated recipients after the access check and before the permission check', () => {
    const gone = person(20, { isActive: false });
    const goneText = "NAMED_USER_DEACTIVATED: 'user20@example.com' is no longer using Zulip.";
    expect(send({ recipients: [gone] })).toBe(goneText);
    expect(send({ recipients: [person(21), gone] })).toBe(goneText);
    const strict = makeRealm({
      permissionOverrides: { canAccessAllUsers: systemGroup.members, directMessagePermission: systemGroup.nobody },
    });
    expect(send({ recipients: [gone], realm: strict, sender: makeActor('guest') })).toBe(noAccess);
    expect(send({ recipients: [gone], realm: strict })).toBe(goneText);
    // Applies to bots as well.
    expect(send({ recipients: [gone], sender: makeActor('member', { isBot: true }) })).toBe(goneText);
  });
});
