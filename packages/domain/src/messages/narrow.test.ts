import {
  aChannel,
  aMessage,
  aUserOfEachRole,
  createFixture,
  fakeRealmUrls,
  type MemoryFixture,
  subscribe,
} from '@parley/testkit';
import { unsubscribeFromChannels } from '../channels/subscribing.js';
import type { ChannelId, MessageId, RecipientId, UserId } from '../kernel/ids.js';
import { HISTORICAL } from './message.js';
import {
  type ConditionSubject,
  EVERY_MESSAGE,
  type MessageCondition,
  matchesCondition,
  NO_MESSAGE,
  not,
} from './message-condition.js';
import { receivedMessagesIn, replaceWith, resolveNarrow } from './narrow.js';
import { mutedMessages, type NarrowTerm } from './narrow-operators.js';
import { PLAIN_TEXTS, searchedText } from './search.js';

const term = (operator: string, operand: NarrowTerm['operand'], negated = false): NarrowTerm => ({
  operator,
  operand,
  negated,
});

const town = () =>
  createFixture(
    aUserOfEachRole(),
    aChannel({ name: 'public', subscribers: ['member'] }),
    aChannel({ name: 'shared', privacy: 'privateSharedHistory', subscribers: ['member'] }),
    aChannel({ name: 'vault', privacy: 'privateProtectedHistory', subscribers: ['member'] }),
    aMessage({ from: 'owner', to: 'public', topic: 'Lunch' }),
    aMessage({ from: 'member', to: ['owner'] }),
    aMessage({ from: 'member', to: ['owner', 'guest'] }),
    aMessage({ from: 'member', to: ['member'] }),
    async (fixture, tx) => {
      const { realmId, userId } = fixture.viewer('member');
      for (const name of ['shared', 'vault']) {
        const row = (await tx.channels.findSubscription(realmId, fixture.channel(name).id, userId))!;
        await tx.channels.putSubscriptions([{ ...row, isMuted: true }]);
      }
      const choices = [
        ['public', 'Noise', 'muted'],
        ['shared', 'Loud', 'followed'],
      ] as const;
      for (const [name, topic, visibility] of choices) {
        const channelId = fixture.channel(name).id;
        await tx.topicPolicies.put({ realmId, userId, channelId, topic, visibility, changedAt: 0 });
      }
    },
  );

/** Expected mutes: topic `public/noise`, channel `shared` except topic `loud`, and channel `vault`. */
const mutedOf = (fixture: MemoryFixture): MessageCondition => {
  const [open, shared, vault] = ['public', 'shared', 'vault'].map((name) => fixture.channel(name).recipientId);
  return {
    kind: 'anyOf',
    conditions: [
      { kind: 'channelTopic', topics: [{ recipientId: open!, topicKey: 'noise' }] },
      { kind: 'recipient', recipientIds: [vault!] },
      {
        kind: 'allOf',
        conditions: [
          { kind: 'recipient', recipientIds: [shared!] },
          not({ kind: 'channelTopic', topics: [{ recipientId: shared!, topicKey: 'loud' }] }),
        ],
      },
    ],
  };
};

const resolve = (fixture: MemoryFixture, who: string, ...terms: readonly NarrowTerm[]) =>
  fixture.uow.read(fixture.realm.id, async (r) =>
    resolveNarrow(
      { reads: r, actor: await r.actors.get(fixture.caller(who)), realmUrls: fakeRealmUrls, words: PLAIN_TEXTS },
      terms,
    ),
  );
const conditionsOf = async (fixture: MemoryFixture, who: string, ...terms: readonly NarrowTerm[]) =>
  (await resolve(fixture, who, ...terms)).filter.conditions;

