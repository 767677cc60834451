import {
  aChannel,
  aMessage,
  appendEvent,
  aRealmWith,
  aUser,
  createFixture,
  flagChange,
  LiveEvents,
  type LiveEventsOptions,
  type MemoryFixture,
  seqsOf,
} from '@parley/testkit';
import { groupMembers } from '../access/group-delivery.js';
import { subscribersOf } from '../channels/channel-delivery.js';
import { subscribeToChannels, unsubscribeFromChannels } from '../channels/subscribing.js';
import { encodeEvent } from '../composition/features.js';
import { accessorsOf, atLeast, limitedGuests } from '../users/user-delivery.js';
import { type Audience, anyOf, type DomainEvent, except, users, wholeRealm } from './event.js';
import type { Delivery } from './event-log.js';
import { POSITIONS_PER_SEQ, type QueueFilter, seqOf } from './event-queue.js';
import type { EventSeq, MessageId, UserId } from './ids.js';
import type { LiveQueue } from './live-queue.js';

const cast = () =>
  createFixture(
    aUser({ name: 'iago', role: 'administrator' }),
    aUser({ name: 'hamlet' }),
    aUser({ name: 'polonius', role: 'guest' }),
    aChannel({ name: 'Denmark', subscribers: ['hamlet'] }),
  );
const live = async (fixture: MemoryFixture, options?: LiveEventsOptions) => LiveEvents.start(fixture, options);
const dueTo = (queue: LiveQueue) => queue.dueEvents.map(seqOf);
/** A row may become several wire events, so the last confirmed one stays until the next is confirmed. */
const seqsBeyond = (queue: LiveQueue, seq: number) => dueTo(queue).filter((one) => one > seq);
const NOT_FOUND = { code: 'UNKNOWN_EVENT_QUEUE' };
const gone = (promise: Promise<unknown>) => expect(promise).rejects.toMatchObject(NOT_FOUND);

/** Counts the reads of the event log from now on. */
function countLogReads(fixture: MemoryFixture): { readonly count: number } {
  const reads = { count: 0 };
  const { read } = fixture.uow;
  fixture.uow.read = (realmId, work) =>
    read(realmId, (repositories) => {
      const { events: log } = repositories;
      const counting = Object.create(log, {
        listAfter: {
          value: (...args: Parameters<typeof log.listAfter>) => {
            reads.count++;
            return log.listAfter(...args);
          },
        },
      });
      return work({ ...repositories, events: counting });
    });
  return reads;
}

describe('event delivery', () => {
  it.each([
    ['everybody', () => wholeRealm, ['iago', 'hamlet', 'polonius']],
    ['members and higher roles', () => atLeast('member'), ['iago', 'hamlet']],
    ['subscribers of a channel', (fixture: MemoryFixture) => subscribersOf(fixture.channel('Denmark').id), ['hamlet']],
    ['one user', (fixture: MemoryFixture) => users([fixture.user('iago').id]), ['iago']],
    [
      'all users except one',
      (fixture: MemoryFixture) => except(wholeRealm, users([fixture.user('iago').id])),
      ['hamlet', 'polonius'],
    ],
    [
      'subscribers and administrators',
      (fixture: MemoryFixture) => anyOf(subscribersOf(fixture.channel('Denmark').id), atLeast('administrator')),
      ['iago', 'hamlet'],
    ],
  ])('delivers to %s', async (_name, audience: (fixture: MemoryFixture) => Audience, expected: string[]) => {
    const fixture = await cast();
    const events = await live(fixture);
    const names = ['iago', 'hamlet', 'polonius'];
    const ids = new Map<string, string>();
    for (const name of names) ids.set(name, await events.register(name));

    // Some queues are live and others read the log; both must receive the same events.
    const iago = await events.open('iago', ids.get('iago')!);
    await events.announce(audience(fixture));
    const announced = [];
    for (const name of names) {
      const queue = name === 'iago' ? iago : await events.open(name, ids.get(name)!);
      if (queue.dueEvents.length > 0) announced.push(name);
    }
    expect(announced).toEqual(expected);
  });

  it('follows group membership through the log', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const hamlet = await events.open('hamlet', await events.register('hamlet'));
    const system = await fixture.uow.read(fixture.realm.id, ({ groups }) => groups.systemGroupIds(fixture.realm.id));
    await events.announce(groupMembers(system.moderators));
    expect(hamlet.dueEvents).toEqual([]);

    await events.announce(users([]), {
      type: 'group.members_changed',
      op: 'add',
      groupId: system.owners,
      userIds: [fixture.user('hamlet').id],
    });
    const seq = await events.announce(groupMembers(system.moderators));
    expect(dueTo(hamlet)).toEqual([seq]);
  });

  it('includes subscribers as of the event, before and after a restart', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const channel = fixture.channel('Denmark');
    const userIds: UserId[] = [fixture.user('iago').id];
    const iago = await events.register('iago', {}, { presentation: { features: ['message'] } });
    const tell = () => events.announce(subscribersOf(channel.id));

    await tell();
    await events.uow.write(channel.realmId, (tx) =>
      subscribeToChannels(tx, { channels: [channel], userIds, requestedColors: new Map() }),
    );
    const whileSubscribed = await tell();
    await events.uow.write(channel.realmId, (tx) => unsubscribeFromChannels(tx, [channel], userIds));
    await tell();

    expect(dueTo(await events.open('iago', iago))).toEqual([whileSubscribed]);
    await events.restart();
    expect(dueTo(await events.open('iago', iago))).toEqual([whileSubscribed]);
  });

  it('includes users who have a message, live and from the log', async () => {
    const fixture = await cast();
    await fixture.add(aMessage({ from: 'hamlet', to: 'Denmark' }));
    const events = await live(fixture);
    const [hamlet, iago] = [await events.register('hamlet'), await events.register('iago')];
    const open = [await events.open('hamlet', hamlet), await events.open('iago', iago)];
    const seq = await events.announce({ kind: 'holders', messageId: fixture.messages[0]!.id });
    await new Promise((resolve) => setImmediate(resolve));
    expect(open.map(dueTo)).toEqual([[seq], []]);
    await events.restart();
    expect(dueTo(await events.open('hamlet', hamlet))).toEqual([seq]);
    expect(dueTo(await events.open('iago', iago))).toEqual([]);
  });

  it('respects guest access to users, live and from the log', async () => {
    const fixture = await cast();
    await fixture.add(
      aRealmWith({ permissionOverrides: { canAccessAllUsers: 'members' } }),
      aChannel({ name: 'court', subscribers: ['hamlet', 'polonius'] }),
    );
    const events = await live(fixture);
    const ids = [await events.register('iago'), await events.register('polonius')];
    const open = async () => [await events.open('iago', ids[0]!), await events.open('polonius', ids[1]!)];
    const before = await open();
    const seqs = [
      await events.announce(accessorsOf(fixture.user('hamlet').id)),
      await events.announce(accessorsOf(fixture.user('iago').id)),
      await events.announce(limitedGuests),
    ];
    await new Promise((resolve) => setImmediate(resolve));
    const expected = [seqs.slice(0, 2), [seqs[0], seqs[2]]];
    expect(before.map(dueTo)).toEqual(expected);
    await events.restart();
    expect((await open()).map(dueTo)).toEqual(expected);
  });

  it('excludes members of deactivated groups, live and from the log', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const hamlet = await events.register('hamlet');
    const { members } = await fixture.uow.read(fixture.realm.id, ({ groups }) =>
      groups.systemGroupIds(fixture.realm.id),
    );
    const outer = await fixture.uow.write(fixture.realm.id, async (tx) => {
      const group = { realmId: fixture.realm.id, description: '', systemName: null, creatorId: null, createdAt: null };
      const unnamed = { ...group, name: null, permissions: null, isDeactivated: false };
      const inner = await tx.groups.add({ ...unnamed, isDeactivated: true }, [fixture.user('hamlet').id], []);
      return tx.groups.add(unnamed, [], [inner.id]);
    });
    const queue = await events.open('hamlet', hamlet);
    await events.announce(groupMembers(outer.id));
    const seq = await events.announce(groupMembers(members));
    expect(dueTo(queue)).toEqual([seq]);
    await events.restart();
    expect(dueTo(await events.open('hamlet', hamlet))).toEqual([seq]);
  });
});

