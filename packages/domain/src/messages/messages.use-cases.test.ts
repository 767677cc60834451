import {
  aChannel,
  aMessage,
  anotherRealm,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  createFixture,
  expectRefused,
  fakeRealmUrls,
  type MemoryFixture,
} from '@parley/testkit';
import { unsubscribeFromChannels } from '../channels/subscribing.js';
import type { MessageId } from '../kernel/ids.js';
import type { PageRange } from './message-page.js';
import { GetMessage, GetMessages, type GetMessagesInput } from './messages.use-cases.js';
import type { NarrowTerm } from './narrow-operators.js';
import { PLAIN_TEXTS } from './search.js';
import { ListTopics } from './topics.js';

const everything: PageRange = { anchor: { kind: 'newest' }, before: 100, after: 0, includeAnchor: true };
const term = (operator: string, operand: NarrowTerm['operand'], negated = false): NarrowTerm => ({
  operator,
  operand,
  negated,
});
const not = (operator: string, operand: NarrowTerm['operand']) => term(operator, operand, true);

/**
 * Creates messages with their location as content. The guest joined all channels except `web` and `public` before the
 * first message.
 */
const town = async () => {
  const fixture = await createFixture(
    aUserOfEachRole(),
    aUser({ name: 'late' }),
    aUser({ name: 'loner', role: 'guest' }),
    aChannel({ name: 'public', subscribers: ['member'] }),
    aChannel({ name: '5', subscribers: ['member'] }),
    aChannel({ name: 'web', privacy: 'webPublic' }),
    aChannel({ name: 'shared', privacy: 'privateSharedHistory', subscribers: ['member', 'guest'] }),
    aChannel({ name: 'protected', privacy: 'privateProtectedHistory', subscribers: ['member', 'guest'] }),
    aMessage({ from: 'owner', to: 'public', topic: 'Lunch', content: 'public' }),
    aMessage({ from: 'owner', to: 'web', topic: '', content: 'web' }),
    aMessage({ from: 'member', to: 'shared', topic: 'lunch', content: 'shared' }),
    aMessage({ from: 'member', to: 'protected', topic: 'dinner', content: 'protected' }),
    aMessage({ from: 'member', to: ['owner'], content: 'one to one' }),
    aMessage({ from: 'owner', to: ['member', 'guest'], content: 'three' }),
    aMessage({ from: 'member', to: ['member'], content: 'alone' }),
  );
  await fixture.uow.write(fixture.realm.id, async (tx) => {
    for (const name of ['shared', 'protected']) {
      const { recipientId, id } = fixture.channel(name);
      const { realmId, userId } = fixture.viewer('late');
      const row = (await tx.channels.findSubscription(realmId, id, fixture.user('member').id))!;
      await tx.channels.putSubscriptions([{ ...row, userId }]);
      await tx.personal.openSpans(realmId, [recipientId], [userId]);
    }
  });
  return fixture;
};

const get = (
  fixture: MemoryFixture,
  who: string,
  narrow: readonly NarrowTerm[],
  select: GetMessagesInput['select'] = everything,
) =>
  new GetMessages(fixture.uow, fakeRealmUrls, PLAIN_TEXTS).execute(
    fixture.caller(who),
    { narrow, select },
    async (list, hydrate) => ({
      ...list,
      contents: (await hydrate(list.entries.map(({ id }) => id))).map(({ message }) => message.content),
    }),
  );
const contents = async (fixture: MemoryFixture, who: string, ...narrow: readonly NarrowTerm[]) =>
  (await get(fixture, who, narrow)).contents;
const idOf = (fixture: MemoryFixture, content: string) =>
  fixture.messages.find((message) => message.content === content)!.id;

