import {
  aChannel,
  aGroup,
  aMessage,
  anotherRealm,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  createFixture,
  eventsWithReceivers,
  expectInSync,
  expectRefused,
  FakeChannelQuota,
  FakeRenderer,
  type FixtureStep,
  fakeRealmUrls,
  type MemoryFixture,
  subscribe,
} from '@parley/testkit';
import type { UserId } from '../kernel/ids.js';
import { MarkdownTextRenderer } from '../writing/render-message.js';
import { SystemMessages } from '../writing/system-messages.js';
import { ChannelCreator } from './create-channels.use-cases.js';
import { unsubscribeFromChannels } from './subscribing.js';
import { ChangeSubscriptionParts } from './subscription-parts.js';
import { ChannelUnsubscriber, UnsubscribeUsers } from './unsubscribe.use-cases.js';

const everybody = ['owner', 'administrator', 'moderator', 'member', 'guest'];
const cast = (...pieces: readonly FixtureStep[]) => createFixture(aUserOfEachRole(), ...pieces);
const ids = (fixture: MemoryFixture, ...names: readonly string[]) => names.map((name) => fixture.user(name).id);
const unsubscribing = ({ uow, clock }: MemoryFixture) => {
  const renderer = new FakeRenderer();
  const messages = new SystemMessages(renderer, fakeRealmUrls, clock);
  const creator = new ChannelCreator(
    new MarkdownTextRenderer(uow, renderer, fakeRealmUrls),
    messages,
    new FakeChannelQuota(),
    { webPublicEnabled: true },
  );
  const parts = new ChangeSubscriptionParts(uow, creator, clock);
  return new UnsubscribeUsers(new ChannelUnsubscriber(fakeRealmUrls, parts));
};
const leaving = (fixture: MemoryFixture) => {
  const useCase = unsubscribing(fixture);
  return (who: string, channelNames: readonly string[], principals: readonly UserId[] | null = null) =>
    useCase.execute(fixture.caller(who), { channelNames, principals });
};
const INSUFFICIENT = { code: 'NOT_PERMITTED', message: 'Insufficient permission' };
const core = aChannel({ name: 'core', privacy: 'privateSharedHistory', subscribers: everybody });