describe('channel message delivery', () => {
  /** Creates a message in Denmark, with Hamlet as the only subscriber. */
  const message = async (fixture: MemoryFixture, isPublic = true): Promise<DomainEvent> => {
    await fixture.add(aMessage({ from: 'hamlet', to: 'Denmark' }));
    const [view] = await fixture.uow.read(fixture.realm.id, (r) =>
      r.pages.listViews(fixture.realm.id, [fixture.messages[0]!.id]),
    );
    return { type: 'message.sent', view: view!, isPublic, exceptions: [], echo: null };
  };
  const inDenmark: Partial<QueueFilter> = { narrow: [{ operator: 'channel', operand: 'denmark' }] };
  const elsewhere: Partial<QueueFilter> = { narrow: [{ operator: 'channel', operand: 'Venice' }] };

  it.each<[string, string, Partial<QueueFilter>, boolean, string | null]>([
    ['is received by its subscribers', 'hamlet', {}, true, 'received'],
    ['is received by its subscribers when the channel is private', 'hamlet', {}, false, 'received'],
    ['is received by subscribers with a narrow to the channel', 'hamlet', inDenmark, true, 'received'],
    ['is withheld from subscribers with a narrow to another channel', 'hamlet', elsewhere, true, null],
    ['is withheld from unsubscribed users', 'iago', {}, true, null],
    ['is received by queues for all public channels', 'iago', { allPublicChannels: true }, true, 'seen'],
    ['is received by unsubscribed users with a narrow to the channel', 'iago', inDenmark, true, 'seen'],
    [
      'is withheld from queues for all public channels with a narrow to another one',
      'iago',
      { allPublicChannels: true, ...elsewhere },
      true,
      null,
    ],
    [
      'is withheld from queues for all public channels if the channel is private',
      'iago',
      { allPublicChannels: true },
      false,
      null,
    ],
    ['is withheld from guests with a narrow to the channel', 'polonius', inDenmark, true, null],
  ])('%s, live and from the log', async (_, name, filter, isPublic, expected) => {
    const fixture = await cast();
    const events = await live(fixture);
    const id = await events.register(name, filter);
    const queue = await events.open(name, id);
    await events.announce(subscribersOf(fixture.channel('Denmark').id), await message(fixture, isPublic));
    const seen = (deliveries: readonly Delivery[]) =>
      deliveries.map((delivery) => ('isNotSubscriber' in delivery && delivery.isNotSubscriber ? 'seen' : 'received'));
    const wanted = expected === null ? [] : [expected];
    expect(seen(await events.read(queue))).toEqual(wanted);
    await events.restart();
    expect(seen(await events.read(await events.hub.open(fixture.realm.id, fixture.user(name).id, id)))).toEqual(wanted);
  });
});