describe('resolveNarrow', () => {
  it.each<[string, (fixture: MemoryFixture) => NarrowTerm, (fixture: MemoryFixture) => MessageCondition]>([
    [
      'a channel by name',
      () => term('channel', ' PUBLIC '),
      (s) => ({ kind: 'recipient', recipientIds: [s.channel('public').recipientId] }),
    ],
    [
      'a channel by id',
      (s) => term('channel', s.channel('vault').id),
      (s) => ({ kind: 'recipient', recipientIds: [s.channel('vault').recipientId] }),
    ],
    ['a topic', () => term('topic', ' LUNCH '), () => ({ kind: 'topic', topicKey: 'lunch' })],
    ['a numeric topic', () => term('topic', 7), () => ({ kind: 'topic', topicKey: '7' })],
    [
      'the empty topic by its display name',
      () => term('topic', 'general chat'),
      () => ({ kind: 'topic', topicKey: '' }),
    ],
    [
      'a conversation',
      (s) => term('dm', [s.user('owner').id]),
      (s) => ({ kind: 'recipient', recipientIds: [s.messages[1]!.recipientId] }),
    ],
    [
      'a conversation that includes the user',
      (s) => term('dm', [s.user('owner').id, s.user('member').id, s.user('owner').id]),
      (s) => ({ kind: 'recipient', recipientIds: [s.messages[1]!.recipientId] }),
    ],
    [
      'a group conversation by address',
      () => term('dm', ' guest@example.com ,, OWNER@example.com,'),
      (s) => ({ kind: 'recipient', recipientIds: [s.messages[2]!.recipientId] }),
    ],
    [
      'a conversation with oneself',
      (s) => term('dm', s.user('member').id),
      (s) => ({ kind: 'recipient', recipientIds: [s.messages[3]!.recipientId] }),
    ],
    // Matches nothing or, if negated, everything, since the conversation has no recipient.
    ['a conversation never started', () => term('dm', 'moderator@example.com'), () => NO_MESSAGE],
    ['an empty list of participants', () => term('dm', []), () => NO_MESSAGE],
    ['an empty text of participants', () => term('dm', ' , '), () => NO_MESSAGE],
    [
      'a sender by address',
      () => term('sender', 'OWNER@example.com '),
      (s) => ({ kind: 'sender', userId: s.user('owner').id }),
    ],
    [
      'a sender by id',
      (s) => term('sender', s.user('guest').id),
      (s) => ({ kind: 'sender', userId: s.user('guest').id }),
    ],
    [
      'a mention by address',
      () => term('mentions', 'owner@example.com'),
      (s) => ({ kind: 'mentions', userId: s.user('owner').id }),
    ],
    [
      'a mention by id',
      (s) => term('mentions', s.user('guest').id),
      (s) => ({ kind: 'mentions', userId: s.user('guest').id }),
    ],
    [
      'a search for words and phrases',
      () => term('search', 'Red "Red Oven" " " ""'),
      () => ({ kind: 'search', words: [[['red']], [['oven']]], phrases: ['red oven'] }),
    ],
    ['a search without words', () => term('search', '" ?! "'), () => NO_MESSAGE],
    ['a message', () => term('id', '12'), () => ({ kind: 'message', messageId: 12 as MessageId })],
    [
      'a message by numeric id',
      () => term('id', 2_147_483_647),
      () => ({ kind: 'message', messageId: 2_147_483_647 as MessageId }),
    ],
    ['messages near an id', () => term('near', '7'), () => EVERY_MESSAGE],
    [
      'all public channels',
      () => term('channels', 'public'),
      () => ({ kind: 'channelPrivacy', privacies: ['public', 'webPublic'] }),
    ],
    [
      'all web-public channels',
      () => term('streams', 'web-public'),
      () => ({ kind: 'channelPrivacy', privacies: ['webPublic'] }),
    ],
    [
      'conversations with a user',
      (s) => term('dm-including', s.user('owner').id),
      (s) => ({ kind: 'recipient', recipientIds: [s.messages[1]!.recipientId, s.messages[2]!.recipientId] }),
    ],
    [
      'conversations with a user who has none',
      () => term('dm-including', 'moderator@example.com'),
      () => ({ kind: 'recipient', recipientIds: [] }),
    ],
    ['all direct messages', (s) => term('dm-including', s.user('member').id), () => ({ kind: 'direct' })],
    [
      'group conversations with a user',
      () => term('group-pm-with', 'owner@example.com'),
      (s) => ({ kind: 'recipient', recipientIds: [s.messages[2]!.recipientId] }),
    ],
    [
      'all group conversations',
      (s) => term('group_pm_with', s.user('member').id),
      (s) => ({ kind: 'recipient', recipientIds: [s.messages[2]!.recipientId] }),
    ],
    ['direct', () => term('is', 'dm'), () => ({ kind: 'direct' })],
    ['direct messages by the older name', () => term('is', 'private'), () => ({ kind: 'direct' })],
    ['starred', () => term('is', 'starred'), () => ({ kind: 'flag', flag: 'starred' })],
    ['unread', () => term('is', 'unread'), () => not({ kind: 'flag', flag: 'read' })],
    [
      'mentions including wildcards',
      () => term('is', 'mentioned'),
      () => ({
        kind: 'anyOf',
        conditions: [
          { kind: 'flag', flag: 'mentioned' },
          { kind: 'flag', flag: 'channelWildcardMentioned' },
          { kind: 'flag', flag: 'topicWildcardMentioned' },
        ],
      }),
    ],
    ['alerted', () => term('is', 'alerted'), () => ({ kind: 'flag', flag: 'hasAlertWord' })],
    ['resolved', () => term('is', 'resolved'), () => ({ kind: 'property', property: 'isResolved' })],
    [
      'messages in followed topics',
      () => term('is', 'followed'),
      (s) => ({
        kind: 'channelTopic',
        topics: [{ recipientId: s.channel('shared').recipientId, topicKey: 'loud' }],
      }),
    ],
    ['muted', () => term('is', 'muted'), mutedOf],
    ['unmuted messages', () => term('in', 'home'), (s) => not(mutedOf(s))],
    ['anywhere', () => term('in', 'all'), () => EVERY_MESSAGE],
    ['messages with a link', () => term('has', 'link'), () => ({ kind: 'property', property: 'hasLink' })],
    ['messages with an image', () => term('has', 'image'), () => ({ kind: 'property', property: 'hasImage' })],
    [
      'messages with an attachment',
      () => term('has', 'attachment'),
      () => ({ kind: 'property', property: 'hasAttachment' }),
    ],
  ])('resolves %s, negated or not', async (_, termOf, conditionOf) => {
    const fixture = await town();
    const condition = conditionOf(fixture);
    expect(await conditionsOf(fixture, 'member', termOf(fixture))).toEqual([condition]);
    expect(await conditionsOf(fixture, 'member', { ...termOf(fixture), negated: true })).toEqual([not(condition)]);
  });

  it('joins search terms except negated ones', async () => {
    const fixture = await town();
    const terms = [
      term('search', 'red "dark'),
      term('search', '?'),
      term('search', 'oven"'),
      term('search', 'x', true),
    ];
    const { filter, search } = await resolve(fixture, 'member', ...terms);
    expect(filter.conditions).toEqual([
      { kind: 'search', words: [[['red']], [['dark']], [['oven']]], phrases: ['dark ? oven'] },
      not({ kind: 'search', words: [[['x']]], phrases: [] }),
    ]);
    expect(search).toBe('red "dark ? oven"');
    expect((await resolve(fixture, 'member', terms[3]!)).search).toBeNull();
  });

  it.each<[NarrowTerm, string]>([
    [term('hasOwnProperty', 'x'), 'unknown operator hasOwnProperty'],
    [term('', 'x'), 'unknown operator '],
    [term('with', 1), 'unknown operator with'],
    [term('mentions', 999), 'unknown user 999'],
    [term('mentions', 'x@y.z'), 'unknown user x@y.z'],
    [term('search', Array.from({ length: 51 }, (_, n) => `w${n}`).join(' ')), 'more than 50 words are searched for'],
    [term('dm_including', 1), 'unknown operator dm_including'],
    [term('before', 'yesterday'), 'invalid date yesterday'],
    [term('after', '2026-02-30'), 'invalid date 2026-02-30'],
    [term('during', ''), 'invalid date '],
    [term('channels', 'private'), 'unknown channels operand private'],
    [term('channels', 'constructor'), 'unknown channels operand constructor'],
    [term('dm-including', 999), 'unknown user 999'],
    [term('group-pm-with', 'x@y.z'), 'unknown user x@y.z'],
    [term('is', 'dull'), "unknown 'is' operand dull"],
    [term('is', ''), "unknown 'is' operand "],
    [term('has', 'links'), "unknown 'has' operand links"],
    [term('has', 'reactions'), "unknown 'has' operand reactions"],
    [term('in', 'office'), "unknown 'in' operand office"],
    [term('channel', 'nowhere'), 'unknown channel nowhere'],
    [term('channel', 999), 'unknown channel 999'],
    [term('sender', ''), 'unknown user '],
    [term('sender', 'owner@example.com,member@example.com'), 'unknown user owner@example.com,member@example.com'],
    [term('sender', 999), 'unknown user 999'],
    [term('dm', [1, 999]), 'unknown user in [1, 999]'],
    [term('dm', 'x@y.z'), 'unknown user in x@y.z'],
    [term('id', 2_147_483_648), 'Invalid message ID'],
    [term('id', ''), 'Invalid message ID'],
    [term('id', '1e3'), 'Invalid message ID'],
  ])('rejects %j', async (wrong, description) => {
    const fixture = await town();
    await expect(resolve(fixture, 'member', wrong)).rejects.toMatchObject({
      code: 'INVALID_NARROW',
      details: { description },
    });
  });

  it.each<[readonly NarrowTerm[], boolean]>([
    [[term('channel', 'public'), term('dm', [])], true],
    [[term('dm', []), term('topic', 'x')], true],
    [[term('is', 'dm'), term('stream', 'public')], true],
    [[term('is', 'private'), term('channels', 'public')], true],
    [[term('dm-including', 'owner@example.com'), term('topic', 'x')], true],
    [[term('group-pm-with', 'owner@example.com'), term('topic', 'x')], true],
    [[term('is', 'dm', true), term('dm', [])], true],
    [[term('is', 'dm', true), term('channel', 'public')], false],
    [[term('is', 'dm'), term('topic', 'x', true)], false],
    [[term('is', 'starred'), term('dm', []), term('has', 'link')], false],
    [[term('channel', 'public', true), term('dm', [])], false],
    [[term('channel', 'public'), term('dm', [], true)], false],
    [[term('channel', 'public'), term('topic', 'x'), term('sender', 'owner@example.com')], false],
    [[term('dm', []), term('sender', 'owner@example.com'), term('near', '1')], false],
  ])('detects contradicting terms in %j: %s', async (terms, contradicts) => {
    const resolving = resolve(await town(), 'member', ...terms);
    const description = 'No message can be both a channel message and direct message';
    if (contradicts) await expect(resolving).rejects.toMatchObject({ details: { description } });
    else await expect(resolving).resolves.toBeDefined();
  });
});

