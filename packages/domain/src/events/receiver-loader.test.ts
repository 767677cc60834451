import { aChannel, aMessage, aRealmWith, aUser, given, type MemoryScene, plainEventLoop } from '@parley/testkit';
import { followChannels } from '../channels/follow-channels.js';
import { leaveChannels } from '../channels/leave-channels.js';
import type { EventSeq } from '../shared/ids.js';
import type { EventNeeds } from './receiver.js';
import { type Asked, ReceiverLoader } from './receiver-loader.js';

/** Guests may not know everybody. */
const cast = () =>
  given(
    aRealmWith({ grants: { canAccessAllUsers: 'members' } }),
    aUser({ name: 'iago', role: 'administrator' }),
    aUser({ name: 'hamlet' }),
    aUser({ name: 'polonius', role: 'guest' }),
    aUser({ name: 'osric', role: 'guest' }),
    aChannel({ name: 'court', subscribers: ['hamlet', 'polonius'] }),
  );

function asked(scene: MemoryScene, name: string, needs: EventNeeds, seq: number | null = null): Asked {
  const { id: userId, role } = scene.user(name);
  return { userId, role, isRestricted: role === 'guest', needs, seq: seq as EventSeq | null };
}

function aLoader(scene: MemoryScene) {
  const loader = new ReceiverLoader(scene.uow, plainEventLoop);
  return { load: (...[each]: [Asked]) => loader.load(scene.realm.id, each), loader };
}

describe('a receiver of an event', () => {
  it('is told whom they may not know, if they are a restricted guest', async () => {
    const scene = await cast();
    const { load } = aLoader(scene);
    const userIds = ['iago', 'hamlet', 'polonius'].map((name) => scene.user(name).id);
    const receivers = await Promise.all(
      ['hamlet', 'polonius', 'osric'].map((name) => load(asked(scene, name, { userIds }))),
    );
    const [iago, hamlet, polonius] = userIds;
    expect(receivers.map(({ inaccessible }) => [...inaccessible])).toEqual([[], [iago], [iago, hamlet, polonius]]);
    expect(receivers.map(({ role }) => role)).toEqual(['member', 'guest', 'guest']);
  });

  it('is told what messages are to them now, as far as they have them', async () => {
    const scene = await cast();
    await scene.add(aMessage({ from: 'hamlet', to: 'court' }), aMessage({ from: 'polonius', to: 'court' }));
    const messageIds = scene.messages.map(({ id }) => id);
    await scene.uow.write((tx) =>
      tx.personal.setRead({ realmId: scene.realm.id, userId: scene.user('polonius').id }, messageIds, true),
    );
    const { load } = aLoader(scene);
    const [hamlet, polonius, iago] = await Promise.all(
      ['hamlet', 'polonius', 'iago'].map((name) => load(asked(scene, name, { messageIds }))),
    );
    expect([hamlet!.flags.size, polonius!.flags.size, iago!.flags.size]).toEqual([2, 2, 0]);
    expect(messageIds.map((id) => [hamlet!.flags.get(id)?.read, polonius!.flags.get(id)?.read])).toEqual([
      [true, true],
      [false, true],
    ]);
  });

  it('is told whom they have come to know and know no longer, as of the event, if they are a guest', async () => {
    const scene = await cast();
    const court = scene.channel('court');
    const head = () => scene.uow.read(({ events }) => events.headSeq(scene.realm.id));
    const userIds = [scene.user('iago').id];
    const before = await head();
    await scene.uow.write((tx) => followChannels(tx, { channels: [court], userIds, requestedColors: new Map() }));
    const between = await head();
    await scene.uow.write((tx) => leaveChannels(tx, [court], userIds));
    const after = await head();
    const { load } = aLoader(scene);
    const access = (since: EventSeq): EventNeeds => ({ access: { userIds, before: since } });
    const [joined, left, never, member, unlogged] = await Promise.all([
      load(asked(scene, 'polonius', access(before), between)),
      load(asked(scene, 'polonius', access(between), after)),
      load(asked(scene, 'osric', access(before), between)),
      load(asked(scene, 'hamlet', access(before), between)),
      load(asked(scene, 'polonius', access(before))),
    ]);
    expect(joined).toMatchObject({ gained: [{ id: userIds[0], fullName: 'iago' }], lost: [] });
    expect(left).toMatchObject({ gained: [], lost: userIds });
    for (const nobody of [never, member, unlogged]) expect(nobody).toMatchObject({ gained: [], lost: [] });
  });
});

describe('looking up receivers', () => {
  it('happens once for all that are asked for in a turn, and once a realm', async () => {
    const scene = await cast();
    await scene.add(aMessage({ from: 'hamlet', to: 'court' }));
    let looks = 0;
    const { read } = scene.uow;
    scene.uow.read = (work) => {
      looks++;
      return read(work);
    };
    const { load } = aLoader(scene);
    const needs = { userIds: [scene.user('iago').id], messageIds: [scene.messages[0]!.id] };
    const all = Array.from({ length: 50 }, (_, n) => load(asked(scene, n % 2 === 0 ? 'polonius' : 'hamlet', needs)));
    await Promise.all(all);
    expect(looks).toBe(1);
    await load(asked(scene, 'polonius', needs));
    expect(looks).toBe(2);
  });

  it('that fails is refused to all who asked, and not to those who ask later', async () => {
    const scene = await cast();
    const { load } = aLoader(scene);
    const { read } = scene.uow;
    scene.uow.read = () => Promise.reject(new Error('disk gone'));
    const needs = { userIds: [scene.user('iago').id] };
    const refused = await Promise.allSettled([
      load(asked(scene, 'polonius', needs)),
      load(asked(scene, 'osric', needs)),
    ]);
    expect(refused).toMatchObject([{ reason: new Error('disk gone') }, { reason: new Error('disk gone') }]);
    scene.uow.read = read;
    expect((await load(asked(scene, 'osric', needs))).inaccessible.size).toBe(1);
  });
});
