import {
  aChannel,
  aMessage,
  anotherRealm,
  appendEvent,
  aRealmWith,
  aUser,
  aUserOfEachRole,
  createFixture,
  expectRefused,
  type MemoryFixture,
  SeededRandomness,
} from '@parley/testkit';
import type { ChannelView } from '../channels/channel.js';
import {
  loadChannels,
  loadDefaultChannelIds,
  loadOwnSubscriptions,
  loadSubscriberIds,
  loadTopicPolicies,
} from '../channels/channels.use-cases.js';
import { unsubscribeFromChannels } from '../channels/subscribing.js';
import { changeTopicPolicy, type TopicVisibility } from '../channels/topic-policies.js';
import { QUEUE_FILTERS } from '../composition/features.js';
import { loadGroups } from '../groups/group.js';
import { loadNewestMessageId, loadRecentConversations, loadStarredIds, loadUnread } from '../messages/flags.js';
import { loadRealmPermissions } from '../realms/realm-loaders.js';
import { loadInaccessibleIds, loadPeople } from '../users/users.use-cases.js';
import { wholeRealm } from './event.js';
import { MAX_QUEUES_PER_USER, type ServedQueues } from './event-queue.js';
import type { EventSeq } from './ids.js';
import { RegisterQueue, type RegisterQueueInput, type Snapshot, type SnapshotLoaders } from './register-queue.js';

const everything = {
  people: loadPeople,
  inaccessibleIds: loadInaccessibleIds,
  groups: loadGroups,
  channels: loadChannels,
  defaultChannelIds: loadDefaultChannelIds,
  subscriptions: loadOwnSubscriptions,
  subscriberIds: loadSubscriberIds,
  realmPermissions: loadRealmPermissions,
  unread: loadUnread,
  topicPolicies: loadTopicPolicies,
  starredIds: loadStarredIds,
  newestMessageId: loadNewestMessageId,
  recentConversations: loadRecentConversations,
} satisfies SnapshotLoaders;

/** Reports no polls in progress. */
const noQueues: ServedQueues = {
  lastPolled: () => new Map(),
  receivesMessages: async () => false,
  forgetRemoved: () => {},
  openNew: async () => {},
};

const registering = (fixture: MemoryFixture, served = noQueues) => {
  const randomness = new SeededRandomness(3);
  const useCase = new RegisterQueue(
    fixture.uow,
    fixture.clock,
    { make: () => randomness.uuid(), startOf: () => -1 },
    served,
    QUEUE_FILTERS,
  );
  return <L extends SnapshotLoaders>(who: string, loaders: L, more: Partial<RegisterQueueInput> = {}) =>
    useCase.execute(fixture.caller(who), {
      filter: { allPublicChannels: false, narrow: [] },
      presentation: { kind: 'plain' },
      idleTimeoutSeconds: 600,
      ...more,
      loaders,
    });
};
const loading = async (fixture: MemoryFixture, who: string) => (await registering(fixture)(who, everything)).loaded;
const town = () =>
  createFixture(
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
const append = (fixture: MemoryFixture) =>
  fixture.uow.write(fixture.realm.id, (tx) =>
    appendEvent(tx, fixture.realm.id, { event: { type: 'blank' }, audience: wholeRealm }),
  );
const names = (channels: readonly ChannelView[]) => channels.map(({ name }) => name);

const queuesOf = async (fixture: MemoryFixture, name: string) =>
  (
    await fixture.uow.read(fixture.realm.id, ({ queues }) => queues.listOf(fixture.realm.id, fixture.user(name).id))
  ).map(({ id }) => id);

describe('RegisterQueue', () => {
  it('starts the queue at the log end of the loaded state, despite later events', async () => {
    const fixture = await town();
    const entry = await append(fixture);
    const { queue } = await registering(fixture)('member', { meanwhile: () => append(fixture) });
    expect(queue).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      realmId: fixture.realm.id,
      ownerId: fixture.user('member').id,
      filter: { allPublicChannels: false, narrow: [] },
      presentation: { kind: 'plain' },
      startSeq: entry,
      acked: -1,
      floorSeq: entry,
      lastPolledAt: fixture.clock.now(),
      idleTimeoutSeconds: 600,
    });
    expect(await fixture.uow.read(fixture.realm.id, ({ queues }) => queues.find(fixture.realm.id, queue.id))).toEqual(
      queue,
    );
  });

  it('retries if the log was pruned beyond the start of the queue while loading', async () => {
    const fixture = await town();
    let loads = 0;
    const meanwhile = async () => {
      if (++loads > 1) return;
      const seq = await append(fixture);
      fixture.clock.advance(60);
      await fixture.uow.write(fixture.realm.id, (tx) =>
        tx.events.prune(fixture.realm.id, seq, fixture.clock.now(), 100),
      );
    };
    const { queue } = await registering(fixture)('member', { meanwhile });
    expect(loads).toBe(2);
    expect(queue.startSeq).toBe(
      await fixture.uow.read(fixture.realm.id, ({ events }) => events.lastSeq(fixture.realm.id)),
    );
  });

  it('keeps the queue if the log was pruned exactly up to its start', async () => {
    const fixture = await town();
    const entry: EventSeq = await append(fixture);
    let loads = 0;
    const meanwhile = async () => {
      loads++;
      fixture.clock.advance(60);
      await fixture.uow.write(fixture.realm.id, (tx) =>
        tx.events.prune(fixture.realm.id, entry, fixture.clock.now(), 100),
      );
    };
    await registering(fixture)('member', { meanwhile });
    expect(loads).toBe(1);
  });

  it('rejects queues of all public channels for guests', async () => {
    const fixture = await town();
    const filter = { allPublicChannels: true, narrow: [] };
    const register = registering(fixture);
    await expectRefused(fixture, () => register('guest', {}, { filter }), {
      code: 'CANNOT_FOLLOW_ALL_PUBLIC_CHANNELS',
      message: 'User not authorized for this query',
    });
    await register('member', {}, { filter });
  });

  it('rejects unsupported narrow operators after the check for guests', async () => {
    const fixture = await town();
    const register = registering(fixture);
    const narrow = [{ operator: 'near', operand: '5' }] as const;
    await expectRefused(fixture, () => register('member', {}, { filter: { allPublicChannels: true, narrow } }), {
      code: 'UNSUPPORTED_QUEUE_OPERATOR',
      message: 'Operator near not supported.',
    });
    await expectRefused(fixture, () => register('guest', {}, { filter: { allPublicChannels: true, narrow } }), {
      code: 'CANNOT_FOLLOW_ALL_PUBLIC_CHANNELS',
      message: 'User not authorized for this query',
    });
  });

  it('rejects a user deactivated while the state is loaded', async () => {
    const fixture = await town();
    const registered = registering(fixture)('member', {
      meanwhile: () =>
        fixture.uow.write(fixture.realm.id, (tx) => tx.users.update({ ...fixture.user('member'), isActive: false })),
    });
    await expect(registered).rejects.toMatchObject({ code: 'USER_DEACTIVATED' });
    expect(await queuesOf(fixture, 'member')).toEqual([]);
  });
});

