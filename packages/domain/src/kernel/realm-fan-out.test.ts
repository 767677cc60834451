import { aChannel, aMessage, aUser, createFixture } from '@parley/testkit';
import { groupMembers } from '../access/group-delivery.js';
import type { Role } from '../access/roles.js';
import { subscribersOf } from '../channels/channel-delivery.js';
import { DELIVERY_FEATURES } from '../composition/features.js';
import { accessorsOf, atLeast, limitedGuests } from '../users/user-delivery.js';
import { type Audience, allOf, anyOf, type DomainEvent, except, nobody, users, wholeRealm } from './event.js';
import { type EventQueue, type QueueFilter, seqOf } from './event-queue.js';
import type { AudienceResults, OnlineUser, RealmSnapshot } from './feature-types.js';
import type { ChannelId, EventSeq, GroupId, MessageId, RealmId, UserId } from './ids.js';
import { isForNonSubscriber, LiveQueue } from './live-queue.js';
import { RealmFanOut, type RealmFanOutParts } from './realm-fan-out.js';

const realmId = 1 as RealmId;
const id = (number: number) => number as UserId;
const group = (number: number) => number as GroupId;
const blank: DomainEvent = { type: 'blank' };
const EVERYBODY_GROUP = group(90);

interface Given {
  /** Users by message id. */
  readonly holders?: Readonly<Record<number, readonly number[]>>;
  /** Users by guest id. */
  readonly inaccessible?: Readonly<Record<number, readonly number[]>>;
  readonly snapshot?: Partial<RealmSnapshot>;
  readonly parts?: Partial<RealmFanOutParts>;
}

const byNumber = (lists: Readonly<Record<number, readonly number[]>> = {}) =>
  new Map(Object.entries(lists).map(([key, ids]) => [Number(key), new Set(ids.map(id))]));

/** Creates a realm in which each user has a queue named `q` plus the user id. */
function aFanOut({ holders, inaccessible, snapshot, parts }: Given = {}) {
  let seq = 0;
  const lookedUp: { questions: unknown; users: unknown }[] = [];
  const deactivated: UserId[] = [];
  const broken: unknown[] = [];
  const unfit: unknown[] = [];
  const realm = new RealmFanOut(
    realmId,
    {
      lastSeq: 0 as EventSeq,
      edges: [],
      deactivatedGroupIds: [],
      permissions: { canAccessAllUsers: EVERYBODY_GROUP } as RealmSnapshot['permissions'],
      ...snapshot,
    },
    {
      features: DELIVERY_FEATURES,
      wants: () => true,
      lookUp: async (questions, users) => {
        lookedUp.push({ questions, users });
        return { holders: byNumber(holders), inaccessible: byNumber(inaccessible) } as unknown as AudienceResults;
      },
      onUnfit: (live, what, error) => unfit.push([live.queue.id, what, (error as Error).message]),
      onBroken: ({ seq }, error) => broken.push([seq, (error as Error).message]),
      onLookUpFailed: (error) => broken.push((error as Error).message),
      onSignedOut: ({ userId }) => deactivated.push(userId),
      ...parts,
    },
  );
  return {
    realm,
    lookedUp,
    deactivated,
    broken,
    unfit,
    join(number: number, role: Role, filter: Partial<QueueFilter> = {}, more: Partial<OnlineUser> = {}): LiveQueue {
      const user = realm.users.get(id(number)) ?? {
        userId: id(number),
        role,
        channels: new Set<ChannelId>(),
        directGroups: new Set<GroupId>(),
        queues: new Set<LiveQueue>(),
        ...more,
      };
      if (!realm.users.has(user.userId)) realm.add(user);
      const live = new LiveQueue(aQueue(number, filter, `q${number}${user.queues.size === 0 ? '' : 'b'}`), 0);
      live.catchUp([]);
      realm.addQueue(user, live);
      return live;
    },
    publish(audience: Audience, event: DomainEvent = blank): void {
      realm.take({ realmId, seq: ++seq as EventSeq, event, audience, at: 0, quotes: null });
    },
  };
}