describe('GetMessages with a narrow', () => {
  it.each<[string, string, readonly NarrowTerm[], readonly string[]]>([
    [
      'no term (all received messages)',
      'member',
      [],
      ['public', 'shared', 'protected', 'one to one', 'three', 'alone'],
    ],
    ['no term, without received messages', 'moderator', [], []],
    ['a public channel, including unreceived messages', 'moderator', [term('channel', 'PUBLIC ')], ['public']],
    ['a web-public channel, even for guests', 'guest', [term('channel', 'web')], ['web']],
    ['a public channel, for an unsubscribed guest', 'guest', [term('channel', 'public')], []],
    ['a private channel with shared history', 'late', [term('channel', 'shared')], ['shared']],
    ['a private channel with protected history', 'late', [term('channel', 'protected')], []],
    ['a private channel, received', 'guest', [term('channel', 'protected')], ['protected']],
    ['a private channel, for an unsubscribed administrator', 'administrator', [term('channel', 'shared')], []],
    [
      'a negated channel, with received messages only',
      'member',
      [not('channel', 'public')],
      ['shared', 'protected', 'one to one', 'three', 'alone'],
    ],
    ['two different channels', 'member', [term('channel', 'public'), term('channel', 'shared')], []],
    ['a channel with a numeric name', 'member', [term('channel', '5')], []],
    ['a topic, case-insensitively', 'member', [term('topic', 'LUNCH')], ['public', 'shared']],
    ['a topic in a channel', 'moderator', [term('channel', 'public'), term('topic', 'lunch')], ['public']],
    ['another topic in a channel', 'moderator', [term('channel', 'public'), not('topic', 'lunch')], []],
    ['the empty topic, without direct messages', 'member', [term('topic', '')], []],
    [
      'the empty topic by its display name',
      'moderator',
      [term('channel', 'web'), term('topic', 'general chat')],
      ['web'],
    ],
    ['a sender', 'member', [term('sender', 'OWNER@example.com')], ['public', 'three']],
    [
      'a negated sender',
      'member',
      [not('sender', 'owner@example.com')],
      ['shared', 'protected', 'one to one', 'alone'],
    ],
    ['a conversation', 'owner', [term('dm', 'member@example.com')], ['one to one']],
    [
      'a conversation that includes the user',
      'owner',
      [term('dm', 'owner@example.com, member@example.com')],
      ['one to one'],
    ],
    ['a group conversation', 'guest', [term('dm', 'owner@example.com,member@example.com,')], ['three']],
    ['a conversation never started', 'owner', [term('dm', 'moderator@example.com')], []],
    ['a conversation with oneself', 'member', [term('dm', 'member@example.com')], ['alone']],
    ['an empty list of participants', 'member', [term('dm', [])], []],
    ['a negated term without a conversation', 'guest', [not('dm', [])], ['shared', 'protected', 'three']],
    ['messages near an id', 'guest', [term('near', '1')], ['shared', 'protected', 'three']],
    [
      'a channel but not a conversation',
      'moderator',
      [not('dm', 'member@example.com'), term('channel', 'public')],
      ['public'],
    ],
  ])('filters by %s (%s)', async (_, who, narrow, expected) => {
    expect(await contents(await town(), who, ...narrow)).toEqual(expected);
  });

  it('accepts numeric ids of channels, users and messages', async () => {
    const fixture = await town();
    const { id } = fixture.channel('public');
    expect(await contents(fixture, 'moderator', term('channel', id))).toEqual(['public']);
    const [owner, member] = [fixture.user('owner').id, fixture.user('member').id];
    expect(await contents(fixture, 'guest', term('sender', owner))).toEqual(['three']);
    expect(await contents(fixture, 'guest', term('dm', [owner, member, owner]))).toEqual(['three']);
    expect(await contents(fixture, 'member', term('id', idOf(fixture, 'three')))).toEqual(['three']);
    expect(await contents(fixture, 'member', term('id', `${idOf(fixture, 'three')}`))).toEqual(['three']);
    expect(await contents(fixture, 'member', term('id', idOf(fixture, 'web')))).toEqual([]);
    expect(await contents(fixture, 'member', term('sender', `user${owner}@chat.example`))).toEqual(['public', 'three']);
  });

  it('reports the first invalid term', async () => {
    const fixture = await town();
    const elsewhere = await anotherRealm(fixture);
    const refused = async (narrow: readonly NarrowTerm[], description: string) => {
      await expect(get(fixture, 'member', narrow)).rejects.toMatchObject({
        code: 'INVALID_NARROW',
        message: `Invalid narrow operator: ${description}`,
        details: { description },
      });
    };
    const theirs = elsewhere.channel('theirs').id;
    const otherRealmUser = elsewhere.user('otherRealmUser').id;
    await refused([term('colour', 'red'), term('id', 'x')], 'unknown operator colour');
    await refused([term('', 'x')], 'unknown operator ');
    await refused([not('channel', 'theirs')], 'unknown channel theirs');
    await refused([term('channel', theirs)], `unknown channel ${theirs}`);
    await refused(
      [term('channel', `${fixture.channel('public').id}`)],
      `unknown channel ${fixture.channel('public').id}`,
    );
    await refused([term('sender', 'otherRealmUser@example.com')], 'unknown user otherRealmUser@example.com');
    await refused([term('sender', otherRealmUser)], `unknown user ${otherRealmUser}`);
    await refused([term('dm', [otherRealmUser, 1])], `unknown user in [${otherRealmUser}, 1]`);
    await refused([term('dm', 'owner@example.com,x')], 'unknown user in owner@example.com,x');
    for (const id of ['12x', '-1', '2147483648']) await refused([term('id', id)], 'Invalid message ID');
    const conflict = 'No message can be both a channel message and direct message';
    await refused([term('dm', 'owner@example.com'), term('channel', 'public')], conflict);
    await refused([term('topic', 'x'), term('dm', [])], conflict);
  });

  it('omits received messages that are no longer readable', async () => {
    const fixture = await town();
    const { id: guest } = fixture.user('guest');
    await fixture.uow.write(fixture.realm.id, (tx) =>
      unsubscribeFromChannels(tx, [fixture.channel('shared'), fixture.channel('protected')], [guest]),
    );
    expect(await contents(fixture, 'guest')).toEqual(['three']);
    expect(await contents(fixture, 'guest', term('channel', 'shared'))).toEqual([]);
    expect(await contents(fixture, 'guest', term('id', idOf(fixture, 'shared')))).toEqual([]);
  });

  it('returns messages that were never received as read and historical', async () => {
    const fixture = await town();
    const { entries } = await get(fixture, 'moderator', [term('channel', 'public')]);
    expect(entries).toMatchObject([{ flags: { read: true, historical: true } }]);
  });
});