describe('event queue', () => {
  it('receives only the requested event types', async () => {
    const events = await live(await cast());
    const id = await events.register('hamlet', {}, { presentation: { features: ['user'] } });
    const queue = await events.open('hamlet', id);
    await events.announce(wholeRealm);
    expect(queue.dueEvents).toEqual([]);
    await events.restart();
    expect((await events.open('hamlet', id)).dueEvents).toEqual([]);
  });

  it('starts at the end of the state loaded with it', async () => {
    const events = await live(await cast());
    await events.announce(wholeRealm);
    const id = await events.register('hamlet');
    const seq = await events.announce(wholeRealm);
    expect(dueTo(await events.open('hamlet', id))).toEqual([seq]);
  });

  it('resumes after a restart without loss or duplicates', async () => {
    const events = await live(await cast());
    const id = await events.register('hamlet');
    const before = await events.open('hamlet', id);
    const first = await events.announce(wholeRealm);
    const second = await events.announce(wholeRealm);
    await events.hub.acknowledge(before, first * POSITIONS_PER_SEQ);

    await events.restart();
    const after = await events.open('hamlet', id);
    await events.hub.acknowledge(after, first * POSITIONS_PER_SEQ);
    expect(seqsBeyond(after, first)).toEqual([second]);
    const third = await events.announce(wholeRealm);
    expect(seqsBeyond(after, first)).toEqual([second, third]);
  });

  it('resumes from the client’s cursor after a crash, even if the stored position is old', async () => {
    const events = await live(await cast(), { maxEventsBehind: 10 });
    const id = await events.register('hamlet');
    const queue = await events.open('hamlet', id);
    let last = 0;
    for (let n = 0; n < 30; n++) {
      last = await events.announce(wholeRealm);
      await events.hub.acknowledge(queue, last * POSITIONS_PER_SEQ);
    }
    const missed = await events.announce(wholeRealm);

    await events.restart();
    await events.sweep.run();
    const cursor = last * POSITIONS_PER_SEQ;
    const again = await events.open('hamlet', id, cursor);
    await events.hub.acknowledge(again, cursor);
    expect(seqsBeyond(again, last)).toEqual([missed]);
    await expect(events.hub.acknowledge(again, cursor - 1)).rejects.toThrow('has already been pruned');
  });

  it('keeps acknowledged positions across a restart without further acknowledgement', async () => {
    const events = await live(await cast());
    const id = await events.register('hamlet');
    const queue = await events.open('hamlet', id);
    const [first, second] = [await events.announce(wholeRealm), await events.announce(wholeRealm)];
    await events.hub.acknowledge(queue, second * POSITIONS_PER_SEQ);
    await events.sweep.savePositions();

    await events.restart();
    const cursor = first * POSITIONS_PER_SEQ;
    const again = await events.open('hamlet', id, cursor);
    await expect(events.hub.acknowledge(again, cursor)).rejects.toThrow('has already been pruned');
  });

  it('rejects a position before its start', async () => {
    const events = await live(await cast());
    const id = await events.register('hamlet');
    const queue = await events.open('hamlet', id, 0);
    await expect(events.hub.acknowledge(queue, 0)).rejects.toThrow('Event 0 was not in this queue');
    await events.hub.acknowledge(queue, -1);
  });

  it('ends when its client confirms a position beyond the end of the log after a start', async () => {
    const events = await live(await cast());
    for (const beyond of [1, 10 ** 9]) {
      const id = await events.register('hamlet');
      const first = await events.announce(wholeRealm);
      const ended = { code: 'UNKNOWN_EVENT_QUEUE' };
      await expect(events.open('hamlet', id, (first + beyond) * POSITIONS_PER_SEQ)).rejects.toMatchObject(ended);
      await expect(events.open('hamlet', id, first * POSITIONS_PER_SEQ)).rejects.toMatchObject(ended);
    }
  });

  it('accepts a position at the end of the log', async () => {
    const events = await live(await cast());
    const id = await events.register('hamlet');
    const first = await events.announce(wholeRealm);
    const position = first * POSITIONS_PER_SEQ + 7;
    const queue = await events.open('hamlet', id, position);
    expect(queue.acked).toBe(position);
    await events.hub.acknowledge(queue, position);
  });

  it('resends an event that was acknowledged only in part', async () => {
    const events = await live(await cast());
    const id = await events.register('hamlet');
    const [first, second] = [await events.announce(wholeRealm), await events.announce(wholeRealm)];
    const queue = await events.open('hamlet', id, second * POSITIONS_PER_SEQ);
    expect(dueTo(queue)).toEqual([second]);
    await events.restart();
    const again = await events.open('hamlet', id, first * POSITIONS_PER_SEQ + 1);
    expect(dueTo(again)).toEqual([first, second]);
  });

  it('stays readable after events for other users were pruned', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const id = await events.register('hamlet');
    const queue = await events.open('hamlet', id);
    const confirmed = await events.announce(wholeRealm);
    await events.hub.acknowledge(queue, confirmed * POSITIONS_PER_SEQ);
    const others = users([fixture.user('iago').id]);
    for (let n = 0; n < 3; n++) await events.announce(others);
    await events.hub.acknowledge(queue, confirmed * POSITIONS_PER_SEQ + 1);
    await events.hub.read(queue, () => 'silent');
    await events.sweep.savePositions();
    const stored = await fixture.uow.read(fixture.realm.id, ({ queues }) => queues.find(fixture.realm.id, id));
    const { floorSeq } = stored as { readonly floorSeq: EventSeq };
    expect(floorSeq).toBeGreaterThan(confirmed);
    await fixture.uow.write(fixture.realm.id, (tx) =>
      tx.events.prune(fixture.realm.id, floorSeq, fixture.clock.now() + 1, 100),
    );

    await events.restart();
    const again = await events.open('hamlet', id, confirmed * POSITIONS_PER_SEQ + 1);
    const missed = await events.announce(wholeRealm);
    expect(dueTo(again)).toEqual([missed]);
  });

  it('cannot be opened if the log no longer has the events it missed', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const id = await events.register('hamlet');
    const last = await events.announce(wholeRealm);
    await fixture.uow.write(fixture.realm.id, (tx) =>
      tx.events.prune(fixture.realm.id, last, fixture.clock.now() + 1, 100),
    );
    await gone(events.hub.open(fixture.realm.id, fixture.user('hamlet').id, id));
  });

  it('expires if its client falls too far behind', async () => {
    const events = await live(await cast(), { maxEventsBehind: 10 });
    const id = await events.register('hamlet');
    for (let n = 0; n < 10; n++) await events.announce(wholeRealm);
    expect((await events.open('hamlet', id)).dueEvents).toHaveLength(10);
    await events.restart();
    await events.announce(wholeRealm);
    await gone(events.open('hamlet', id));
  });

  it('ends if it falls too far behind in memory', async () => {
    const events = await live(await cast(), { maxEventsBehind: 250 });
    const id = await events.register('hamlet');
    const queue = await events.open('hamlet', id);
    for (let n = 0; n < 251; n++) await events.announce(wholeRealm);
    expect(queue.isBehind).toBe(true);
    await gone(events.open('hamlet', id));
    await gone(events.open('hamlet', id));
  });

  it('ends if the log no longer has the events it needs', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const id = await events.register('hamlet');
    const queue = await events.hub.open(fixture.realm.id, fixture.user('hamlet').id, id);
    const last = await events.announce(wholeRealm);
    await fixture.uow.write(fixture.realm.id, (tx) =>
      tx.events.prune(fixture.realm.id, last, fixture.clock.now() + 1, 100),
    );
    await gone(events.read(queue));
    await gone(events.open('hamlet', id));
    await new Promise((resolve) => setImmediate(resolve));
    expect(await fixture.uow.read(fixture.realm.id, ({ queues }) => queues.find(fixture.realm.id, id))).toBeNull();
  });

  it('receives events that another process writes', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const queue = await events.open('hamlet', await events.register('hamlet'));
    await fixture.uow.write(fixture.realm.id, (tx) =>
      tx.events.append(fixture.realm.id, { event: flagChange, audience: wholeRealm }),
    );
    expect(queue.dueEvents).toEqual([]);
    await events.follower.catchUp();
    expect(queue.dueEvents).toHaveLength(1);
  });

  it('accepts the position of an event that another process has sent', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const queue = await events.open('hamlet', await events.register('hamlet'));
    const seq = await fixture.uow.write(fixture.realm.id, (tx) =>
      appendEvent(tx, fixture.realm.id, { event: flagChange, audience: wholeRealm }),
    );
    await events.hub.acknowledge(queue, seq * POSITIONS_PER_SEQ);
    expect(queue.acked).toBe(seq * POSITIONS_PER_SEQ);
  });

  it('accepts the position of an event that another process has sent during a slow read of the log', async () => {
    const fixture = await cast();
    const { realm, uow } = fixture;
    const events = await live(fixture);
    const queue = await events.open('hamlet', await events.register('hamlet'));
    const read = uow.read.bind(uow);
    let proceed!: () => void;
    const slowness = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    uow.read = async (realmId, work) => {
      uow.read = read;
      const page = await read(realmId, work);
      await slowness;
      return page;
    };
    const slow = events.follower.fill(realm.id);
    const seq = await uow.write(realm.id, (tx) =>
      appendEvent(tx, realm.id, { event: flagChange, audience: wholeRealm }),
    );
    const acknowledged = events.hub.acknowledge(queue, seq * POSITIONS_PER_SEQ);
    proceed();
    await Promise.all([slow, acknowledged]);
    expect(queue.acked).toBe(seq * POSITIONS_PER_SEQ);
  });

  it('returns the same events for the same position and none before it', async () => {
    const events = await live(await cast());
    const queue = await events.open('hamlet', await events.register('hamlet'));
    const first = await events.announce(wholeRealm);
    const second = await events.announce(wholeRealm);
    await events.hub.acknowledge(queue, first * POSITIONS_PER_SEQ);
    await events.hub.acknowledge(queue, first * POSITIONS_PER_SEQ);
    expect(seqsBeyond(queue, first)).toEqual([second]);
    await expect(events.hub.acknowledge(queue, -1)).rejects.toThrow('An event newer than -1 has already been pruned!');
  });

  it('keeps the acknowledgement of a later poll while an earlier one waits for the log', async () => {
    const events = await live(await cast());
    const queue = await events.open('hamlet', await events.register('hamlet'));
    let proceed!: () => void;
    const reading = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    const first = (events.follower.lastSeqOf(events.fixture.realm.id) + 1) * POSITIONS_PER_SEQ;
    jest.spyOn(events.follower, 'fill').mockReturnValueOnce(reading);
    const abandoned = events.hub.acknowledge(queue, first);
    await events.announce(wholeRealm);
    const second = (await events.announce(wholeRealm)) * POSITIONS_PER_SEQ;
    await events.hub.acknowledge(queue, second);
    proceed();
    await expect(abandoned).rejects.toMatchObject({ code: 'EVENTS_PRUNED' });
    expect(queue.acked).toBe(second);
  });

  it.each([0, 10 ** 9])('rejects the position %d, which was never sent', async (position) => {
    const events = await live(await cast());
    const queue = await events.open('hamlet', await events.register('hamlet'));
    await expect(events.hub.acknowledge(queue, position)).rejects.toThrow(`Event ${position} was not in this queue`);
  });

  it('opens for its owner despite concurrent requests by another user or with an outdated position', async () => {
    const events = await live(await cast(), { maxEventsBehind: 10 });
    const id = await events.register('hamlet');
    let last = 0;
    for (let n = 0; n < 30; n++) last = await events.announce(wholeRealm);
    const [iago, tooFar, rightly] = await Promise.allSettled([
      events.open('iago', id),
      events.open('hamlet', id),
      events.open('hamlet', id, last * POSITIONS_PER_SEQ),
    ]);
    expect([iago.status, tooFar.status, rightly.status]).toEqual(['rejected', 'rejected', 'fulfilled']);
  });

  it('rejects users other than its owner', async () => {
    const events = await live(await cast());
    const id = await events.register('hamlet');
    await gone(events.open('iago', id));
    await events.open('hamlet', id);
    await gone(events.open('iago', id));
  });

  it('ends when it is removed and rejects the waiting poll', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const id = await events.register('hamlet');
    const queue = await events.open('hamlet', id);
    const reasons: string[] = [];
    queue.waitFor((reason) => reasons.push(reason));
    await events.hub.remove(fixture.realm.id, fixture.user('hamlet').id, id);
    expect(reasons).toEqual(['closed']);
    await gone(events.open('hamlet', id));
    await expect(events.hub.remove(fixture.realm.id, fixture.user('hamlet').id, id)).rejects.toThrow(
      'Bad event queue ID',
    );
  });

  it('rejects an open that overlaps its removal', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const id = await events.register('hamlet');
    const opening = events.open('hamlet', id);
    events.hub.forgetRemoved([{ realmId: fixture.realm.id, id }]);
    await gone(opening);
    expect((await events.open('hamlet', id)).isClosed).toBe(false);
  });

  it('replaces a waiting poll with a newer one', async () => {
    const events = await live(await cast());
    const queue = await events.open('hamlet', await events.register('hamlet'));
    const reasons: string[] = [];
    queue.waitFor((reason) => reasons.push(`first ${reason}`));
    queue.waitFor((reason) => reasons.push(`second ${reason}`));
    await events.announce(wholeRealm);
    expect(reasons).toEqual(['first supplanted', 'second event']);
  });

  it('assigns an unlogged event a position strictly between the surrounding events', async () => {
    const events = await live(await cast());
    const queue = await events.open('hamlet', await events.register('hamlet'));
    const first = await events.announce(wholeRealm);
    queue.lastGiven = first * POSITIONS_PER_SEQ;
    const positions = [];
    for (let i = 0; i < 1200; i++) positions.push(await events.hub.takeUnloggedPosition(queue));
    const second = await events.announce(wholeRealm);
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(new Set(positions).size).toBe(1200);
    expect(positions[0]).toBeGreaterThan(first * POSITIONS_PER_SEQ);
    expect(positions.at(-1)).toBeLessThan(second * POSITIONS_PER_SEQ);
  });

  it.each([true, false])('ends when its owner is deactivated (caught up: %s)', async (isUpToDate) => {
    const fixture = await cast();
    const events = await live(fixture);
    const id = await events.register('hamlet');
    const others = await events.open('iago', await events.register('iago'));
    const { id: hamlet } = fixture.user('hamlet');
    const queue = isUpToDate ? await events.open('hamlet', id) : await events.hub.open(fixture.realm.id, hamlet, id);
    await events.uow.write(fixture.realm.id, async (tx) => {
      await tx.users.update({ ...fixture.user('hamlet'), isActive: false });
      await tx.events.append(fixture.realm.id, {
        event: { type: 'user.activation_changed', userId: hamlet, isActive: false },
        audience: wholeRealm,
      });
    });
    expect([queue.isClosed, others.isClosed]).toEqual([true, false]);
    expect([queue.failure?.code, others.failure]).toEqual(['USER_DEACTIVATED', null]);
    await gone(events.open('hamlet', id));
  });

  it('reports its last poll or a poll in progress', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const ids = [await events.register('hamlet'), await events.register('hamlet'), await events.register('hamlet')];
    const polled = await events.open('hamlet', ids[0]!);
    const waiting = await events.open('hamlet', ids[1]!);
    fixture.clock.advance(30);
    await events.hub.acknowledge(polled, -1);
    waiting.waitFor(() => {});
    expect(events.hub.lastPolled(fixture.user('hamlet').id)).toEqual(
      new Map([
        [ids[0], fixture.clock.now()],
        [ids[1], Number.POSITIVE_INFINITY],
      ]),
    );
    expect(events.hub.lastPolled(fixture.user('iago').id).size).toBe(0);
  });
});

