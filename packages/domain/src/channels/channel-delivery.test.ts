import { aChannel, aUser, createFixture, receiverRequest } from '@parley/testkit';
import type { DomainEvent } from '../kernel/event.js';
import type { EventNeeds, OnlineUser } from '../kernel/feature-types.js';
import type { ChannelId, UserId } from '../kernel/ids.js';
import type { SubscribedSpan } from './channel.js';
import {
  ChannelProjection,
  findSpans,
  loadChannelReceivers,
  needsChannels,
  replayedSubscriptions,
} from './channel-delivery.js';
import { unsubscribeFromChannels } from './subscribing.js';

describe('replayedSubscriptions', () => {
  const channelId = 5 as ChannelId;
  const span = (fromSeq: number, toSeq: number | null) => ({ channelId, fromSeq, toSeq }) as SubscribedSpan;

  it.each([
    [1, false],
    [2, true],
    [3, true],
    [4, false],
    [7, true],
    [99, true],
  ])(
    'includes event %i for a user subscribed by event 2, unsubscribed by 4 and subscribed again by 7: %s',
    (seq, is) => {
      const results = { spans: new Map([[channelId, [span(2, 4), span(7, null)]]]) };
      const membership = replayedSubscriptions({ results, seq } as never);
      expect(membership.isSubscribed(channelId)).toBe(is);
      expect(membership.isSubscribed(6 as ChannelId)).toBe(false);
    },
  );
});

describe('findSpans', () => {
  it('returns the periods of the user in the requested channels, and none for online users', async () => {
    const fixture = await createFixture(
      aUser({ name: 'hamlet' }),
      aChannel({ name: 'court', subscribers: ['hamlet'] }),
      aChannel({ name: 'crypt', subscribers: ['hamlet'] }),
    );
    const [court, crypt] = ['court', 'crypt'].map((name) => fixture.channel(name).id);
    const find = (channelIds: readonly ChannelId[] | undefined, spansOf?: UserId) =>
      fixture.uow.read(fixture.realm.id, async (r) => {
        const { spans } = await findSpans(r, fixture.realm.id, channelIds ? { channelIds } : {}, {
          ...{ ids: [], guestIds: [] },
          ...(spansOf && { spansOf }),
        });
        return [...spans.keys()];
      });
    const { id } = fixture.user('hamlet');
    expect(await find([court!], id)).toEqual([court]);
    expect(await find([court!, crypt!], id)).toEqual([court, crypt]);
    expect(await find([court!])).toEqual([]);
    expect(await find(undefined, id)).toEqual([]);
  });
});

describe('ChannelProjection', () => {
  it.each([0, 20_000])('follows online users, one of whom has %d further subscriptions', (further) => {
    const [court, crypt] = [5, 6] as ChannelId[];
    const [one, two] = [1, 2].map((id) => ({ userId: id as UserId, channels: new Set([court]) }) as OnlineUser);
    for (let id = 100; id < 100 + further; id++) one!.channels.add(id as ChannelId);
    const projection = new ChannelProjection(new Map([one!, two!].map((user) => [user.userId, user])));
    const membersOf = (channelId: ChannelId) => [...projection.members.subscribers({ kind: 'subscribers', channelId })];
    for (const user of [one!, two!]) projection.add(user);
    expect(new Set(membersOf(court!))).toEqual(new Set([one, two]));
    const subscriptions = [1, 2, 3].map((userId) => ({ userId, channelId: crypt }));
    projection.fold({ type: 'subscription.added', channels: [{ id: court }], subscriptions } as unknown as DomainEvent);
    projection.fold({
      type: 'subscription.removed',
      channels: [{ id: court, name: 'court', userIds: [1, 3] }],
    } as unknown as DomainEvent);
    expect(membersOf(court!)).toEqual([two]);
    expect(new Set(membersOf(crypt!))).toEqual(new Set([one, two]));
    expect([one!.channels.has(court!), one!.channels.size]).toEqual([false, further + 1]);
    expect(projection.membershipOf({ user: one } as never).isSubscribed(court!)).toBe(false);
    projection.remove(one!);
    expect(membersOf(crypt!)).toEqual([two]);
  });
});

describe('needsChannels', () => {
  it.each<[EventNeeds, boolean]>([
    [{}, false],
    [{ subscribersOf: [] }, true],
    [{ viewsOf: [] }, true],
  ])('with %j, requires a look-up: %s', (needs, expected) => {
    expect(needsChannels(needs)).toBe(expected);
  });
});

/** Queue owner without an account. */
const NOBODY = { userId: 999 as UserId, role: 'member', isLimitedGuest: false } as const;

describe('loadChannelReceivers', () => {
  it('returns the subscribers or the views of the channels that the receiver sees', async () => {
    const fixture = await createFixture(
      aUser({ name: 'hamlet' }),
      aUser({ name: 'iago' }),
      aChannel({ name: 'court', subscribers: ['iago'] }),
      aChannel({ name: 'crypt', privacy: 'privateSharedHistory', subscribers: ['hamlet', 'iago'] }),
      aChannel({ name: 'cellar', privacy: 'privateSharedHistory', subscribers: ['iago'] }),
      async ({ user, channel }, tx) => {
        await unsubscribeFromChannels(tx, [channel('crypt')], [user('hamlet').id]);
      },
    );
    const { uow, realm, channel } = fixture;
    const ids = ['court', 'crypt', 'cellar'].map((name) => channel(name).id);
    const [court, crypt, cellar] = ids;
    const gone = 999 as ChannelId;
    const load = async (...requests: readonly (readonly [name: string, needs: EventNeeds])[]) => {
      const receivers = await uow.read(realm.id, (r) =>
        loadChannelReceivers(
          r,
          realm.id,
          requests.map(([name, needs]) => {
            if (name !== 'nobody') return receiverRequest(fixture, name, needs);
            return { ...receiverRequest(fixture, 'iago', needs), owner: NOBODY };
          }),
        ),
      );
      return receivers.map(({ subscribers, channelViews }) => [
        [...subscribers].map(([id, userIds]) => [id, userIds.length]),
        [...channelViews].map(([id, view]) => [id, view.id]),
      ]);
    };
    const subscribersOf = [...ids, gone];
    expect(
      await load(
        ['hamlet', { subscribersOf }],
        ['iago', { subscribersOf }],
        ['iago', { viewsOf: ids }],
        ['iago', {}],
        ['nobody', { subscribersOf }],
      ),
    ).toEqual([
      [[[court, 1]], []],
      [
        [
          [court, 1],
          [crypt, 1],
          [cellar, 1],
        ],
        [],
      ],
      [[], ids.map((id) => [id, id])],
      [[], []],
      [[], []],
    ]);
    expect(await load(['iago', {}])).toEqual([[[], []]]);
  });
});