it('resolveNarrow resolves repeated terms once', async () => {
  const fixture = await town();
  const asked: string[] = [];
  await fixture.uow.read(fixture.realm.id, async (r) => {
    const topicPolicies = Object.create(r.topicPolicies, {
      list: {
        value: (...who: Parameters<typeof r.topicPolicies.list>) => {
          asked.push('policies');
          return r.topicPolicies.list(...who);
        },
      },
    });
    const actor = await r.actors.get(fixture.caller('member'));
    const context = { reads: { ...r, topicPolicies }, actor, realmUrls: fakeRealmUrls, words: PLAIN_TEXTS };
    await resolveNarrow(context, Array(100).fill(term('is', 'followed')));
  });
  expect(asked).toEqual(['policies']);
});

describe('users named in a narrow', () => {
  it('are looked up in one batch', async () => {
    const fixture = await town();
    const [owner, guest] = [fixture.user('owner').id, fixture.user('guest').id];
    const terms = [
      ...Array.from({ length: 20 }, (_, n) => term('dm', n % 2 === 0 ? [owner, guest] : 'owner@example.com', true)),
      term('sender', guest),
      term('dm-including', 'guest@example.com'),
    ];
    const lookups = await fixture.uow.read(fixture.realm.id, async (reads) => {
      const [byId, byEmail] = [jest.spyOn(reads.users, 'list'), jest.spyOn(reads.users, 'listByEmail')];
      const actor = await reads.actors.get(fixture.caller('member'));
      await resolveNarrow({ reads, actor, realmUrls: fakeRealmUrls, words: PLAIN_TEXTS }, terms);
      // Addresses that contain an id cause an additional look-up without ids.
      const askedIds = byId.mock.calls.map(([, ids]) => [...ids].sort((a, b) => a - b));
      return { ids: askedIds.filter((ids) => ids.length > 0), emails: byEmail.mock.calls.map(([, emails]) => emails) };
    });
    expect(lookups).toEqual({
      ids: [[owner, guest].sort((a, b) => a - b)],
      emails: [['owner@example.com', 'guest@example.com']],
    });
  });

  it('reports the first invalid term in the order of the terms', async () => {
    const fixture = await town();
    const wrong = [term('channel', 'nowhere'), term('sender', 'nobody@example.com')];
    await expect(resolve(fixture, 'member', ...wrong)).rejects.toThrow('unknown channel nowhere');
    await expect(resolve(fixture, 'member', ...wrong.reverse())).rejects.toThrow('unknown user nobody@example.com');
  });
});