const aQueue = (number: number, filter: Partial<QueueFilter>, queueId: string): EventQueue => ({
  id: queueId,
  realmId,
  ownerId: id(number),
  filter: { allPublicChannels: false, narrow: [], ...filter },
  presentation: {},
  startSeq: 0 as EventSeq,
  acked: -1,
  floorSeq: 0 as EventSeq,
  lastPolledAt: 0,
  idleTimeoutSeconds: 600,
});
const heard = (live: LiveQueue) =>
  live.dueEvents.map((due) => `${seqOf(due)}${isForNonSubscriber(due) ? ' aside' : ''}`);

/** Creates a message that no user in the test received. */
const publicMessage = async (): Promise<DomainEvent> => {
  const fixture = await createFixture(
    aUser({ name: 'iago' }),
    aChannel({ name: 'Denmark' }),
    aMessage({ from: 'iago', to: 'Denmark' }),
  );
  const [view] = await fixture.uow.read(fixture.realm.id, (r) =>
    r.pages.listViews(fixture.realm.id, [fixture.messages[0]!.id]),
  );
  return { type: 'message.sent', view: view!, isPublic: true, exceptions: [], echo: null };
};

describe('live queue of a realm', () => {
  it('receives events for its owner and events addressed to it alone', () => {
    const { join, publish, realm } = aFanOut();
    const [user, member, second] = [join(1, 'owner'), join(2, 'member'), join(2, 'member')];
    publish(wholeRealm);
    publish(allOf(atLeast('administrator'), users([id(1), id(2)])));
    publish(except(wholeRealm, users([id(1)])));
    publish({ kind: 'queue', id: 'q2' });
    publish(nobody);
    publish(allOf());
    publish(anyOf());
    expect([user, member, second].map(heard)).toEqual([
      ['1', '2', '6'],
      ['1', '3', '4', '6'],
      ['1', '3', '6'],
    ]);
    expect(realm.lastSeq).toBe(7);
  });

  it('skips events addressed to another queue of the same user', () => {
    const { join, publish } = aFanOut();
    const [first, second] = [join(2, 'member'), join(2, 'member')];
    publish({ kind: 'queue', id: 'q2b' });
    expect([heard(first), heard(second)]).toEqual([[], ['1']]);
  });

  it('follows subscriptions and unsubscriptions', () => {
    const { join, publish } = aFanOut();
    const channelId = 7 as ChannelId;
    const [one, two] = [join(1, 'member', {}, { channels: new Set([channelId]) }), join(2, 'member')];
    const said = () => publish(subscribersOf(channelId));
    said();
    const rows = [
      { userId: id(2), channelId },
      { userId: id(3), channelId },
    ] as never;
    publish(nobody, { type: 'subscription.added', channels: [], subscriptions: rows });
    said();
    publish(nobody, {
      type: 'subscription.removed',
      channels: [{ id: channelId, name: 'x', userIds: [id(1), id(3)] }],
    });
    said();
    publish(anyOf(subscribersOf(channelId), users([id(1)])));
    expect([heard(one), heard(two)]).toEqual([
      ['1', '3', '6'],
      ['3', '5', '6'],
    ]);
  });

  it('follows group membership through subgroups but not through deactivated groups', () => {
    const edges = [{ subgroupId: group(1), groupId: group(2) }];
    const { join, publish } = aFanOut({ snapshot: { edges, deactivatedGroupIds: [group(5)] } });
    const live = join(1, 'member', {}, { directGroups: new Set([group(1)]) });
    const publishIt = () => publish(groupMembers(group(2)));
    const activation = (isDeactivated: boolean) =>
      publish(nobody, { type: 'group.activation_changed', view: { id: group(1), isDeactivated } as never });
    publishIt(); // 1
    activation(true);
    publishIt(); // 3
    activation(false);
    publishIt(); // 5
    const members = { type: 'group.members_changed', groupId: group(1), userIds: [id(1), id(9)] } as const;
    publish(nobody, { ...members, op: 'remove' });
    publishIt(); // 7
    publish(nobody, { ...members, op: 'add' });
    publishIt(); // 9
    const subgroups = { type: 'group.subgroups_changed', groupId: group(2), subgroupIds: [group(1)] } as const;
    publish(nobody, { ...subgroups, op: 'remove' });
    publishIt(); // 11
    publish(nobody, { ...subgroups, op: 'add' });
    publishIt(); // 13
    const created = { type: 'group.created', memberIds: [id(1)], subgroupIds: [], view: null } as const;
    publish(nobody, { ...created, groupId: group(3) });
    publish(groupMembers(group(3))); // 15
    publish(nobody, { type: 'group.created', groupId: group(4), memberIds: [], subgroupIds: [group(5)], view: null });
    publish(nobody, { type: 'group.members_changed', op: 'add', groupId: group(5), userIds: [id(1)] });
    publish(groupMembers(group(5))); // 18
    publish(groupMembers(group(4))); // 19, through a group deactivated from the beginning
    expect(heard(live)).toEqual(['1', '5', '9', '13', '15', '18']);
  });

  it('preserves the order of events during a look-up of receivers', async () => {
    const { join, publish, realm } = aFanOut({ holders: { 7: [1] } });
    const [one, two] = [join(1, 'member'), join(2, 'member')];
    publish({ kind: 'holders', messageId: 7 as MessageId });
    publish(wholeRealm);
    expect(realm.isIdle).toBe(false);
    expect([heard(two), realm.lastSeq]).toEqual([[], 0]);
    await realm.settled();
    expect([heard(one), heard(two)]).toEqual([['1', '2'], ['2']]);
    expect([realm.isIdle, realm.lastSeq]).toEqual([true, 2]);
  });

  it('shares one look-up for all events of a commit', async () => {
    const { join, publish, realm, lookedUp } = aFanOut({ holders: { 7: [1], 8: [2] } });
    const [one, two] = [join(1, 'member'), join(2, 'guest')];
    publish(anyOf({ kind: 'holders', messageId: 7 as MessageId }, users([])));
    publish(allOf({ kind: 'holders', messageId: 8 as MessageId }, wholeRealm));
    publish(except(wholeRealm, { kind: 'holders', messageId: 8 as MessageId }));
    publish(accessorsOf(id(5)));
    await realm.settled();
    expect(lookedUp).toEqual([
      {
        questions: { messageIds: [7, 8], userIds: [5] },
        users: { ids: [1, 2], guestIds: [2] },
      },
    ]);
    // A guest receives nothing about users with unknown visibility.
    expect([heard(one), heard(two)]).toEqual([['1', '3', '4'], ['2']]);
  });

  it('needs no look-up without online users or limited guests', async () => {
    const { join, publish, realm, lookedUp } = aFanOut();
    publish({ kind: 'holders', messageId: 7 as MessageId });
    const member = join(1, 'member');
    const guest = join(2, 'guest', {}, { directGroups: new Set([EVERYBODY_GROUP]) });
    publish(accessorsOf(id(5)));
    expect([realm.isIdle, lookedUp, heard(member), heard(guest)]).toEqual([true, [], ['2'], ['2']]);
  });

  it('delivers to guests only events about users they may access', async () => {
    const { join, publish, realm } = aFanOut({ inaccessible: { 2: [5], 3: [] } });
    const [member, blind, seeing] = [join(1, 'member'), join(2, 'guest'), join(3, 'guest')];
    publish(accessorsOf(id(5)));
    publish(limitedGuests);
    publish(allOf(limitedGuests, users([id(1), id(3)])));
    await realm.settled();
    expect([member, blind, seeing].map(heard)).toEqual([['1'], ['2'], ['1', '2', '3']]);
  });

  it('follows changes of the guest role and of access to all users', async () => {
    const { join, publish, realm } = aFanOut({ inaccessible: { 1: [5] } });
    const live = join(1, 'member');
    const publishIt = () => publish(limitedGuests);
    publishIt();
    publish(nobody, { type: 'user.role_changed', userId: id(1), role: 'guest' });
    publishIt();
    const change = { type: 'group.members_changed', groupId: EVERYBODY_GROUP, userIds: [id(1)] } as const;
    publish(nobody, { ...change, op: 'add' });
    publishIt();
    publish(nobody, { ...change, op: 'remove' });
    publishIt();
    publish(nobody, { type: 'user.role_changed', userId: id(1), role: 'administrator' });
    publishIt();
    await realm.settled();
    expect(heard(live)).toEqual(['3', '7']);
  });

  it('follows changes of the permission to access all users', async () => {
    const { join, publish, realm } = aFanOut({ inaccessible: { 1: [5] } });
    const live = join(1, 'guest', {}, { directGroups: new Set([EVERYBODY_GROUP]) });
    publish(limitedGuests);
    const groupId = 77 as typeof EVERYBODY_GROUP;
    const change = { type: 'realm.permission_changed', groupId, value: groupId } as const;
    publish(nobody, { ...change, permission: 'canCreateBots' });
    publish(limitedGuests);
    publish(nobody, { ...change, permission: 'canAccessAllUsers' });
    publish(limitedGuests);
    await realm.settled();
    expect(heard(live)).toEqual(['5']);
  });

  it('delivers events of all public channels to members but not to guests who requested them', async () => {
    const message = await publicMessage();
    const { join, publish } = aFanOut();
    const allPublicQueues = { allPublicChannels: true };
    const [plain, member, guest] = [
      join(1, 'owner'),
      join(2, 'member', allPublicQueues),
      join(3, 'guest', allPublicQueues),
    ];
    const narrowed = join(4, 'member', { narrow: [{ operator: 'channel', operand: 'Denmark' }] });
    const elsewhere = join(5, 'member', { ...allPublicQueues, narrow: [{ operator: 'channel', operand: 'Venice' }] });
    publish(users([id(1)]), message);
    expect([plain, member, guest, narrowed, elsewhere].map(heard)).toEqual([['1'], ['1 aside'], [], ['1 aside'], []]);
  });

  it('receives a public message once, as a subscriber, if it requested all public messages', async () => {
    const message = await publicMessage();
    const { join, publish } = aFanOut();
    const [receiver, other] = [join(1, 'member', { allPublicChannels: true }), join(2, 'member')];
    publish(users([id(1)]), message);
    publish(users([id(1)]), { ...message, isPublic: false } as DomainEvent);
    publish(users([]), { ...message, isPublic: false } as DomainEvent);
    expect([heard(receiver), heard(other)]).toEqual([['1', '2'], []]);
  });

  it("delivers events of public channels according to its owner's role at that event", async () => {
    const message = await publicMessage();
    const { join, publish } = aFanOut();
    const allPublicQueues = { allPublicChannels: true };
    const [demoted, promoted] = [join(1, 'member', allPublicQueues), join(2, 'guest', allPublicQueues)];
    publish(users([]), { type: 'user.role_changed', userId: id(1), role: 'guest' });
    publish(users([]), { type: 'user.role_changed', userId: id(2), role: 'member' });
    publish(users([]), message);
    expect([demoted, promoted].map(heard)).toEqual([[], ['3 aside']]);
  });

  it('applies its narrow to messages only', async () => {
    const message = await publicMessage();
    const { join, publish } = aFanOut();
    const narrowed = join(1, 'member', { narrow: [{ operator: 'channel', operand: 'Venice' }] });
    publish(users([id(1)]), message);
    publish(users([id(1)]));
    expect(heard(narrowed)).toEqual(['2']);
  });

  it('receives the deactivation of its owner and ends with it', () => {
    const { join, publish, deactivated } = aFanOut();
    const live = join(1, 'member');
    const change = { type: 'user.activation_changed', userId: id(1) } as const;
    publish(wholeRealm, { ...change, isActive: true });
    expect(deactivated).toEqual([]);
    publish(wholeRealm, { ...change, isActive: false });
    expect([heard(live), deactivated]).toEqual([['1', '2'], [1]]);
  });

  it('leaves nothing in memory when it is removed', () => {
    const { join, publish, realm } = aFanOut();
    const channelId = 9 as ChannelId;
    const groups = { directGroups: new Set([group(1)]), channels: new Set([channelId]) };
    const [first, second] = [join(1, 'guest', { allPublicChannels: true }, groups), join(1, 'guest')];
    realm.removeQueue(first);
    realm.removeQueue(first);
    publish(wholeRealm);
    expect([heard(first), heard(second), realm.users.size]).toEqual([[], ['1'], 1]);
    realm.removeQueue(second);
    for (const audience of [wholeRealm, subscribersOf(channelId), groupMembers(group(1)), limitedGuests]) {
      publish(audience);
    }
    expect([heard(second), realm.users.size]).toEqual([['1'], 0]);
  });

  it('ends alone if an event cannot be decided for it', () => {
    const wants = ({ queue }: LiveQueue) => {
      if (queue.id === 'q1') throw new Error('odd');
      return true;
    };
    const { join, publish, unfit } = aFanOut({ parts: { wants } });
    const [odd, other] = [join(1, 'member'), join(2, 'member')];
    publish(wholeRealm);
    expect([heard(odd), heard(other)]).toEqual([[], ['1']]);
    expect(unfit).toEqual([['q1', { type: 'blank', seq: 1 }, 'odd']]);
  });

  it('reports the event from which the projection of the realm is invalid', () => {
    const { join, publish, broken, realm } = aFanOut();
    join(1, 'member');
    publish(wholeRealm);
    const circle = { type: 'group.subgroups_changed', op: 'add', groupId: group(1), subgroupIds: [group(1)] } as const;
    publish(wholeRealm, circle);
    expect([broken, realm.lastSeq]).toEqual([[[2, 'Group 1 would contain itself.']], 2]);
  });

  it('falls back to the log if a look-up of receivers fails', async () => {
    let isDiskBroken = true;
    const results: AudienceResults = { holders: new Map(), inaccessible: new Map(), spans: new Map() };
    const lookUp = async () => (isDiskBroken ? Promise.reject(new Error('disk')) : results);
    const { join, publish, realm, broken } = aFanOut({ parts: { lookUp } });
    const before = join(1, 'member');
    publish(wholeRealm);
    publish({ kind: 'holders', messageId: 5 as MessageId });
    publish(wholeRealm);
    await realm.settled();
    expect([before.isBehind, before.floor(3 as EventSeq), broken]).toEqual([true, 0, ['disk']]);

    isDiskBroken = false;
    const after = join(2, 'member');
    publish({ kind: 'holders', messageId: 5 as MessageId });
    publish(wholeRealm);
    await realm.settled();
    expect(heard(after)).toEqual(['5']);
  });
});