describe('GetMessages by ids', () => {
  it('returns existing, readable messages that match the narrow', async () => {
    const fixture = await town();
    const elsewhere = await anotherRealm(fixture, aMessage({ from: 'otherRealmUser', to: 'theirs' }));
    const ids = [9999 as MessageId, elsewhere.messages[0]!.id, ...fixture.messages.map(({ id }) => id).reverse()];
    const all = await get(fixture, 'late', [], { ids });
    expect(all.contents).toEqual(['public', 'web', 'shared']);
    expect(all).toMatchObject({ anchor: null, foundAnchor: false, foundOldest: false, foundNewest: false });
    expect((await get(fixture, 'late', [not('topic', 'LUNCH')], { ids })).contents).toEqual(['web']);
  });

  it('returns exactly the messages that each user can read individually', async () => {
    const fixture = await town();
    const ids = fixture.messages.map(({ id }) => id);
    // Messages taken from history remain the user's own even if history becomes protected.
    const taken = idOf(fixture, 'shared');
    const { channelId } = fixture.messages.find(({ id }) => id === taken)!;
    await fixture.uow.write(fixture.realm.id, async (tx) => {
      await tx.personal.addHistorical(fixture.viewer('late'), [taken]);
      await tx.channels.update({ ...fixture.channel('shared'), id: channelId!, privacy: 'privateProtectedHistory' });
    });
    for (const who of ['owner', 'administrator', 'moderator', 'member', 'guest', 'late', 'loner']) {
      const readable = [];
      for (const id of ids) {
        const one = new GetMessage(fixture.uow).execute(fixture.caller(who), { id });
        readable.push(...(await one.then(() => [id]).catch(() => [])));
      }
      const { entries } = await get(fixture, who, [], { ids });
      expect([who, entries.map(({ id }) => id)]).toEqual([who, readable]);
    }
    expect((await get(fixture, 'late', [], { ids: [taken] })).contents).toEqual(['shared']);
  });
});

describe('GetMessages limits', () => {
  const fixture = town();

  it.each<[GetMessagesInput['select'], boolean]>([
    [{ ...everything, before: 2500, after: 2500 }, true],
    [{ ...everything, before: 2500, after: 2501, includeAnchor: false }, false],
    [{ ids: Array.from({ length: 5001 }, (_, id) => (id + 1) as MessageId) }, false],
  ])('rejects excessive ranges before any other check (%#)', async (select, isPossible) => {
    const getting = get(await fixture, 'member', isPossible ? [] : [term('colour', 'red')], select);
    if (isPossible) await getting;
    else await expect(getting).rejects.toMatchObject({ message: 'Too many messages requested (maximum 5000).' });
  });

  it('reports an invalid range before an invalid narrow', async () => {
    const range = { ...everything, after: 1, includeAnchor: false };
    await expect(get(await fixture, 'member', [term('colour', 'red')], range)).rejects.toMatchObject({
      message: 'The anchor can only be excluded at an end of the range',
    });
  });
});