describe('narrow scope (messages §5.4)', () => {
  it.each`
    who                | terms                                                    | scope       | named
    ${'member'}        | ${[]}                                                    | ${'own'}    | ${false}
    ${'moderator'}     | ${[term('channel', 'public')]}                           | ${'shared'} | ${true}
    ${'moderator'}     | ${[term('channel', 'public', true)]}                     | ${'own'}    | ${false}
    ${'guest'}         | ${[term('channel', 'public')]}                           | ${'own'}    | ${true}
    ${'member'}        | ${[term('channel', 'shared')]}                           | ${'shared'} | ${true}
    ${'administrator'} | ${[term('channel', 'shared')]}                           | ${'own'}    | ${true}
    ${'member'}        | ${[term('channel', 'vault')]}                            | ${'own'}    | ${true}
    ${'member'}        | ${[term('topic', 'x')]}                                  | ${'own'}    | ${false}
    ${'member'}        | ${[term('dm', [])]}                                      | ${'own'}    | ${false}
    ${'member'}        | ${[term('channel', 'vault'), term('channel', 'public')]} | ${'shared'} | ${true}
  `('is $scope for $terms by $who', async ({ who, terms, scope, named }) => {
    const resolved = await resolve(await town(), who, ...terms);
    expect(resolved.filter.scope).toBe(scope);
    expect(resolved.namesChannel).toBe(named);
  });

  it.each`
    who         | terms                                                      | scope
    ${'member'} | ${[term('channels', 'public')]}                            | ${'shared'}
    ${'guest'}  | ${[term('channels', 'public')]}                            | ${'own'}
    ${'member'} | ${[term('channels', 'web-public')]}                        | ${'own'}
    ${'member'} | ${[term('channels', 'public', true)]}                      | ${'own'}
    ${'member'} | ${[term('channel', 'public'), term('is', 'resolved')]}     | ${'shared'}
    ${'member'} | ${[term('channel', 'public'), term('is', 'starred')]}      | ${'own'}
    ${'member'} | ${[term('channel', 'public'), term('is', 'unread', true)]} | ${'own'}
    ${'member'} | ${[term('channel', 'public'), term('in', 'home')]}         | ${'shared'}
    ${'member'} | ${[term('channel', 'public'), term('has', 'link')]}        | ${'shared'}
  `('is $scope for $terms by $who', async ({ who, terms, scope }) => {
    expect((await resolve(await town(), who, ...terms)).filter.scope).toBe(scope);
  });

  it("excludes channels that the user can no longer read from the user's own history", async () => {
    const fixture = await town();
    const left = ['public', 'shared', 'vault'].map(fixture.channel);
    await fixture.add(...['shared', 'vault', 'public'].map((to) => aMessage({ from: 'owner', to })));
    await fixture.uow.write(fixture.realm.id, (tx) => unsubscribeFromChannels(tx, left, [fixture.user('member').id]));
    const recipient = (...names: readonly string[]): MessageCondition => ({
      kind: 'recipient',
      recipientIds: names.map((name) => fixture.channel(name).recipientId),
    });
    const hidden = not(recipient('shared', 'vault'));
    expect(await conditionsOf(fixture, 'member')).toEqual([hidden]);
    expect(await conditionsOf(fixture, 'member', term('channel', 'vault'))).toEqual([recipient('vault'), hidden]);
    // Publicly readable channels need no exclusion.
    expect(await conditionsOf(fixture, 'member', term('channel', 'public'))).toEqual([recipient('public')]);
    await fixture.uow.write(fixture.realm.id, (tx) =>
      subscribe(tx, fixture.channel('vault'), [fixture.user('member').id]),
    );
    expect(await conditionsOf(fixture, 'member')).toEqual([not(recipient('shared'))]);
  });
});