describe('ephemeral event', () => {
  const typing = {
    type: 'typing.changed',
    op: 'start',
    sender: null as never,
    to: { kind: 'direct', people: [] },
  } as const;

  it('reaches the live queues of its audience after earlier events', async () => {
    const { join, publish, realm } = aFanOut({ holders: { 7: [2] } });
    const [one, two] = [join(1, 'member'), join(2, 'member')];
    publish({ kind: 'holders', messageId: 7 as MessageId });
    realm.takeEphemeral({ event: typing, audience: users([id(2), id(3)]) }, 50);
    expect(two.hasEphemerals).toBe(false);
    await realm.settled();
    expect(two.takeEphemerals(50)).toEqual([{ event: typing, at: 50 }]);
    expect([one.hasEphemerals, heard(two)]).toEqual([false, ['1']]);
  });

  it('reaches only queues in its audience that request it', () => {
    const wants = ({ queue }: LiveQueue, type: string) => queue.ownerId !== id(3) || type !== 'typing.changed';
    const { join, realm } = aFanOut({ parts: { wants } });
    const [first, second, third] = [join(2, 'member'), join(2, 'member'), join(3, 'member')];
    realm.takeEphemeral({ event: typing, audience: { kind: 'queue', id: 'q2b' } }, 50);
    expect([first, second].map((live) => live.hasEphemerals)).toEqual([false, true]);
    realm.takeEphemeral({ event: typing, audience: wholeRealm }, 50);
    expect([first, third].map((live) => live.hasEphemerals)).toEqual([true, false]);
  });

  it('is dropped if its receivers cannot be looked up', async () => {
    const { join, realm } = aFanOut({ parts: { lookUp: () => Promise.reject(new Error('disk')) } });
    const live = join(1, 'member');
    realm.takeEphemeral({ event: typing, audience: { kind: 'holders', messageId: 5 as MessageId } }, 50);
    await realm.settled();
    expect([live.hasEphemerals, live.isBehind]).toEqual([false, false]);
  });
});