describe('queue read', () => {
  it('continues in order after a full response and repeats unacknowledged events', async () => {
    const events = await live(await cast());
    const id = await events.register('hamlet');
    const seqs: number[] = [];
    for (let n = 0; n < 30; n++) seqs.push(await events.announce(wholeRealm));
    const queue = await events.hub.open(events.fixture.realm.id, events.fixture.user('hamlet').id, id);
    expect(seqsOf(await events.read(queue, 10))).toEqual(seqs.slice(0, 10));
    expect(seqsOf(await events.read(queue, 10))).toEqual(seqs.slice(0, 10));
    expect(queue.isBehind).toBe(true);
    await events.hub.acknowledge(queue, seqs[9]! * POSITIONS_PER_SEQ + 1);
    expect(seqsOf(await events.read(queue)).filter((seq) => seq! > seqs[9]!)).toEqual(seqs.slice(10));
    expect(queue.isBehind).toBe(false);
    expect(seqsOf(await events.read(queue)).filter((seq) => seq! > seqs[9]!)).toEqual(seqs.slice(10));
  });

  it('fetches events dropped by a full queue from the log and catches up', async () => {
    const events = await live(await cast());
    const queue = await events.open('hamlet', await events.register('hamlet'));
    const seqs: number[] = [];
    for (let n = 0; n < 500; n++) seqs.push(await events.announce(wholeRealm));
    expect([queue.isBehind, queue.dueEvents.length]).toEqual([true, 0]);
    expect(seqsOf(await events.read(queue))).toEqual(seqs);
    await events.hub.acknowledge(queue, seqs.at(-1)! * POSITIONS_PER_SEQ);
    await events.read(queue);
    const last = await events.announce(wholeRealm);
    expect([queue.isBehind, seqsBeyond(queue, seqs.at(-1)!)]).toEqual([false, [last]]);
  });

  it('neither misses nor repeats an event committed during the read', async () => {
    const events = await live(await cast());
    const id = await events.register('hamlet');
    const seqs: number[] = [];
    for (let n = 0; n < 20; n++) seqs.push(await events.announce(wholeRealm));
    const queue = await events.hub.open(events.fixture.realm.id, events.fixture.user('hamlet').id, id);
    const reading = events.read(queue);
    const more = [events.announce(wholeRealm), events.announce(wholeRealm)];
    const read = seqsOf(await reading);
    seqs.push(...(await Promise.all(more)));
    const later = seqsOf(await events.read(queue));
    expect(new Set([...read, ...later])).toEqual(new Set(seqs));
    expect(later).toEqual(seqs);
  });

  describe('a read during which the stream ends', () => {
    const position = (seq: number) => seq * POSITIONS_PER_SEQ;

    /** Queue with a stream that has sent three events, of which the client acknowledges only the first. */
    async function streamed() {
      const events = await live(await cast());
      const queue = await events.open('hamlet', await events.register('hamlet'));
      queue.waitFor(() => {}, true);
      const sent = [
        await events.announce(wholeRealm),
        await events.announce(wholeRealm),
        await events.announce(wholeRealm),
      ];
      queue.markStreamed(position(sent[2]!), { first: sent[0]!, last: sent[2]! });
      const openAgain = async () => {
        await events.hub.acknowledge(queue, position(sent[0]!));
        queue.endStream();
      };
      return { events, queue, sent, openAgain };
    }

    it('keeps unacknowledged events of the stream due if the read finds nothing more in the log', async () => {
      const { events, queue, sent, openAgain } = await streamed();
      queue.fallBehind((sent[2]! + 1) as EventSeq);
      const reading = events.hub.read(queue, () => 'left');
      await openAgain();
      await reading;
      expect(seqsOf(await events.read(queue))).toEqual(sent);
      expect(queue.isBehind).toBe(false);
    });

    it('keeps unacknowledged events of the stream due if the read took later ones', async () => {
      const { events, queue, sent, openAgain } = await streamed();
      const later = await events.announce(wholeRealm);
      let opening: Promise<void> | undefined;
      await events.hub.read(queue, () => {
        opening = openAgain();
        return 'shown';
      });
      await opening;
      expect(seqsOf(await events.read(queue))).toEqual([...sent, later]);
    });
  });

  it('reads the log once for many queues', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const ids = [];
    for (let n = 0; n < 20; n++) ids.push(await events.register('hamlet'));
    for (let n = 0; n < 60; n++) await events.announce(wholeRealm);
    const looks = countLogReads(fixture);
    for (const id of ids) expect((await events.open('hamlet', id)).dueEvents).toHaveLength(60);
    expect(looks.count).toBeLessThan(5);
  });

  it('drops events that are not presented to the client and keeps later ones until acknowledged', async () => {
    const events = await live(await cast());
    const queue = await events.open('hamlet', await events.register('hamlet'));
    const seqs = [];
    for (let n = 0; n < 3; n++) seqs.push(await events.announce(wholeRealm));
    const silentUpTo = (seq: number) => (delivery: Delivery) =>
      'stored' in delivery && delivery.stored.seq <= seq ? ('silent' as const) : ('shown' as const);
    expect(events.hub.readNow(queue, silentUpTo(seqs[1]!))).toBe(true);
    expect(dueTo(queue)).toEqual([seqs[2]]);
    expect(events.hub.readNow(queue, () => 'silent')).toBe(true);
    expect(dueTo(queue)).toEqual([]);
  });

  it('fetches evicted events from the log', async () => {
    const events = await live(await cast(), { cacheBytes: 1 });
    const queue = await events.open('hamlet', await events.register('hamlet'));
    const seqs = [await events.announce(wholeRealm), await events.announce(wholeRealm)];
    expect(events.hub.readNow(queue, () => 'shown')).toBe(false);
    expect(seqsOf(await events.read(queue))).toEqual(seqs);
  });

  it('skips no event that becomes due while earlier ones are fetched', async () => {
    const events = await live(await cast(), { cacheBytes: 1 });
    const { uow } = events.fixture;
    const queue = await events.open('hamlet', await events.register('hamlet'));
    const seqs: number[] = [await events.announce(wholeRealm)];
    const read = uow.read.bind(uow);
    uow.read = async (realmId, work) => {
      uow.read = read;
      for (let n = 0; n < 20; n++) seqs.push(await events.announce(wholeRealm));
      return read(realmId, work);
    };
    expect(seqsOf(await events.read(queue))).toEqual(seqs);
  });

  it('reads few evicted events beyond a full response', async () => {
    const fixture = await cast();
    const events = await live(fixture, { cacheBytes: 1 });
    const queue = await events.open('hamlet', await events.register('hamlet'));
    const seqs: number[] = [];
    for (let n = 0; n < 200; n++) seqs.push(await events.announce(wholeRealm));
    const reads = countLogReads(fixture);
    expect(seqsOf(await events.read(queue, 20))).toEqual(seqs.slice(0, 20));
    expect(reads.count).toBeLessThan(40);
    expect(seqsOf(await events.read(queue))).toEqual(seqs);
  });

  it('hides the content of a deleted message that was in memory', async () => {
    const fixture = await cast();
    await fixture.add(aMessage({ from: 'hamlet', to: 'Denmark' }));
    const { id } = fixture.messages[0]!;
    const events = await live(fixture);
    const queue = await events.open('hamlet', await events.register('hamlet'));
    const behind = await events.register('iago');
    await events.uow.write(fixture.realm.id, (tx) =>
      tx.events.append(fixture.realm.id, { event: flagChange, audience: wholeRealm, quotes: id }),
    );
    const types = async (live: LiveQueue) =>
      (await events.read(live)).map((delivery) => 'stored' in delivery && delivery.stored.event.type);
    expect(await types(queue)).toEqual(['message.flag_changed']);
    await events.uow.write(fixture.realm.id, (tx) => tx.events.blank(fixture.realm.id, [id, 999 as MessageId]));
    expect(await types(queue)).toEqual(['blank']);
    expect(await types(await events.open('iago', behind))).toEqual(['blank']);
  });

  it('bypasses the cache after another process has written', async () => {
    const fixture = await cast();
    await fixture.add(aMessage({ from: 'hamlet', to: 'Denmark' }));
    const { id } = fixture.messages[0]!;
    const events = await live(fixture);
    const queue = await events.open('hamlet', await events.register('hamlet'));
    await events.uow.write(fixture.realm.id, (tx) =>
      tx.events.append(fixture.realm.id, { event: flagChange, audience: wholeRealm, quotes: id }),
    );
    await fixture.uow.write(fixture.realm.id, async (tx) => {
      await tx.events.blank(fixture.realm.id, [id]);
      await tx.events.append(fixture.realm.id, { event: flagChange, audience: users([]) });
    });
    await events.follower.catchUp();
    const [first] = await events.read(queue);
    expect(first).toMatchObject({ stored: { event: { type: 'blank' } } });
  });
});