describe('`with` (messages §7.5)', () => {
  const replaced = (fixture: MemoryFixture, who: string, ...terms: readonly NarrowTerm[]) =>
    fixture.uow.read(fixture.realm.id, async (r) => replaceWith(r, await r.actors.get(fixture.caller(who)), terms));

  it("replaces `with` with the message's channel and topic", async () => {
    const fixture = await town();
    const inLunch = [term('channel', fixture.channel('public').id), term('topic', 'Lunch')];
    const { id } = fixture.messages[0]!;
    expect(await replaced(fixture, 'member', term('with', id))).toEqual(inLunch);
    expect(await replaced(fixture, 'member', term('with', String(id)), term('stream', 'gone'))).toEqual(inLunch);
    const rest = [term('is', 'unread'), term('pm-with', [1]), term('topic', 'x', true)];
    expect(await replaced(fixture, 'member', ...rest, term('with', id))).toEqual([term('is', 'unread'), ...inLunch]);
  });

  it('replaces `with` with the participants of a direct conversation', async () => {
    const fixture = await town();
    const participants = ['owner', 'member'].map((name) => fixture.user(name).id).sort((a, b) => a - b);
    const { id } = fixture.messages[1]!;
    expect(await replaced(fixture, 'member', term('channel', 'x'), term('with', id))).toEqual([
      term('dm', participants),
    ]);
  });

  it('drops `with` for a hidden or missing message if other terms select a conversation', async () => {
    const fixture = await town();
    const hidden = term('with', fixture.messages[1]!.id);
    const location = [term('stream', 'public'), term('topic', 'x')];
    for (const gone of [hidden, term('with', 999)]) {
      expect(await replaced(fixture, 'moderator', ...location, gone)).toEqual(location);
      expect(await replaced(fixture, 'moderator', gone, term('dm', []))).toEqual([term('dm', [])]);
    }
  });

  it.each<[readonly NarrowTerm[], string]>([
    [[term('with', 999)], "Invalid 'with' operator"],
    [[term('with', 999), term('channel', 'public')], "Invalid 'with' operator"],
    [[term('with', 'x'), term('dm', [])], "Invalid 'with' operator"],
    [[term('with', '')], "Invalid 'with' operator"],
    [[term('with', 1), term('with', 1)], "Duplicate 'with' operators."],
  ])('rejects %j', async (terms, description) => {
    await expect(replaced(await town(), 'member', ...terms)).rejects.toMatchObject({
      code: 'INVALID_NARROW',
      message: `Invalid narrow operator${terms.length > 1 && terms[1]!.operator === 'with' ? ' combination' : ''}: ${description}`,
      details: { description },
    });
  });
});

