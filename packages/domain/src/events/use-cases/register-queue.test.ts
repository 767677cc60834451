import {
  aChannel,
  aMessage,
  anotherRealm,
  aUser,
  aUserOfEachRole,
  expectRefused,
  given,
  type MemoryScene,
  SeededRandomness,
} from '@parley/testkit';
import { changeTopicPolicy } from '../../channels/change-topic-policy.js';
import { leaveChannels } from '../../channels/leave-channels.js';
import type { TopicVisibility } from '../../channels/topic-policy.js';
import type { EventSeq } from '../../shared/ids.js';
import { wholeRealm } from '../audience.js';
import { RegisterQueue, type RegisterQueueInput, type Snapshot, type SnapshotPart } from './register-queue.js';

const everything: readonly SnapshotPart[] = [
  'people',
  'groups',
  'channels',
  'subscriptions',
  'realmPermissions',
  'unread',
  'topicPolicies',
  'starred',
  'newestMessage',
  'recentConversations',
];

const registering = (scene: MemoryScene) => {
  const useCase = new RegisterQueue(scene.uow, scene.clock, new SeededRandomness(3));
  return (
    who: string,
    {
      parts = everything,
      ...more
    }: Partial<Omit<RegisterQueueInput, 'parts'>> & { parts?: readonly SnapshotPart[] } = {},
    present: (snapshot: Snapshot) => Promise<Snapshot> = async (snapshot) => snapshot,
  ) =>
    useCase.execute(
      scene.caller(who),
      {
        parts: new Set(parts),
        includeSubscribers: true,
        filter: { types: null, allPublicChannels: false, narrow: [] },
        presentation: { kind: 'plain' },
        idleTimeoutSeconds: 600,
        ...more,
      },
      present,
    );
};
const town = () =>
  given(
    aUserOfEachRole(),
    aUser({ name: 'gone', isActive: false }),
    aChannel({ name: 'public', subscribers: ['member', 'guest'], isDefault: true }),
    aChannel({ name: 'other', isDefault: true }),
    aChannel({ name: 'core', privacy: 'privateSharedHistory', subscribers: ['member'] }),
    aChannel({ name: 'old', isArchived: true, isDefault: true, subscribers: ['member'] }),
    aMessage({ from: 'owner', to: 'public' }),
    aMessage({ from: 'owner', to: ['member', 'guest'] }),
    aMessage({ from: 'member', to: ['member'] }),
    aMessage({ from: 'owner', to: ['member'] }),
  );
const append = (scene: MemoryScene) =>
  scene.uow.write((tx) => tx.events.append(scene.realm.id, { event: { type: 'blank' }, audience: wholeRealm }));
const names = (channels: Snapshot['channels']) => channels?.map(({ name }) => name);