describe('undeliverable event', () => {
  const failing = (delivery: Delivery) => {
    if ('stored' in delivery) throw new Error('odd event');
    return 'shown' as const;
  };

  it.each(['now', 'later'])('ends one queue, lets its client register again and is reported: read %s', async (when) => {
    const fixture = await cast();
    const events = await live(fixture);
    const [hamlet, iago] = [await events.register('hamlet'), await events.register('iago')];
    const queue = await events.open('hamlet', hamlet);
    const other = await events.open('iago', iago);
    const seq = await events.announce(wholeRealm);
    const reasons: string[] = [];
    queue.waitFor((reason) => reasons.push(reason));
    const read = async () => {
      if (when === 'now') events.hub.readNow(queue, failing);
      else await events.hub.read(queue, failing);
    };
    await gone(read());
    expect(reasons).toEqual(['failed']);
    expect(queue.failure?.code).toBe('UNKNOWN_EVENT_QUEUE');
    await gone(events.open('hamlet', hamlet));
    await new Promise((resolve) => setImmediate(resolve));
    expect(await fixture.uow.read(fixture.realm.id, ({ queues }) => queues.find(fixture.realm.id, hamlet))).toBeNull();
    expect(dueTo(other)).toEqual([seq]);
    expect(events.problems).toEqual([
      [
        'an event cannot be delivered, so its queue was closed',
        {
          realmId: fixture.realm.id,
          queueId: hamlet,
          seq,
          eventType: 'message.flag_changed',
          err: new Error('odd event'),
        },
      ],
    ]);
  });

  it('ends one queue if its receivers cannot be determined', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const narrow: QueueFilter['narrow'] = [{ operator: 'topic', operand: 'x' }];
    const [hamlet, iago] = [await events.register('hamlet', { narrow }), await events.register('iago')];
    const queue = await events.open('hamlet', hamlet);
    const other = await events.open('iago', iago);
    // This version never writes such an event: its format is valid but its shape is not.
    const seq = await events.announce(wholeRealm, {
      type: 'message.sent',
      view: { submessages: [{}] },
    } as unknown as DomainEvent);
    expect([queue.failure?.code, dueTo(other)]).toEqual(['UNKNOWN_EVENT_QUEUE', [seq]]);
    await gone(events.open('hamlet', hamlet));

    const late = await events.register('hamlet', { narrow });
    await fixture.storage.damage.event(fixture.realm.id, (await events.announce(wholeRealm)) as EventSeq, {
      payload: '{"type":"message.sent"}',
      format: 3,
    });
    await events.restart();
    await gone(events.open('hamlet', late));
    expect(events.problems.map(([, { eventType }]) => eventType)).toEqual(['message.sent', 'message.sent']);
  });

  it('keeps the queue closed while its row cannot be removed and removes the row with the next sweep', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const id = await events.register('hamlet');
    const queue = await events.open('hamlet', id);
    await events.announce(wholeRealm);
    const { write } = fixture.uow;
    fixture.uow.write = () => Promise.reject(new Error('disk full'));
    await gone(events.hub.read(queue, failing));
    await new Promise((resolve) => setImmediate(resolve));
    fixture.uow.write = write;
    await gone(events.open('hamlet', id));
    expect(await fixture.uow.read(fixture.realm.id, ({ queues }) => queues.find(fixture.realm.id, id))).not.toBeNull();
    expect(events.problems.map(([message]) => message)).toContain('a closed event queue cannot be removed');
    await events.sweep.run();
    expect(await fixture.uow.read(fixture.realm.id, ({ queues }) => queues.find(fixture.realm.id, id))).toBeNull();
    await gone(events.open('hamlet', id));
  });
});