describe('idle timeout of a queue', () => {
  it.each([
    [null, 600],
    [1, 1],
    [0, 600],
    [-1, 600],
    [Number.NaN, 600],
    [0.5, 1],
    [604_800, 604_800],
    [604_801, 604_800],
    [Number.MAX_SAFE_INTEGER, 604_800],
  ])('limits the idle timeout of %s seconds to %d', async (idleTimeoutSeconds, expected) => {
    const fixture = await town();
    const { queue } = await registering(fixture)('member', {}, { idleTimeoutSeconds });
    expect(queue.idleTimeoutSeconds).toBe(expected);
  });
});

describe('queue limit', () => {
  it('rejects a filter of more than 8192 bytes', async () => {
    const fixture = await town();
    const register = registering(fixture);
    const plain = { allPublicChannels: false, narrow: [] };
    const room = 8192 - JSON.stringify(plain).length - JSON.stringify({ wants: '' }).length;
    const fits = { wants: 'é'.repeat(room / 2) + 'x'.repeat(room % 2) };
    await register('member', {}, { filter: plain, presentation: fits });
    for (const more of [
      { filter: plain, presentation: { wants: `${fits.wants}x` } },
      { filter: { ...plain, narrow: [{ operator: 'topic', operand: 'x'.repeat(8192) }] as const } },
    ]) {
      await expectRefused(fixture, () => register('member', {}, more), {
        code: 'EVENT_QUEUE_FILTER_TOO_LONG',
        message: 'Event queue filter is too long (limit: 8192 bytes)',
      });
    }
  });

  it('evicts the least recently polled queue beyond a hundred per user', async () => {
    const fixture = await town();
    const forgotten: string[] = [];
    const polled = new Map<string, number>();
    const served: ServedQueues = {
      lastPolled: () => polled,
      receivesMessages: async () => true,
      forgetRemoved: (keys) => forgotten.push(...keys.map(({ id }) => id)),
      openNew: async () => {},
    };
    const register = registering(fixture, served);
    const ids: string[] = [];
    const others = (await register('owner', {})).queue.id;
    for (let n = 0; n < MAX_QUEUES_PER_USER; n++) {
      ids.push((await register('member', {})).queue.id);
      fixture.clock.advance(1);
    }
    expect(forgotten).toEqual([]);
    // The first queue has a waiting poll and the second was just polled; only this process knows either.
    polled.set(ids[0]!, Number.POSITIVE_INFINITY).set(ids[1]!, fixture.clock.now());
    const { queue } = await register('member', {});
    expect(forgotten).toEqual([ids[2]]);
    expect(new Set(await queuesOf(fixture, 'member'))).toEqual(
      new Set([...ids.filter((id) => id !== ids[2]), queue.id]),
    );
    expect(await queuesOf(fixture, 'owner')).toEqual([others]);
  });

  it('reduces a larger number of queues to a hundred', async () => {
    const fixture = await town();
    const register = registering(fixture);
    const { queue } = await register('member', {});
    await fixture.uow.write(queue.realmId, async (tx) => {
      for (let n = 0; n < 110; n++) await tx.queues.add({ ...queue, id: `old ${n}`, lastPolledAt: n });
    });
    const { queue: latest } = await register('member', {});
    const left = await queuesOf(fixture, 'member');
    expect([left.length, left[0], left.includes(queue.id), left.includes(latest.id)]).toEqual([
      100,
      'old 12',
      true,
      true,
    ]);
  });
});