describe('matchesCondition', () => {
  const message = {
    id: 7 as MessageId,
    senderId: 10 as UserId,
    recipientId: 30 as RecipientId,
    channelId: 3 as ChannelId,
    topic: 'Lunch',
    hasLink: true,
    hasImage: false,
    hasAttachment: false,
    hasReactions: true,
  };
  const flags = { ...HISTORICAL, starred: true };
  const said = {
    content: 'Hi @**Hamlet**',
    renderedContent: '<p>Hi <span class="user-mention" data-user-id="12">@Hamlet</span></p>',
  };
  const text = (topic: string) => () => searchedText(PLAIN_TEXTS, { ...said, topic });
  const data = () => ({ orderId: 7 });
  const ofChannel: ConditionSubject = { message, channelPrivacy: 'public', flags, text: text('Lunch'), data };
  const ofPeople: ConditionSubject = {
    message: { ...message, channelId: null, topic: '' },
    channelPrivacy: null,
    flags,
    text: text(''),
    data: () => ({}),
  };

  it.each<[object, boolean, boolean]>([
    [{ kind: 'recipient', recipientIds: [30] }, true, true],
    [{ kind: 'recipient', recipientIds: [31] }, false, false],
    [{ kind: 'recipient', recipientIds: [29, 30] }, true, true],
    [{ kind: 'direct' }, false, true],
    [{ kind: 'channelPrivacy', privacies: ['webPublic', 'public'] }, true, false],
    [{ kind: 'channelPrivacy', privacies: ['webPublic'] }, false, false],
    [{ kind: 'topic', topicKey: 'lunch' }, true, false],
    [{ kind: 'topic', topicKey: '' }, false, false],
    [{ kind: 'channelTopic', topics: [{ recipientId: 30, topicKey: 'lunch' }] }, true, false],
    [{ kind: 'channelTopic', topics: [{ recipientId: 31, topicKey: 'lunch' }] }, false, false],
    [{ kind: 'sender', userId: 10 }, true, true],
    [{ kind: 'sender', userId: 11 }, false, false],
    [{ kind: 'message', messageId: 7 }, true, true],
    [{ kind: 'message', messageId: 8 }, false, false],
    [{ kind: 'fromMessage', messageId: 7 }, true, true],
    [{ kind: 'fromMessage', messageId: 8 }, false, false],
    [{ kind: 'property', property: 'hasLink' }, true, true],
    [{ kind: 'property', property: 'hasImage' }, false, false],
    [{ kind: 'property', property: 'hasReactions' }, true, true],
    [{ kind: 'property', property: 'isResolved' }, false, false],
    [{ kind: 'flag', flag: 'starred' }, true, true],
    [{ kind: 'flag', flag: 'mentioned' }, false, false],
    [{ kind: 'search', words: [[['hi']], [['hamlet']]], phrases: [] }, true, true],
    [{ kind: 'search', words: [[['hi']], [['lunch']]], phrases: [] }, true, false],
    [{ kind: 'search', words: [[['ham']]], phrases: [] }, false, false],
    [{ kind: 'search', words: [[['hi']]], phrases: ['hi @**ham'] }, true, true],
    [{ kind: 'search', words: [[['hi']]], phrases: ['unch'] }, true, false],
    [{ kind: 'data', key: { name: 'orderId', type: 'number' }, value: '7' }, true, false],
    [{ kind: 'mentions', userId: 12 }, true, true],
    [{ kind: 'mentions', userId: 10 }, false, false],
    [NO_MESSAGE, false, false],
    [EVERY_MESSAGE, true, true],
    [{ kind: 'anyOf', conditions: [NO_MESSAGE, { kind: 'direct' }] }, false, true],
    [{ kind: 'allOf', conditions: [EVERY_MESSAGE, { kind: 'topic', topicKey: 'lunch' }] }, true, false],
  ])('matches %j: %s for a channel message, %s for a direct message', (condition, inChannel, between) => {
    for (const [subject, holds] of [
      [ofChannel, inChannel],
      [ofPeople, between],
    ] as const) {
      expect(matchesCondition(subject, condition as MessageCondition)).toBe(holds);
      expect(matchesCondition(subject, not(condition as MessageCondition))).toBe(!holds);
    }
  });

  it('detects a resolved topic by its prefix', () => {
    const resolved: MessageCondition = { kind: 'property', property: 'isResolved' };
    const named = (topic: string): ConditionSubject => ({ ...ofChannel, message: { ...message, topic } });
    expect(matchesCondition(named('✔ Lunch'), resolved)).toBe(true);
    expect(matchesCondition(named('✔Lunch'), resolved)).toBe(false);
  });
});

