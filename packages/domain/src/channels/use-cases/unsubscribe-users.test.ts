import {
  aChannel,
  aGroup,
  aMessage,
  anotherRealm,
  aUser,
  aUserOfEachRole,
  expectInSync,
  expectRefused,
  given,
  type MemoryScene,
  type Piece,
  plainAddresses,
  told,
} from '@parley/testkit';
import type { UserId } from '../../shared/ids.js';
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
      ['channel.subscribers_changed', ['owner', 'moderator']],
      ['message.flag_changed', ['administrator']],
      ['message.flag_changed', ['member']],
      ['message.flag_changed', ['guest']],
    ]);
    const unread = await scene.uow.read((r) => r.personal.listUnread(scene.viewer('guest'), 9));
    expect(unread).toEqual([]);
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

  it('is for everybody: guests, and those who cannot see the channel', async () => {
    const scene = await cast(core, aChannel({ name: 'hidden', privacy: 'privateSharedHistory' }));
    const leave = leaving(scene);
    expect(await leave('guest', ['core', 'hidden'])).toEqual({ removed: ['core'], notSubscribed: ['hidden'] });
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
    ${'moderator'}     | ${'private'} | ${false}
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
    expect(await leave('guest', ['a'], ids(scene, 'robot'))).toEqual({ removed: ['a'], notSubscribed: [] });
    await expectRefused(scene, () => leave('guest', ['a'], ids(scene, 'robot', 'owner')), INSUFFICIENT);
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