describe('guest access to users in the initial state', () => {
  it('omits inaccessible users for limited guests only', async () => {
    const fixture = await town();
    await fixture.add(aUser({ name: 'helper', botOf: 'owner' }));
    const known = async (who: string) => {
      const { people, inaccessibleIds } = await loading(fixture, who);
      return [people.entries.length, inaccessibleIds];
    };
    const all = fixture.users.size;
    expect(await known('guest')).toEqual([all, []]);
    await fixture.add(aRealmWith({ permissionOverrides: { canAccessAllUsers: 'members' } }));
    const inaccessibleIds = ['administrator', 'moderator', 'gone'].map((name) => fixture.user(name).id);
    expect(await known('guest')).toEqual([all - 3, inaccessibleIds]);
    expect(await known('member')).toEqual([all, []]);
  });
});

describe('initial state', () => {
  it('contains only the requested parts', async () => {
    const fixture = await town();
    const register = registering(fixture);
    expect((await register('member', {})).loaded).toEqual({});
    expect((await register('member', { starred: loadStarredIds })).loaded).toEqual({ starred: [] });
  });

  it('loads a part once even if several loaders need it', async () => {
    const fixture = await town();
    let loads = 0;
    const shared = async ({ caller }: Snapshot) => `${caller.userId} ${++loads}`;
    const { loaded } = await registering(fixture)('member', {
      one: (snapshot) => snapshot.load(shared),
      other: async (snapshot) => [await snapshot.load(shared)],
      itself: shared,
    });
    const only = `${fixture.user('member').id} 1`;
    expect(loaded).toEqual({ one: only, other: [only], itself: only });
  });

  it('covers a single realm', async () => {
    const fixture = await town();
    await anotherRealm(fixture);
    const loaded = await loading(fixture, 'owner');
    expect(loaded.people.entries).toHaveLength(fixture.users.size);
    expect(names(loaded.channels)).not.toContain('theirs');
    expect(loaded.groups).toHaveLength(8);
    expect(loaded.people.systemBots).toHaveLength(3);
  });

  it('contains visible channels and their visible subscribers', async () => {
    const fixture = await town();
    const ofMember = await loading(fixture, 'member');
    expect(names(ofMember.channels)).toEqual(['core', 'old', 'other', 'public']);
    expect(ofMember.defaultChannelIds).toEqual([fixture.channel('public').id, fixture.channel('other').id]);
    const ofGuest = await loading(fixture, 'guest');
    expect(names(ofGuest.channels)).toEqual(['public']);
    expect(ofGuest.defaultChannelIds).toEqual([]);
    const { id } = fixture.channel('public');
    expect(ofGuest.subscriberIds).toEqual(new Map([[id, [fixture.user('member').id, fixture.user('guest').id]]]));
    const ofAdministrator = await loading(fixture, 'administrator');
    expect(names(ofAdministrator.channels)).toContain('core');
    expect([...ofAdministrator.subscriberIds.keys()]).toContain(fixture.channel('core').id);
  });

  it('includes rows of unsubscribed channels', async () => {
    const fixture = await town();
    await fixture.uow.write(fixture.realm.id, (tx) =>
      unsubscribeFromChannels(tx, [fixture.channel('public')], [fixture.user('guest').id]),
    );
    const loaded = await loading(fixture, 'guest');
    expect(loaded.subscriptions).toMatchObject([{ channelId: fixture.channel('public').id, isActive: false }]);
    expect(loaded.channels).toEqual([]);
  });

  it('includes unread and starred messages and recent conversations', async () => {
    const fixture = await town();
    const [inChannel, three, , direct] = fixture.messages.map(({ id }) => id);
    await fixture.uow.write(fixture.realm.id, (tx) =>
      tx.personal.setFlag(fixture.viewer('member'), [three!], 'starred', true),
    );
    const loaded = await loading(fixture, 'member');
    expect(loaded.unread.conversations.map(({ ids }) => ids)).toEqual([[inChannel], [three], [direct]]);
    expect(loaded.unread.oldOnesAreMissing).toBe(false);
    expect([...loaded.unread.recipients.values()]).toMatchObject([{ kind: 'direct' }, { kind: 'direct' }]);
    expect(loaded.starredIds).toEqual([three]);
    expect(loaded.newestMessageId).toBe(direct);
    const [owner, guest] = [fixture.user('owner').id, fixture.user('guest').id];
    expect(loaded.recentConversations.map(({ userIds }) => userIds)).toEqual([[owner], [], [owner, guest]]);
  });

  it('marks muted unread messages', async () => {
    const fixture = await town();
    const viewer = fixture.viewer('member');
    const channelId = fixture.channel('public').id;
    await fixture.add(
      aMessage({ from: 'owner', to: 'public', topic: 'noise' }),
      aMessage({ from: 'owner', to: 'public', topic: 'news' }),
    );
    const choose = (topic: string, visibility: TopicVisibility) =>
      fixture.uow.write(viewer.realmId, (tx) =>
        changeTopicPolicy(tx, { ...viewer, channelId, topic, visibility, changedAt: 7 }),
      );
    const muted = async () => {
      const loaded = await loading(fixture, 'member');
      return loaded.unread.conversations.filter(({ isMuted }) => isMuted).map(({ topic }) => topic);
    };
    await choose('Noise', 'muted');
    expect(await muted()).toEqual(['noise']);

    await fixture.uow.write(fixture.realm.id, async (tx) => {
      const row = (await tx.channels.findSubscription(fixture.realm.id, channelId, viewer.userId))!;
      await tx.channels.putSubscriptions([{ ...row, isMuted: true }]);
    });
    await choose('news', 'followed');
    expect(await muted()).toEqual([fixture.messages[0]!.topic, 'noise']);
    await choose('noise', 'unmuted');
    expect(await muted()).toEqual([fixture.messages[0]!.topic]);
  });

  it('includes topic policies, except those in archived channels', async () => {
    const fixture = await town();
    for (const name of ['public', 'old']) {
      const viewer = fixture.viewer('member');
      const channelId = fixture.channel(name).id;
      await fixture.uow.write(viewer.realmId, (tx) =>
        changeTopicPolicy(tx, { ...viewer, channelId, topic: 'lunch', visibility: 'muted', changedAt: 7 }),
      );
    }
    const loaded = await loading(fixture, 'member');
    expect(loaded.topicPolicies).toMatchObject([{ channelName: 'public', topic: 'lunch', visibility: 'muted' }]);
    const announced = fixture.storage.announced.map(({ event }) => event);
    expect(announced).toMatchObject(
      Array(2).fill({ muted: [{ channelName: 'public', topic: 'lunch', changedAt: 7 }] }),
    );
  });

  it('omits topics of a channel that is no longer visible (README decision 20)', async () => {
    const fixture = await createFixture(
      aUserOfEachRole(),
      aChannel({ name: 'public' }),
      aChannel({ name: 'vault', privacy: 'privateSharedHistory', subscribers: ['member', 'administrator'] }),
    );
    const vault = fixture.channel('vault');
    for (const who of ['member', 'administrator']) {
      for (const channel of [vault, fixture.channel('public')]) {
        const viewer = fixture.viewer(who);
        await fixture.uow.write(viewer.realmId, async (tx) => {
          await changeTopicPolicy(tx, {
            ...viewer,
            channelId: channel.id,
            topic: 'lunch',
            visibility: 'muted',
            changedAt: 7,
          });
          await unsubscribeFromChannels(tx, [vault], [viewer.userId]);
        });
      }
      const loaded = await loading(fixture, who);
      const shown = who === 'administrator' ? [{ channelName: 'vault' }] : [];
      const choices = [{ channelName: 'public', topic: 'lunch' }, ...shown];
      expect(loaded.topicPolicies).toHaveLength(choices.length);
      expect(loaded.topicPolicies).toMatchObject(choices);
      const [last] = fixture.storage.announced
        .map(({ event }) => event)
        .filter(({ type }) => type === 'topic.policy_changed')
        .slice(-1);
      expect(last).toMatchObject({ muted: [{ channelName: 'public' }, ...shown] });
    }
  });
});
