import {
  aChannel,
  aGroup,
  aMessage,
  anotherRealm,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  expectInSync,
  expectRefused,
  given,
  type MemoryScene,
  type Piece,
  plainAddresses,
  subscribe,
  told,
} from '@parley/testkit';
import type { UserId } from '../../shared/ids.js';
import { leaveChannels } from '../leave-channels.js';
import { UnsubscribeUsers } from './unsubscribe-users.js';

const everybody = ['owner', 'administrator', 'moderator', 'member', 'guest'];
const cast = (...pieces: readonly Piece[]) => given(aUserOfEachRole(), ...pieces);
const ids = (scene: MemoryScene, ...names: readonly string[]) => names.map((name) => scene.user(name).id);
const leaving = (scene: MemoryScene) => {
  const useCase = new UnsubscribeUsers(scene.uow, plainAddresses);
  return (who: string, channelNames: readonly string[], principals: readonly UserId[] | null = null) =>
    useCase.execute(scene.caller(who), { channelNames, principals });
};
const INSUFFICIENT = { code: 'NOT_PERMITTED', message: 'Insufficient permission' };
const core = aChannel({ name: 'core', privacy: 'privateSharedHistory', subscribers: everybody });

describe('leaving channels', () => {
  it('hides a private channel from those who see it no longer, tells the rest, and reads what was left', async () => {
    const scene = await cast(
      core,
      aMessage({ from: 'owner', to: 'core' }),
      aMessage({ from: 'administrator', to: 'core' }),
    );
    const principals = ids(scene, 'guest', 'administrator', 'member');
    await expectInSync(scene, async () => {
      const result = await leaving(scene)('owner', ['CORE'], principals);
      expect(result).toEqual({ removed: ['core', 'core', 'core'], notSubscribed: [] });
    });
    expect(await told(scene)).toEqual([
      ['subscription.removed', ['administrator', 'member', 'guest']],
      ['channel.hidden', ['member', 'guest']],
      // The administrator still sees the channel, and those who left with them among its subscribers.
      ['channel.subscribers_changed', ['owner', 'administrator', 'moderator']],
      ['message.flag_changed', ['administrator']],
      ['message.flag_changed', ['member']],
      ['message.flag_changed', ['guest']],
    ]);
    const unread = await scene.uow.read((r) => r.personal.listUnread(scene.viewer('guest'), 9));
    expect(unread).toEqual([]);
  });

  it('tells guests, who may not know everybody, whom they lose, those who leave with them too', async () => {
    const scene = await cast(
      aRealmWith({ grants: { canAccessAllUsers: 'members' } }),
      aUser({ name: 'other guest', role: 'guest' }),
      aChannel({ name: 'town', subscribers: ['owner', 'member', 'guest', 'other guest'] }),
      aChannel({ name: 'elsewhere', subscribers: ['owner'] }),
    );
    // What they knew is asked as of an event after the scene was set.
    await leaving(scene)('owner', ['elsewhere']);
    await expectInSync(scene, () => leaving(scene)('owner', ['town'], ids(scene, 'guest', 'other guest', 'member')));
  });

  it('leaves what was read elsewhere alone, and says nothing where nothing was unread', async () => {
    const scene = await cast(
      aChannel({ name: 'a', subscribers: ['member'] }),
      aChannel({ name: 'b', subscribers: ['member'] }),
      aMessage({ from: 'owner', to: 'b' }),
    );
    await leaving(scene)('member', ['a']);
    expect((await told(scene)).map(([type]) => type)).toEqual(['subscription.removed', 'channel.subscribers_changed']);
    expect(await scene.uow.read((r) => r.personal.listUnread(scene.viewer('member'), 9))).toHaveLength(1);
  });

  it('says who was not there, and changes nothing for them', async () => {
    const scene = await cast(aChannel({ name: 'a', subscribers: ['member'] }), aChannel({ name: 'b' }));
    const leave = leaving(scene);
    expect(await leave('member', ['a', 'b'])).toEqual({ removed: ['a'], notSubscribed: ['b'] });
    scene.storage.announced.length = 0;
    expect(await leave('member', ['a', 'b'])).toEqual({ removed: [], notSubscribed: ['a', 'b'] });
    expect(scene.storage.announced).toEqual([]);
  });

  it('is for everybody, guests too', async () => {
    const scene = await cast(core, aChannel({ name: 'web', privacy: 'webPublic' }));
    expect(await leaving(scene)('guest', ['core', 'web'])).toEqual({ removed: ['core'], notSubscribed: ['web'] });
  });

  describe('answers of a hidden channel as of an unknown one (contract decision 20)', () => {
    const hidden = aChannel({ name: 'Hidden', privacy: 'privateSharedHistory', subscribers: ['owner', 'robot'] });
    const hiddenFrom = (...pieces: readonly Piece[]) =>
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
      // Even where others are to be removed, it is not the permission that is missing.
      ['moderator', ['hidden', 'public'], 'owner', 'hidden'],
      // Somebody who left.
      ['left', ['hidden'], null, 'hidden'],
    ])('%s leaves %j', async (who, names, whom, unknown) => {
      const scene = await hiddenFrom(aUser({ name: 'left' }));
      await scene.uow.write(async (tx) => {
        await subscribe(tx, scene.channel('Hidden'), [scene.user('left').id]);
        await leaveChannels(tx, [scene.channel('Hidden')], [scene.user('left').id]);
      });
      const principals = whom === null ? null : ids(scene, whom);
      await expectRefused(scene, () => leaving(scene)(who, names, principals), {
        code: 'INVALID_INPUT',
        message: `Channel(s) (${unknown}) do not exist`,
      });
    });

    it.each([
      ['administrator', null, { removed: [], notSubscribed: ['Hidden'] }],
      ['owner', null, { removed: ['Hidden'], notSubscribed: [] }],
      // A bot's owner takes it out of wherever it is (channels §3.8), and learns nothing of where it is not.
      ['member', 'robot', { removed: ['Hidden'], notSubscribed: [] }],
    ])('but not to %s, taking out %s', async (who, whom, answer) => {
      const scene = await hiddenFrom();
      const principals = whom === null ? null : ids(scene, whom);
      expect(await leaving(scene)(who, ['hidden'], principals)).toEqual(answer);
    });

    it('nor of a channel that the bot of its owner has left', async () => {
      const scene = await hiddenFrom();
      const leave = leaving(scene);
      await leave('member', ['hidden'], ids(scene, 'robot'));
      await expectRefused(scene, () => leave('member', ['hidden'], ids(scene, 'robot')), {
        message: 'Channel(s) (hidden) do not exist',
      });
    });
  });

  it('is done for many people in slices, and told of once', async () => {
    const people = Array.from({ length: 60 }, (_, n) => `person ${n}`);
    const names = Array.from({ length: 20 }, (_, n) => `channel ${n}`);
    const scene = await cast(
      ...people.map((name) => aUser({ name })),
      ...names.map((name, n) => aChannel({ name, subscribers: n === 7 ? people.slice(1) : people })),
    );
    const { removed, notSubscribed } = await leaving(scene)('owner', names, ids(scene, ...people));
    expect([removed.length, notSubscribed]).toEqual([60 * 20 - 1, ['channel 7']]);
    const told = scene.storage.announced.flatMap(({ event }) => (event.type === 'subscription.removed' ? [event] : []));
    expect(told).toHaveLength(1);
    expect(told[0]!.channels.map(({ name, userIds }) => [name, userIds.length])).toEqual(
      names.map((name, n) => [name, n === 7 ? 59 : 60]),
    );
    for (const name of people) {
      expect(await scene.uow.read((r) => r.channels.listSubscribedIds(scene.realm.id, scene.user(name).id))).toEqual(
        [],
      );
    }
  });

  it.each([
    ['by number', (count: number) => Array.from({ length: count }, (_, n) => (n + 1_000_000) as UserId)],
    ['by address', (count: number) => ({ emails: Array.from({ length: count }, (_, n) => `nobody${n}@example.com`) })],
  ])('is refused for more people and channels than are changed at once, %s', async (_, people) => {
    const scene = await cast();
    const names = Array.from({ length: 1000 }, (_, n) => `channel ${n}`);
    const leave = (count: number) =>
      new UnsubscribeUsers(scene.uow, plainAddresses).execute(scene.caller('owner'), {
        channelNames: names,
        principals: people(count),
      });
    await expectRefused(scene, () => leave(101), {
      code: 'INVALID_INPUT',
      message: 'Too many subscriptions in one request: users times channels may be 100000 at most.',
    });
    await expectRefused(scene, () => leave(100), { message: 'No such user' });
  });

  it('keeps the row, and gets nothing more', async () => {
    const scene = await cast(core);
    await leaving(scene)('member', ['core']);
    await scene.add(aMessage({ from: 'owner', to: 'core' }));
    const { realmId, userId } = scene.viewer('member');
    const row = await scene.uow.read((r) => r.channels.findSubscription(realmId, scene.channel('core').id, userId));
    expect(row).toMatchObject({ isActive: false, color: expect.stringMatching(/^#/) });
    expect(await scene.uow.read((r) => r.personal.newestId({ realmId, userId }))).toBeNull();
  });
});

describe('removing others', () => {
  const places: readonly Piece[] = [
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
  `('$who from a $from channel: $may', async ({ who, from, may }) => {
    const scene = await cast(...places);
    const removing = () => leaving(scene)(who, [from], ids(scene, 'owner'));
    if (may) expect(await removing()).toEqual({ removed: [from], notSubscribed: [] });
    else await expectRefused(scene, removing, INSUFFICIENT);
  });

  it('is the right of whoever owns the bot', async () => {
    const scene = await cast(
      aUser({ name: 'robot', botOf: 'guest' }),
      aChannel({ name: 'a', subscribers: ['robot', 'owner'] }),
    );
    const leave = leaving(scene);
    await expectRefused(scene, () => leave('guest', ['a'], ids(scene, 'robot', 'owner')), INSUFFICIENT);
    expect(await leave('guest', ['a'], ids(scene, 'robot'))).toEqual({ removed: ['a'], notSubscribed: [] });
  });

  it('is refused in order: people, names, rights, unknown channels', async () => {
    const scene = await cast(...places, aUser({ name: 'gone', isActive: false }));
    const elsewhere = await anotherRealm(scene);
    const leave = leaving(scene);
    const refused = (who: string, names: readonly string[], people: readonly UserId[] | null, refusal: object) =>
      expectRefused(scene, () => leave(who, names, people), refusal);
    await refused('guest', [' '], [elsewhere.user('stranger').id], { message: 'No such user' });
    await refused('guest', [' '], ids(scene, 'gone'), { message: 'User is deactivated' });
    await refused('guest', [' '], ids(scene, 'owner'), { message: "Channel name can't be empty." });
    await refused('guest', ['nowhere', 'public'], ids(scene, 'owner'), INSUFFICIENT);
    await refused('guest', ['nowhere', 'public', 'theirs'], null, {
      code: 'INVALID_INPUT',
      message: 'Channel(s) (nowhere, theirs) do not exist',
    });
  });
});