describe('forked log', () => {
  it('ends queues with clients that received lost events and makes the others read the log again', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const [hamletId, iagoId] = [await events.register('hamlet'), await events.register('iago')];
    const [hamlet, iago] = [await events.open('hamlet', hamletId), await events.open('iago', iagoId)];
    const kept = await events.announce(wholeRealm);
    const lost = await events.announce(wholeRealm);
    hamlet.lastGiven = lost * POSITIONS_PER_SEQ;
    iago.lastGiven = kept * POSITIONS_PER_SEQ;
    const { realm } = fixture;
    events.hub.onForked(realm.id, kept, lost + 1);
    await gone(events.open('hamlet', hamletId));
    expect([iago.isClosed, iago.isBehind, iago.floor(lost)]).toEqual([false, true, kept - 1]);
    // Another server has sent the lost event.
    await gone(events.hub.acknowledge(iago, lost * POSITIONS_PER_SEQ));
    expect(iago.isClosed).toBe(true);
    expect(events.problems).toEqual([
      ['the log has lost events: clients that know them register again', { realmId: realm.id, after: kept, ended: 1 }],
    ]);
  });

  it('delivers events before the lost ones even if their receivers are still being looked up', async () => {
    const fixture = await cast();
    await fixture.add(aMessage({ from: 'hamlet', to: 'Denmark' }));
    const events = await live(fixture);
    const id = await events.register('hamlet');
    const hamlet = await events.open('hamlet', id);
    const held = await events.announce({ kind: 'holders', messageId: fixture.messages[0]!.id });
    expect(dueTo(hamlet)).toEqual([]);
    events.hub.onForked(fixture.realm.id, held, held + 1);
    expect(hamlet.floor(held)).toBeLessThan(held);
    await new Promise((resolve) => setImmediate(resolve));
    expect(dueTo(await events.open('hamlet', id))).toEqual([held]);
  });

  it('keeps queues with clients that received events after the lost ones', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const iago = await events.open('iago', await events.register('iago'));
    const after = await events.announce(wholeRealm);
    const last = await events.announce(wholeRealm);
    iago.lastGiven = last * POSITIONS_PER_SEQ;
    events.hub.onForked(fixture.realm.id, (after - 1) as EventSeq, last);
    expect([iago.isClosed, events.problems]).toEqual([false, []]);
  });
});