it('receivedMessagesIn returns a filter for received messages of a channel or topic', () => {
  const recipientId = 30 as RecipientId;
  const channel = { kind: 'recipient', recipientIds: [recipientId] };
  expect(receivedMessagesIn(recipientId)).toEqual({ conditions: [channel], scope: 'own' });
  const topic = { kind: 'topic', topicKey: '' };
  expect(receivedMessagesIn(recipientId, '')).toEqual({ conditions: [channel, topic], scope: 'own' });
});

describe('mutedMessages', () => {
  const recipientIn = (fixture: MemoryFixture, name: string) => fixture.channel(name).recipientId;
  const mutedIn = (fixture: MemoryFixture, what: 'topics' | 'topicsAndChannels') =>
    fixture.uow.read(fixture.realm.id, async (r) =>
      mutedMessages({ reads: r, actor: await r.actors.get(fixture.caller('member')) }, what),
    );

  it('includes muted topics and channels except their unmuted and followed topics', async () => {
    const fixture = await town();
    expect(await mutedIn(fixture, 'topicsAndChannels')).toEqual(mutedOf(fixture));
    expect(await mutedIn(fixture, 'topics')).toEqual({
      kind: 'channelTopic',
      topics: [{ recipientId: recipientIn(fixture, 'public'), topicKey: 'noise' }],
    });
  });

  it('ignores muted channels without an active subscription', async () => {
    const fixture = await town();
    const left = ['shared', 'vault'].map(fixture.channel);
    await fixture.uow.write(fixture.realm.id, (tx) => unsubscribeFromChannels(tx, left, [fixture.user('member').id]));
    expect(await mutedIn(fixture, 'topicsAndChannels')).toEqual(await mutedIn(fixture, 'topics'));
  });
});