describe('UnsubscribeUsers', () => {
  it('hides a private channel from users who lost access, notifies its other viewers and marks the messages read', async () => {
    const fixture = await cast(
      core,
      aMessage({ from: 'owner', to: 'core' }),
      aMessage({ from: 'administrator', to: 'core' }),
    );
    const principals = ids(fixture, 'guest', 'administrator', 'member');
    await expectInSync(fixture, async () => {
      const result = await leaving(fixture)('owner', ['CORE'], principals);
      expect(result).toEqual({ removed: ['core', 'core', 'core'], notSubscribed: [] });
    });
    expect(await eventsWithReceivers(fixture)).toEqual([
      ['subscription.removed', ['administrator', 'member', 'guest']],
      ['channel.hidden', ['member', 'guest']],
      // The administrator still sees the channel, including other users who left at the same time.
      ['channel.subscribers_changed', ['owner', 'administrator', 'moderator']],
      ['message.flag_changed', ['administrator']],
      ['message.flag_changed', ['member']],
      ['message.flag_changed', ['guest']],
    ]);
    const unread = await fixture.uow.read(fixture.realm.id, (r) => r.personal.listUnread(fixture.viewer('guest'), 9));
    expect(unread).toEqual([]);
  });

  it('notifies limited guests about users they lose, including guests who leave at the same time', async () => {
    const fixture = await cast(
      aRealmWith({ permissionOverrides: { canAccessAllUsers: 'members' } }),
      aUser({ name: 'other guest', role: 'guest' }),
      aChannel({ name: 'town', subscribers: ['owner', 'member', 'guest', 'other guest'] }),
      aChannel({ name: 'elsewhere', subscribers: ['owner'] }),
    );
    // Starts after the fixture's events, because guest access is evaluated as of an event.
    await leaving(fixture)('owner', ['elsewhere']);
    await expectInSync(fixture, () =>
      leaving(fixture)('owner', ['town'], ids(fixture, 'guest', 'other guest', 'member')),
    );
  });

  it('keeps the read state of other channels and publishes no flag event if nothing was unread', async () => {
    const fixture = await cast(
      aChannel({ name: 'a', subscribers: ['member'] }),
      aChannel({ name: 'b', subscribers: ['member'] }),
      aMessage({ from: 'owner', to: 'b' }),
    );
    await leaving(fixture)('member', ['a']);
    expect((await eventsWithReceivers(fixture)).map(([type]) => type)).toEqual([
      'subscription.removed',
      'channel.subscribers_changed',
    ]);
    expect(
      await fixture.uow.read(fixture.realm.id, (r) => r.personal.listUnread(fixture.viewer('member'), 9)),
    ).toHaveLength(1);
  });

  it('reports users who were not subscribed and changes nothing for them', async () => {
    const fixture = await cast(aChannel({ name: 'a', subscribers: ['member'] }), aChannel({ name: 'b' }));
    const leave = leaving(fixture);
    expect(await leave('member', ['a', 'b'])).toEqual({ removed: ['a'], notSubscribed: ['b'] });
    fixture.storage.announced.length = 0;
    expect(await leave('member', ['a', 'b'])).toEqual({ removed: [], notSubscribed: ['a', 'b'] });
    expect(fixture.storage.announced).toEqual([]);
  });

  it('allows every role to unsubscribe, including guests', async () => {
    const fixture = await cast(core, aChannel({ name: 'web', privacy: 'webPublic' }));
    expect(await leaving(fixture)('guest', ['core', 'web'])).toEqual({ removed: ['core'], notSubscribed: ['web'] });
  });

  describe('UnsubscribeUsers on a hidden channel (contract decision 20)', () => {
    const hidden = aChannel({ name: 'Hidden', privacy: 'privateSharedHistory', subscribers: ['owner', 'robot'] });
    const hiddenFrom = (...pieces: readonly FixtureStep[]) =>
      cast(
        aUser({ name: 'robot', botOf: 'member' }),
        aGroup({ name: 'wardens', members: ['moderator', 'guest'] }),
        hidden,
        aChannel({ name: 'public', subscribers: ['guest'], grantedTo: { canRemoveSubscribers: 'wardens' } }),
        ...pieces,
      );

    it.each([
      ['member', ['hidden'], null, 'hidden'],
      ['member', [' HIDDEN ', 'nowhere', 'public'], null, 'HIDDEN, nowhere'],
      ['guest', ['HIDDEN'], null, 'HIDDEN'],
      // The hidden channel is reported before the missing permission to remove other users.
      ['moderator', ['hidden', 'public'], 'owner', 'hidden'],
      // Former subscriber.
      ['left', ['hidden'], null, 'hidden'],
    ])('reports hidden channels as unknown when %s leaves %j', async (who, names, whom, unknown) => {
      const fixture = await hiddenFrom(aUser({ name: 'left' }));
      await fixture.uow.write(fixture.realm.id, async (tx) => {
        await subscribe(tx, fixture.channel('Hidden'), [fixture.user('left').id]);
        await unsubscribeFromChannels(tx, [fixture.channel('Hidden')], [fixture.user('left').id]);
      });
      const principals = whom === null ? null : ids(fixture, whom);
      await expectRefused(fixture, () => leaving(fixture)(who, names, principals), {
        code: 'UNKNOWN_CHANNEL',
        message: `Channel(s) (${unknown}) do not exist`,
      });
    });

    it.each([
      ['administrator', null, { removed: [], notSubscribed: ['Hidden'] }],
      ['owner', null, { removed: ['Hidden'], notSubscribed: [] }],
      // A bot's owner can remove it from any channel (channels §3.8), but does not learn which channels it is not in.
      ['member', 'robot', { removed: ['Hidden'], notSubscribed: [] }],
    ])('reveals the channel to %s when removing %s', async (who, whom, answer) => {
      const fixture = await hiddenFrom();
      const principals = whom === null ? null : ids(fixture, whom);
      expect(await leaving(fixture)(who, ['hidden'], principals)).toEqual(answer);
    });

    it('reports a channel as unknown once the owner’s bot has left it', async () => {
      const fixture = await hiddenFrom();
      const leave = leaving(fixture);
      await leave('member', ['hidden'], ids(fixture, 'robot'));
      await expectRefused(fixture, () => leave('member', ['hidden'], ids(fixture, 'robot')), {
        message: 'Channel(s) (hidden) do not exist',
      });
    });
  });

  it('processes many users in slices and publishes them once', async () => {
    const people = Array.from({ length: 60 }, (_, n) => `person ${n}`);
    const names = Array.from({ length: 20 }, (_, n) => `channel ${n}`);
    const fixture = await cast(
      ...people.map((name) => aUser({ name })),
      ...names.map((name, n) => aChannel({ name, subscribers: n === 7 ? people.slice(1) : people })),
    );
    const { removed, notSubscribed } = await fixture.uow.write(fixture.realm.id, async (tx) => {
      const channels = await tx.channels.listByName(fixture.realm.id, names);
      return unsubscribeFromChannels(tx, channels, ids(fixture, ...people));
    });
    const count = (users: typeof removed) => [...users.values()].reduce((sum, { length }) => sum + length, 0);
    expect([count(removed), count(notSubscribed)]).toEqual([60 * 20 - 1, 1]);
    const told = fixture.storage.announced.flatMap(({ event }) =>
      event.type === 'subscription.removed' ? [event] : [],
    );
    expect(told).toHaveLength(1);
    expect(told[0]!.channels.map(({ name, userIds }) => [name, userIds.length])).toEqual(
      names.map((name, n) => [name, n === 7 ? 59 : 60]),
    );
    for (const name of people) {
      expect(
        await fixture.uow.read(fixture.realm.id, (r) =>
          r.channels.listSubscribedIds(fixture.realm.id, fixture.user(name).id),
        ),
      ).toEqual([]);
    }
  });

  it.each([
    ['by number', (count: number) => Array.from({ length: count }, (_, n) => (n + 1_000_000) as UserId)],
    ['by address', (count: number) => ({ emails: Array.from({ length: count }, (_, n) => `nobody${n}@example.com`) })],
  ])('rejects more users times channels than the maximum, %s', async (_, people) => {
    const fixture = await cast();
    const names = Array.from({ length: 1000 }, (_, n) => `channel ${n}`);
    const leave = (count: number) =>
      unsubscribing(fixture).execute(fixture.caller('owner'), {
        channelNames: names,
        principals: people(count),
      });
    await expectRefused(fixture, () => leave(101), {
      code: 'TOO_MANY_SUBSCRIPTIONS',
      message: 'Too many subscriptions in one request: users times channels may be 100000 at most.',
    });
    await expectRefused(fixture, () => leave(100), { message: 'No such user' });
  });

  it('keeps the subscription row and stops delivery', async () => {
    const fixture = await cast(core);
    await leaving(fixture)('member', ['core']);
    await fixture.add(aMessage({ from: 'owner', to: 'core' }));
    const { realmId, userId } = fixture.viewer('member');
    const row = await fixture.uow.read(realmId, (r) =>
      r.channels.findSubscription(realmId, fixture.channel('core').id, userId),
    );
    expect(row).toMatchObject({ isActive: false, color: expect.stringMatching(/^#/) });
    expect(await fixture.uow.read(realmId, (r) => r.personal.newestId({ realmId, userId }))).toBeNull();
  });
});

describe('UnsubscribeUsers for other users', () => {
  const channelAccesses: readonly FixtureStep[] = [
    aGroup({ name: 'wardens', members: ['moderator', 'guest'] }),
    aChannel({ name: 'public', subscribers: everybody, grantedTo: { canRemoveSubscribers: 'wardens' } }),
    aChannel({
      name: 'private',
      privacy: 'privateSharedHistory',
      creator: 'member',
      subscribers: ['owner'],
      grantedTo: { canRemoveSubscribers: 'wardens' },
    }),
  ];

  it.each`
    who                | from         | may
    ${'administrator'} | ${'private'} | ${true}
    ${'member'}        | ${'private'} | ${true}
    ${'member'}        | ${'public'}  | ${false}
    ${'moderator'}     | ${'public'}  | ${true}
    ${'guest'}         | ${'public'}  | ${false}
  `('decides if $who may remove others from a $from channel: $may', async ({ who, from, may }) => {
    const fixture = await cast(...channelAccesses);
    const removing = () => leaving(fixture)(who, [from], ids(fixture, 'owner'));
    if (may) expect(await removing()).toEqual({ removed: [from], notSubscribed: [] });
    else await expectRefused(fixture, removing, INSUFFICIENT);
  });

  it('lets the owner of a bot remove it', async () => {
    const fixture = await cast(
      aUser({ name: 'robot', botOf: 'guest' }),
      aChannel({ name: 'a', subscribers: ['robot', 'owner'] }),
    );
    const leave = leaving(fixture);
    await expectRefused(fixture, () => leave('guest', ['a'], ids(fixture, 'robot', 'owner')), INSUFFICIENT);
    expect(await leave('guest', ['a'], ids(fixture, 'robot'))).toEqual({ removed: ['a'], notSubscribed: [] });
  });

  it('validates users, then names, permissions and unknown channels', async () => {
    const fixture = await cast(...channelAccesses, aUser({ name: 'gone', isActive: false }));
    const elsewhere = await anotherRealm(fixture);
    const leave = leaving(fixture);
    const refused = (who: string, names: readonly string[], people: readonly UserId[] | null, refusal: object) =>
      expectRefused(fixture, () => leave(who, names, people), refusal);
    await refused('guest', [' '], [elsewhere.user('otherRealmUser').id], { message: 'No such user' });
    await refused('guest', [' '], ids(fixture, 'gone'), { message: 'User is deactivated' });
    await refused('guest', [' '], ids(fixture, 'owner'), { message: "Channel name can't be empty." });
    await refused('guest', ['nowhere', 'public'], ids(fixture, 'owner'), INSUFFICIENT);
    await refused('guest', ['nowhere', 'public', 'theirs'], null, {
      code: 'UNKNOWN_CHANNEL',
      message: 'Channel(s) (nowhere, theirs) do not exist',
    });
  });
});