describe('change of groups', () => {
  it('ends queues of the members that still have to read it', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const { members, owners } = await fixture.uow.read(fixture.realm.id, ({ groups }) =>
      groups.systemGroupIds(fixture.realm.id),
    );
    const changed = await events.register('hamlet');
    await events.announce(wholeRealm, {
      ...{ type: 'group.members_changed', op: 'add', groupId: owners },
      userIds: [fixture.user('hamlet').id],
    });
    const later = await events.register('hamlet');
    const other = await events.register('polonius');
    const seq = await events.announce(wholeRealm, {
      ...{ type: 'group.subgroups_changed', op: 'remove', groupId: owners },
      subgroupIds: [members],
    });
    await gone(events.open('hamlet', changed));
    await gone(events.open('hamlet', later));
    expect(dueTo(await events.open('polonius', other))).toEqual([seq]);
    expect(events.problems).toEqual([]);
  });
});

describe('restart of clients', () => {
  it('ends queues that a crash has left in the storage', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const earlier = await events.register('hamlet');
    await events.announce(users([]), { type: 'restarted' });
    await events.restart();
    await gone(events.open('hamlet', earlier));
    const later = await events.register('hamlet');
    const seq = await events.announce(wholeRealm);
    expect(dueTo(await events.open('hamlet', later))).toEqual([seq]);
    expect(events.problems).toEqual([]);
  });
});