describe('GetMessage', () => {
  const one = (fixture: MemoryFixture, who: string, id: MessageId) =>
    new GetMessage(fixture.uow).execute(fixture.caller(who), { id });

  it.each`
    content         | who                | may
    ${'public'}     | ${'moderator'}     | ${true}
    ${'public'}     | ${'guest'}         | ${false}
    ${'web'}        | ${'guest'}         | ${false}
    ${'shared'}     | ${'late'}          | ${true}
    ${'shared'}     | ${'administrator'} | ${false}
    ${'protected'}  | ${'late'}          | ${false}
    ${'protected'}  | ${'guest'}         | ${true}
    ${'one to one'} | ${'owner'}         | ${true}
    ${'one to one'} | ${'guest'}         | ${false}
  `('decides if $who can read $content: $may', async ({ content, who, may }) => {
    const fixture = await town();
    const getting = one(fixture, who, idOf(fixture, content));
    if (may) expect((await getting).view.message).toMatchObject({ content });
    else await expect(getting).rejects.toMatchObject({ code: 'UNKNOWN_MESSAGE', message: 'Invalid message(s)' });
  });

  it('rejects nonexistent messages and those of another realm with the same error', async () => {
    const fixture = await town();
    const elsewhere = await anotherRealm(fixture, aMessage({ from: 'otherRealmUser', to: 'theirs' }));
    for (const id of [9999 as MessageId, elsewhere.messages[0]!.id]) {
      await expectRefused(fixture, () => one(fixture, 'owner', id), {
        code: 'UNKNOWN_MESSAGE',
        message: 'Invalid message(s)',
      });
    }
  });

  it('returns the flags, with historical if the message was never received', async () => {
    const fixture = await town();
    expect((await one(fixture, 'member', idOf(fixture, 'three'))).flags).toMatchObject({
      read: false,
      historical: false,
    });
    expect((await one(fixture, 'late', idOf(fixture, 'shared'))).flags).toMatchObject({ read: true, historical: true });
  });

  it('hides senders whom a limited guest may not see', async () => {
    const fixture = await town();
    await fixture.add(
      aRealmWith({ permissionOverrides: { canAccessAllUsers: 'members' } }),
      aMessage({ from: 'moderator', to: 'shared', content: 'hi' }),
    );
    expect(await one(fixture, 'guest', idOf(fixture, 'hi'))).toMatchObject({ isSenderVisible: false });
    expect(await one(fixture, 'guest', idOf(fixture, 'shared'))).toMatchObject({ isSenderVisible: true });
    expect(await one(fixture, 'late', idOf(fixture, 'hi'))).toMatchObject({ isSenderVisible: true });
    const { hiddenUserIds } = await get(fixture, 'guest', []);
    expect([...hiddenUserIds]).toEqual([fixture.user('moderator').id]);
  });
});

describe('ListTopics', () => {
  const topics = async (fixture: MemoryFixture, who: string, name: string) =>
    (await new ListTopics(fixture.uow).execute(fixture.caller(who), { channelId: fixture.channel(name).id })).map(
      (topic) => topic.name,
    );

  it('merges spellings case-insensitively and returns the most recent topic first', async () => {
    const fixture = await town();
    await fixture.add(
      aMessage({ from: 'owner', to: 'public', topic: 'dinner' }),
      aMessage({ from: 'owner', to: 'public', topic: 'LUNCH' }),
    );
    expect(await topics(fixture, 'moderator', 'public')).toEqual(['LUNCH', 'dinner']);
  });

  it('returns only topics the user can read', async () => {
    const fixture = await town();
    expect(await topics(fixture, 'late', 'shared')).toEqual(['lunch']);
    expect(await topics(fixture, 'guest', 'protected')).toEqual(['dinner']);
    expect(await topics(fixture, 'late', 'protected')).toEqual([]);
  });

  it.each([
    ['administrator', 'shared'],
    ['loner', 'public'],
  ])('hides topics from the %s of the channel %s', async (who, name) => {
    const fixture = await town();
    await expect(topics(fixture, who, name)).rejects.toMatchObject({ message: 'Invalid channel ID' });
  });

  it('rejects channels of another realm', async () => {
    const fixture = await town();
    const elsewhere = await anotherRealm(fixture);
    const listing = new ListTopics(fixture.uow).execute(fixture.caller('owner'), {
      channelId: elsewhere.channel('theirs').id,
    });
    await expect(listing).rejects.toMatchObject({ message: 'Invalid channel ID' });
  });
});