describe('a new queue', () => {
  it('starts at the end of the log, as the state does, whatever happens until it is there', async () => {
    const scene = await town();
    const head = await append(scene);
    const { queue } = await registering(scene)('member', {}, async (snapshot) => {
      await append(scene);
      return snapshot;
    });
    expect(queue).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      realmId: scene.realm.id,
      ownerId: scene.user('member').id,
      filter: { types: null, allPublicChannels: false, narrow: [] },
      presentation: { kind: 'plain' },
      startSeq: head,
      acked: -1,
      floorSeq: head,
      lastPolledAt: scene.clock.now(),
      idleTimeoutSeconds: 600,
    });
    expect(await scene.uow.read(({ queues }) => queues.find(scene.realm.id, queue.id))).toEqual(queue);
  });

  it('is begun anew when the log was pruned beyond its start meanwhile', async () => {
    const scene = await town();
    let presented = 0;
    const { queue } = await registering(scene)('member', {}, async (snapshot) => {
      if (++presented === 1) {
        const seq = await append(scene);
        scene.clock.advance(60);
        await scene.uow.write((tx) => tx.events.prune(scene.realm.id, seq, scene.clock.now()));
      }
      return snapshot;
    });
    expect(presented).toBe(2);
    expect(queue.startSeq).toBe(await scene.uow.read(({ events }) => events.headSeq(scene.realm.id)));
  });

  it('is kept when the log was pruned up to its very start', async () => {
    const scene = await town();
    const head: EventSeq = await append(scene);
    let presented = 0;
    await registering(scene)('member', {}, async (snapshot) => {
      presented++;
      scene.clock.advance(60);
      await scene.uow.write((tx) => tx.events.prune(scene.realm.id, head, scene.clock.now()));
      return snapshot;
    });
    expect(presented).toBe(1);
  });

  it('of all public channels is not for guests', async () => {
    const scene = await town();
    const filter = { types: null, allPublicChannels: true, narrow: [] };
    const register = registering(scene);
    await expectRefused(scene, () => register('guest', { filter }), {
      code: 'INVALID_INPUT',
      message: 'User not authorized for this query',
    });
    await register('member', { filter });
  });

  it('cannot be narrowed by everything, which is said after that', async () => {
    const scene = await town();
    const register = registering(scene);
    const narrow = [{ operator: 'near', operand: '5' }] as const;
    await expectRefused(scene, () => register('member', { filter: { types: null, allPublicChannels: true, narrow } }), {
      code: 'INVALID_INPUT',
      message: 'Operator near not supported.',
    });
    await expectRefused(scene, () => register('guest', { filter: { types: null, allPublicChannels: true, narrow } }), {
      code: 'INVALID_INPUT',
      message: 'User not authorized for this query',
    });
  });

  it('is refused to whoever is deactivated while the state is put together', async () => {
    const scene = await town();
    const registered = registering(scene)('member', {}, async (snapshot) => {
      await scene.uow.write((tx) => tx.users.update({ ...scene.user('member'), isActive: false }));
      return snapshot;
    });
    await expect(registered).rejects.toMatchObject({ code: 'USER_DEACTIVATED' });
    expect(await scene.uow.read(({ queues }) => queues.listAll())).toEqual([]);
  });
});