describe('unreadable row', () => {
  it('is removed and reported if it is a queue, and lets its client register again', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const id = await events.register('hamlet');
    await fixture.storage.damage.queue(id, { filter: '{' });
    await gone(events.open('hamlet', id));
    expect(await fixture.uow.read(fixture.realm.id, ({ queues }) => queues.find(fixture.realm.id, id))).toBeNull();
    expect(events.problems).toEqual([
      [
        'a stored event queue cannot be read',
        { realmId: fixture.realm.id, queueId: id, reason: 'its filter is damaged' },
      ],
    ]);
  });

  it('ends only the queues that would receive the event', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const [hamlet, iago] = [await events.register('hamlet'), await events.register('iago')];
    const before = await events.announce(wholeRealm);
    const odd = await events.announce(users([fixture.user('hamlet').id]));
    const after = await events.announce(wholeRealm);
    await fixture.storage.damage.event(fixture.realm.id, odd, { format: 0 });
    await events.restart();
    expect(dueTo(await events.open('iago', iago))).toEqual([before, after]);
    await gone(events.open('hamlet', hamlet));
    expect(events.problems).toMatchObject([
      ['an event cannot be delivered, so its queue was closed', { queueId: hamlet, seq: odd, eventType: 'unreadable' }],
    ]);
  });

  it('is read in the next format, and other events of a newer release are left to its servers for a minute', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const hamlet = await events.register('hamlet');
    const { format } = encodeEvent({ event: flagChange, audience: wholeRealm });
    const next = await events.announce(wholeRealm, flagChange);
    await fixture.storage.damage.event(fixture.realm.id, next, { format: format + 1 });
    await events.restart();
    expect(dueTo(await events.open('hamlet', hamlet))).toEqual([next]);
    const newer = await events.announce(wholeRealm, flagChange);
    await fixture.storage.damage.event(fixture.realm.id, newer, { format: format + 2 });
    await events.restart();
    await expect(events.open('hamlet', hamlet)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    fixture.clock.advance(60);
    await gone(events.open('hamlet', hamlet));
  });

  it('ends all queues that must read past an event with a damaged audience', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const [hamlet, iago] = [await events.register('hamlet'), await events.register('iago')];
    const odd = await events.announce(users([fixture.user('hamlet').id]));
    await fixture.storage.damage.event(fixture.realm.id, odd, { audience: '?' });
    const late = await events.register('iago');
    await events.restart();
    await gone(events.open('iago', iago));
    await gone(events.open('hamlet', hamlet));
    const seq = await events.announce(wholeRealm);
    expect(dueTo(await events.open('iago', late))).toEqual([seq]);
  });

  it('is skipped for queues outside its audience if another process wrote the event', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const [hamlet, iago] = [await events.register('hamlet'), await events.register('iago')];
    const queues = [await events.open('hamlet', hamlet), await events.open('iago', iago)];
    const reasons: string[] = [];
    queues[1]!.waitFor((reason) => reasons.push(reason));
    const append = (audience: Audience) =>
      fixture.uow.write(fixture.realm.id, (tx) => appendEvent(tx, fixture.realm.id, { event: flagChange, audience }));
    const [odd, last] = [await append(users([fixture.user('hamlet').id])), await append(wholeRealm)];
    await fixture.storage.damage.event(fixture.realm.id, odd, { payload: '' });
    await events.follower.catchUp();
    expect([queues.map(({ isBehind }) => isBehind), reasons]).toEqual([[true, true], ['event']]);
    expect(seqsOf(await events.read(queues[1]!))).toEqual([last]);
    await gone(events.read(queues[0]!));
    expect(events.problems[0]).toEqual([
      'an event of the log cannot be read',
      { realmId: fixture.realm.id, seq: odd, reason: 'its payload is damaged' },
    ]);
  });
});

describe('ephemeral event', () => {
  const typing = (fixture: MemoryFixture) =>
    ({
      event: {
        type: 'typing.changed',
        op: 'start',
        sender: { id: fixture.user('hamlet').id } as never,
        to: { kind: 'channel', channelId: fixture.channel('Denmark').id, topic: 'plans' },
      },
      audience: subscribersOf(fixture.channel('Denmark').id),
    }) as const;

  it('reaches live queues once, between the surrounding logged events', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const [hamlet, iago] = [await events.register('hamlet'), await events.register('iago')];
    const queue = await events.open('hamlet', hamlet);
    const other = await events.open('iago', iago);
    const before = await events.announce(wholeRealm);
    events.announceEphemeral(typing(fixture));
    const first = await events.read(queue);
    expect(first).toHaveLength(2);
    expect(seqsOf(first)).toEqual([before, null]);
    const [, ephemeral] = first;
    const position = 'position' in ephemeral! ? ephemeral.position : 0;
    expect(position).toBeGreaterThan(queue.queue.startSeq * POSITIONS_PER_SEQ);
    const after = await events.announce(wholeRealm);
    expect(position).toBeLessThan(after * POSITIONS_PER_SEQ);
    expect(seqsOf(await events.read(queue))).toEqual([before, after]);
    expect(seqsOf(await events.read(other))).toEqual([before, after]);
  });

  it('reaches a new queue that was never polled', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const id = await events.registerLive('hamlet');
    events.announceEphemeral(typing(fixture));
    const after = await events.announce(wholeRealm);
    const queue = await events.hub.open(fixture.realm.id, fixture.user('hamlet').id, id);
    expect(seqsOf(await events.read(queue))).toEqual([after, null]);
  });

  it('skips queues opened later and is not stored', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const id = await events.register('hamlet');
    await events.restart();
    const lastSeq = await fixture.uow.read(fixture.realm.id, (r) => r.events.lastSeq(fixture.realm.id));
    events.announceEphemeral(typing(fixture));
    expect(await events.read(await events.open('hamlet', id))).toEqual([]);
    expect(await fixture.uow.read(fixture.realm.id, (r) => r.events.lastSeq(fixture.realm.id))).toBe(lastSeq);
  });

  it('wakes waiting polls and ends a queue to which it cannot be presented', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const id = await events.register('hamlet');
    const queue = await events.open('hamlet', id);
    const reasons: string[] = [];
    queue.waitFor((reason) => reasons.push(reason));
    events.announceEphemeral(typing(fixture));
    expect(reasons).toEqual(['event']);
    await gone(
      events.hub.read(queue, () => {
        throw new Error('odd');
      }),
    );
    expect(reasons).toEqual(['event', 'failed']);
    expect(events.problems).toMatchObject([[expect.anything(), { eventType: 'typing.changed', seq: null }]]);
  });

  it('is left out of a full response', async () => {
    const fixture = await cast();
    const events = await live(fixture);
    const queue = await events.open('hamlet', await events.register('hamlet'));
    await events.announce(wholeRealm);
    const second = await events.announce(wholeRealm);
    events.announceEphemeral(typing(fixture));
    expect(await events.read(queue, 1)).toHaveLength(1);
    await events.hub.acknowledge(queue, second * POSITIONS_PER_SEQ + 1);
    expect(seqsOf(await events.read(queue))).toEqual([second, null]);
  });
});