describe('the state it begins with', () => {
  it('has what was asked for, and nothing else', async () => {
    const scene = await town();
    const register = registering(scene);
    const { presented } = await register('member', { parts: [] });
    expect(Object.keys(presented).sort()).toEqual(['realm', 'user', 'viewer']);
    expect(Object.keys((await register('member', { parts: ['starred'] })).presented)).toContain('starredIds');
  });

  it('is of one realm', async () => {
    const scene = await town();
    await anotherRealm(scene);
    const { presented } = await registering(scene)('owner');
    expect(presented.people?.heads).toHaveLength(scene.users.size);
    expect(names(presented.channels)).not.toContain('theirs');
    expect(presented.groups).toHaveLength(8);
    expect(presented.people?.systemBots).toHaveLength(3);
  });

  it('knows the channels that one may know of, and who follows them as far as one may know', async () => {
    const scene = await town();
    const register = registering(scene);
    const { presented: ofMember } = await register('member');
    expect(names(ofMember.channels)).toEqual(['core', 'old', 'other', 'public']);
    expect(ofMember.defaultChannelIds).toEqual([scene.channel('public').id, scene.channel('other').id]);
    const { presented: ofGuest } = await register('guest');
    expect(names(ofGuest.channels)).toEqual(['public']);
    expect(ofGuest.defaultChannelIds).toEqual([]);
    const { id } = scene.channel('public');
    expect(ofGuest.subscriptions?.subscriberIds).toEqual(
      new Map([[id, [scene.user('member').id, scene.user('guest').id]]]),
    );
    const { presented: ofAdministrator } = await register('administrator', { includeSubscribers: false });
    expect(names(ofAdministrator.channels)).toContain('core');
    expect(ofAdministrator.subscriptions?.subscriberIds).toEqual(new Map());
  });

  it('has the rows of what one has left', async () => {
    const scene = await town();
    await scene.uow.write((tx) => leaveChannels(tx, [scene.channel('public')], [scene.user('guest').id]));
    const { presented } = await registering(scene)('guest');
    expect(presented.subscriptions?.rows).toMatchObject([{ channelId: scene.channel('public').id, isActive: false }]);
    expect(presented.channels).toEqual([]);
  });

  it('has what is unread and starred, and with whom one spoke last', async () => {
    const scene = await town();
    const [inChannel, three, , direct] = scene.messages.map(({ id }) => id);
    await scene.uow.write((tx) => tx.personal.setFlag(scene.viewer('member'), [three!], 'starred', true));
    const { presented } = await registering(scene)('member');
    expect(presented.unread?.conversations.map(({ ids }) => ids)).toEqual([[inChannel], [three], [direct]]);
    expect(presented.unread?.oldOnesAreMissing).toBe(false);
    expect([...presented.unread!.recipients.values()]).toMatchObject([{ kind: 'direct' }, { kind: 'direct' }]);
    expect(presented.starredIds).toEqual([three]);
    expect(presented.newestMessageId).toBe(direct);
    const [owner, guest] = [scene.user('owner').id, scene.user('guest').id];
    expect(presented.recentConversations?.map(({ userIds }) => userIds)).toEqual([[owner], [], [owner, guest]]);
  });

  it('knows what of the unread is muted', async () => {
    const scene = await town();
    const viewer = scene.viewer('member');
    const channelId = scene.channel('public').id;
    await scene.add(
      aMessage({ from: 'owner', to: 'public', topic: 'noise' }),
      aMessage({ from: 'owner', to: 'public', topic: 'news' }),
    );
    const choose = (topic: string, visibility: TopicVisibility) =>
      scene.uow.write((tx) => changeTopicPolicy(tx, { ...viewer, channelId, topic, visibility, changedAt: 7 }));
    const muted = async () => {
      const { presented } = await registering(scene)('member');
      return presented.unread!.conversations.filter(({ isMuted }) => isMuted).map(({ topic }) => topic);
    };
    await choose('Noise', 'muted');
    expect(await muted()).toEqual(['noise']);

    await scene.uow.write(async (tx) => {
      const row = (await tx.channels.findSubscription(scene.realm.id, channelId, viewer.userId))!;
      await tx.channels.putSubscriptions([{ ...row, isMuted: true }]);
    });
    await choose('news', 'followed');
    expect(await muted()).toEqual([scene.messages[0]!.topic, 'noise']);
    await choose('noise', 'unmuted');
    expect(await muted()).toEqual([scene.messages[0]!.topic]);
  });

  it('has what one wants of topics, but for archived channels', async () => {
    const scene = await town();
    for (const name of ['public', 'old']) {
      const viewer = scene.viewer('member');
      const channelId = scene.channel(name).id;
      await scene.uow.write((tx) =>
        changeTopicPolicy(tx, { ...viewer, channelId, topic: 'lunch', visibility: 'muted', changedAt: 7 }),
      );
    }
    const { presented } = await registering(scene)('member');
    expect(presented.topicPolicies).toMatchObject([{ channelName: 'public', topic: 'lunch', visibility: 'muted' }]);
    const announced = scene.storage.announced.map(({ event }) => event);
    expect(announced).toMatchObject(
      Array(2).fill({ muted: [{ channelName: 'public', topic: 'lunch', changedAt: 7 }] }),
    );
  });

  it('does not say what a channel is called that one may no longer see (contract decision 20)', async () => {
    const scene = await given(
      aUserOfEachRole(),
      aChannel({ name: 'public' }),
      aChannel({ name: 'vault', privacy: 'privateSharedHistory', subscribers: ['member', 'administrator'] }),
    );
    const vault = scene.channel('vault');
    for (const who of ['member', 'administrator']) {
      for (const channel of [vault, scene.channel('public')]) {
        const viewer = scene.viewer(who);
        await scene.uow.write(async (tx) => {
          await changeTopicPolicy(tx, {
            ...viewer,
            channelId: channel.id,
            topic: 'lunch',
            visibility: 'muted',
            changedAt: 7,
          });
          await leaveChannels(tx, [vault], [viewer.userId]);
        });
      }
      const named = (name: string | null) => (one: { readonly channelName: string | null }) => one.channelName === name;
      const { presented } = await registering(scene)(who);
      const shown = who === 'administrator' ? 'vault' : null;
      expect(presented.topicPolicies!.filter(named(shown))).toMatchObject([{ channelId: vault.id, topic: 'lunch' }]);
      expect(presented.topicPolicies!.filter(named('public'))).toHaveLength(1);
      const [last] = scene.storage.announced
        .map(({ event }) => event)
        .filter(({ type }) => type === 'topic.policy_changed')
        .slice(-1);
      expect(last).toMatchObject({
        muted: [{ channelName: 'public' }, ...(shown ? [{ channelName: shown }] : [])],
      });
    }
  });
});
