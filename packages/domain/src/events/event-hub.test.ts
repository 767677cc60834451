import { aChannel, aUser, given, type MemoryScene, SeededRandomness } from '@parley/testkit';
import { followChannels } from '../channels/follow-channels.js';
import { leaveChannels } from '../channels/leave-channels.js';
import type { UserId } from '../shared/ids.js';
import { type Audience, anyOf, atLeast, except, groupMembers, subscribersOf, users, wholeRealm } from './audience.js';
import type { DomainEvent } from './event.js';
import { EventHub, type EventHubOptions, type EventTypeNames } from './event-hub.js';
import { POSITIONS_PER_SEQ, type QueueFilter } from './event-queue.js';
import type { LiveQueue } from './live-queue.js';
import { LogFollower } from './log-follower.js';
import { PublishingUnitOfWork } from './publishing-unit-of-work.js';
import { RegisterQueue } from './use-cases/register-queue.js';

const TYPE_NAMES = new Proxy({} as EventTypeNames, { get: (_target, type) => [String(type).split('.')[0]] });

/** Everything between a commit and the queues, on the scene's storage. */
async function live(scene: MemoryScene, options?: EventHubOptions) {
  const uow = new PublishingUnitOfWork(scene.uow, scene.clock, fail);
  const randomness = new SeededRandomness(7);
  const start = async () => {
    const follower = new LogFollower(uow);
    await follower.start();
    const hub = new EventHub(uow, follower, scene.clock, TYPE_NAMES, options);
    follower.subscribe(hub);
    return { follower, hub };
  };
  let { follower, hub } = await start();
  uow.subscribe({ onEvents: (events) => follower.onEvents(events) });
  const register = new RegisterQueue(uow, scene.clock, randomness);
  return {
    uow,
    hub: () => hub,
    follower: () => follower,
    /** As after a crash: only what is stored is left. */
    restart: async () => {
      ({ follower, hub } = await start());
    },
    queue: async (name: string, filter: Partial<QueueFilter> = {}, idleTimeoutSeconds = 600): Promise<string> => {
      const everything = { types: null, allPublicChannels: false, narrow: [], ...filter };
      const input = { parts: new Set<never>(), includeSubscribers: false, filter: everything, presentation: {} };
      const { queue } = await register.execute(scene.caller(name), { ...input, idleTimeoutSeconds }, async () => null);
      return queue.id;
    },
    open: (name: string, id: string, cursor?: number): Promise<LiveQueue> =>
      hub.open(scene.realm.id, scene.user(name).id, id, cursor),
    announce: (audience: Audience, event: DomainEvent = flagChange) =>
      uow.write((tx) => tx.events.append(scene.realm.id, { event, audience })),
  };
}

const flagChange: DomainEvent = {
  type: 'message.flag_changed',
  op: 'add',
  flag: 'read',
  messageIds: [],
  all: true,
  details: [],
};
const typesOf = (queue: LiveQueue) => queue.deliveries.map(({ stored }) => stored.event.type);
/** A row may become several wire events, so the one that was confirmed last stays until the next is. */
const seqsBeyond = (queue: LiveQueue, seq: number) =>
  queue.deliveries.map(({ stored }) => stored.seq).filter((one) => one > seq);
const cast = () =>
  given(
    aUser({ name: 'iago', role: 'administrator' }),
    aUser({ name: 'hamlet' }),
    aUser({ name: 'polonius', role: 'guest' }),
    aChannel({ name: 'Denmark', subscribers: ['hamlet'] }),
  );

describe('who is told', () => {
  it.each([
    ['everybody', () => wholeRealm, ['iago', 'hamlet', 'polonius']],
    ['members and above', () => atLeast('member'), ['iago', 'hamlet']],
    ['followers of a channel', (scene: MemoryScene) => subscribersOf(scene.channel('Denmark').id), ['hamlet']],
    ['one user', (scene: MemoryScene) => users([scene.user('iago').id]), ['iago']],
    [
      'everybody but one',
      (scene: MemoryScene) => except(wholeRealm, users([scene.user('iago').id])),
      ['hamlet', 'polonius'],
    ],
    [
      'followers and administrators',
      (scene: MemoryScene) => anyOf(subscribersOf(scene.channel('Denmark').id), atLeast('administrator')),
      ['iago', 'hamlet'],
    ],
  ])('%s', async (_name, audience: (scene: MemoryScene) => Audience, expected: string[]) => {
    const scene = await cast();
    const world = await live(scene);
    const names = ['iago', 'hamlet', 'polonius'];
    const ids = new Map<string, string>();
    for (const name of names) ids.set(name, await world.queue(name));

    // Live for some, read from the log for the others: nobody can tell which.
    const iago = await world.open('iago', ids.get('iago')!);
    await world.announce(audience(scene));
    const told = [];
    for (const name of names) {
      const queue = name === 'iago' ? iago : await world.open(name, ids.get(name)!);
      if (queue.deliveries.length > 0) told.push(name);
    }
    expect(told).toEqual(expected);
  });

  it('follows who is in which group through the log', async () => {
    const scene = await cast();
    const world = await live(scene);
    const hamlet = await world.open('hamlet', await world.queue('hamlet'));
    const system = await scene.uow.read(({ groups }) => groups.systemGroupIds(scene.realm.id));
    await world.announce(groupMembers(system.moderators));
    expect(hamlet.deliveries).toHaveLength(0);

    await world.announce(users([]), {
      type: 'group.members_changed',
      op: 'add',
      groupId: system.owners,
      userIds: [scene.user('hamlet').id],
    });
    await world.announce(groupMembers(system.moderators));
    expect(typesOf(hamlet)).toEqual(['message.flag_changed']);
  });

  it('means followers as of the event, before and after a restart', async () => {
    const scene = await cast();
    const world = await live(scene);
    const channel = scene.channel('Denmark');
    const userIds: UserId[] = [scene.user('iago').id];
    const iago = await world.queue('iago', { types: ['message'] });
    const toFollowers = () => world.announce(subscribersOf(channel.id));

    await toFollowers();
    await world.uow.write((tx) => followChannels(tx, { channels: [channel], userIds, requestedColors: new Map() }));
    await toFollowers();
    await world.uow.write((tx) => leaveChannels(tx, [channel], userIds));
    await toFollowers();

    expect((await world.open('iago', iago)).deliveries).toHaveLength(1);
    await world.restart();
    expect((await world.open('iago', iago)).deliveries).toHaveLength(1);
  });
});

describe('a queue', () => {
  it('hears only the types it asked for', async () => {
    const world = await live(await cast());
    const queue = await world.open('hamlet', await world.queue('hamlet', { types: ['user'] }));
    await world.announce(wholeRealm);
    expect(queue.deliveries).toHaveLength(0);
  });

  it('starts where the state it was given ends', async () => {
    const world = await live(await cast());
    await world.announce(wholeRealm);
    const id = await world.queue('hamlet');
    await world.announce(wholeRealm);
    expect((await world.open('hamlet', id)).deliveries).toHaveLength(1);
  });

  it('goes on after a restart without loss or duplicate', async () => {
    const scene = await cast();
    const world = await live(scene);
    const id = await world.queue('hamlet');
    const before = await world.open('hamlet', id);
    const first = await world.announce(wholeRealm);
    const second = await world.announce(wholeRealm);
    await world.hub().acknowledge(before, first * POSITIONS_PER_SEQ);

    await world.restart();
    const after = await world.open('hamlet', id);
    await world.hub().acknowledge(after, first * POSITIONS_PER_SEQ);
    expect(seqsBeyond(after, first)).toEqual([second]);
    const third = await world.announce(wholeRealm);
    expect(seqsBeyond(after, first)).toEqual([second, third]);
  });

  it('outlives a crash however much happened since its place was stored, as its client knows that', async () => {
    const scene = await cast();
    const world = await live(scene, { maxEventsBehind: 10, keepSeconds: 600 });
    const id = await world.queue('hamlet');
    const queue = await world.open('hamlet', id);
    let last = 0;
    for (let n = 0; n < 30; n++) {
      last = await world.announce(wholeRealm);
      await world.hub().acknowledge(queue, last * POSITIONS_PER_SEQ);
    }
    const missed = await world.announce(wholeRealm);

    await world.restart();
    await world.hub().sweep();
    const cursor = last * POSITIONS_PER_SEQ;
    const again = await world.open('hamlet', id, cursor);
    await world.hub().acknowledge(again, cursor);
    expect(seqsBeyond(again, last)).toEqual([missed]);
    await expect(world.hub().acknowledge(again, cursor - 1)).rejects.toThrow('has already been pruned');
  });

  it('is given up when its client is too far behind', async () => {
    const scene = await cast();
    const world = await live(scene, { maxEventsBehind: 10, keepSeconds: 600 });
    const id = await world.queue('hamlet');
    for (let n = 0; n < 11; n++) await world.announce(wholeRealm);
    await expect(world.open('hamlet', id)).rejects.toMatchObject({ code: 'EVENT_QUEUE_NOT_FOUND' });
    await world.restart();
    await world.hub().sweep();
    for (let n = 0; n < 11; n++) await world.announce(wholeRealm);
    await world.hub().sweep();
    expect(await scene.uow.read(({ queues }) => queues.listAll())).toEqual([]);
  });

  it('loses nothing to a position that was never given out', async () => {
    const scene = await cast();
    const world = await live(scene);
    const id = await world.queue('hamlet');
    const first = await world.announce(wholeRealm);
    for (const never of [(first + 1) * POSITIONS_PER_SEQ, Number.MAX_SAFE_INTEGER]) {
      const queue = await world.open('hamlet', id, never);
      await expect(world.hub().acknowledge(queue, never)).rejects.toThrow('was not in this queue');
      expect(queue.deliveries.map(({ stored }) => stored.seq)).toEqual([first]);
      await world.restart();
    }
  });

  it('hears what another process writes to the same storage', async () => {
    const scene = await cast();
    const world = await live(scene);
    const queue = await world.open('hamlet', await world.queue('hamlet'));
    await scene.uow.write((tx) => tx.events.append(scene.realm.id, { event: flagChange, audience: wholeRealm }));
    expect(queue.deliveries).toHaveLength(0);
    await world.follower().catchUp();
    expect(queue.deliveries).toHaveLength(1);
  });

  it('delivers the same again to the same position, and nothing before it', async () => {
    const world = await live(await cast());
    const queue = await world.open('hamlet', await world.queue('hamlet'));
    const first = await world.announce(wholeRealm);
    await world.announce(wholeRealm);
    await world.hub().acknowledge(queue, first * POSITIONS_PER_SEQ);
    await world.hub().acknowledge(queue, first * POSITIONS_PER_SEQ);
    expect(seqsBeyond(queue, first)).toHaveLength(1);
    await expect(world.hub().acknowledge(queue, -1)).rejects.toThrow('An event newer than -1 has already been pruned!');
  });

  it.each([0, 10 ** 9])('refuses the position %d, which was never in it', async (position) => {
    const world = await live(await cast());
    const queue = await world.open('hamlet', await world.queue('hamlet'));
    await expect(world.hub().acknowledge(queue, position)).rejects.toThrow(`Event ${position} was not in this queue`);
  });

  it('is not lost to its owner because somebody else asks for it, or he himself asked for more before', async () => {
    const scene = await cast();
    const world = await live(scene, { maxEventsBehind: 10, keepSeconds: 600 });
    const id = await world.queue('hamlet');
    let last = 0;
    for (let n = 0; n < 30; n++) last = await world.announce(wholeRealm);
    const [iago, tooFar, rightly] = await Promise.allSettled([
      world.open('iago', id),
      world.open('hamlet', id),
      world.open('hamlet', id, last * POSITIONS_PER_SEQ),
    ]);
    expect([iago.status, tooFar.status, rightly.status]).toEqual(['rejected', 'rejected', 'fulfilled']);
  });

  it('is nobody else’s', async () => {
    const world = await live(await cast());
    const id = await world.queue('hamlet');
    await expect(world.open('iago', id)).rejects.toMatchObject({ code: 'EVENT_QUEUE_NOT_FOUND' });
    await world.open('hamlet', id);
    await expect(world.open('iago', id)).rejects.toMatchObject({ code: 'EVENT_QUEUE_NOT_FOUND' });
  });

  it('ends when it is removed, and whoever waits is told', async () => {
    const scene = await cast();
    const world = await live(scene);
    const id = await world.queue('hamlet');
    const queue = await world.open('hamlet', id);
    const reasons: string[] = [];
    queue.waitFor((reason) => reasons.push(reason));
    await world.hub().remove(scene.realm.id, scene.user('hamlet').id, id);
    expect(reasons).toEqual(['closed']);
    await expect(world.open('hamlet', id)).rejects.toMatchObject({ code: 'EVENT_QUEUE_NOT_FOUND' });
    await expect(world.hub().remove(scene.realm.id, scene.user('hamlet').id, id)).rejects.toThrow('Bad event queue ID');
  });

  it('has one who waits; the one before is told', async () => {
    const world = await live(await cast());
    const queue = await world.open('hamlet', await world.queue('hamlet'));
    const reasons: string[] = [];
    queue.waitFor((reason) => reasons.push(`first ${reason}`));
    queue.waitFor((reason) => reasons.push(`second ${reason}`));
    await world.announce(wholeRealm);
    expect(reasons).toEqual(['first supplanted', 'second event']);
  });

  it('gives positions for what is not logged, strictly between the events around it', async () => {
    const world = await live(await cast());
    const queue = await world.open('hamlet', await world.queue('hamlet'));
    const first = await world.announce(wholeRealm);
    queue.lastGiven = first * POSITIONS_PER_SEQ;
    const positions = [];
    for (let i = 0; i < 1200; i++) positions.push(await world.hub().takeUnloggedPosition(queue));
    const second = await world.announce(wholeRealm);
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(new Set(positions).size).toBe(1200);
    expect(positions[0]).toBeGreaterThan(first * POSITIONS_PER_SEQ);
    expect(positions.at(-1)).toBeLessThan(second * POSITIONS_PER_SEQ);
  });

  it('lives as long as somebody polls, and by its timeout after that', async () => {
    const scene = await cast();
    const world = await live(scene);
    const id = await world.queue('hamlet', {}, 60);
    const queue = await world.open('hamlet', id);
    queue.waitFor(() => {});
    scene.clock.advance(3600);
    await world.hub().sweep();
    expect(await world.open('hamlet', id)).toBe(queue);

    await world.restart();
    await world.hub().sweep();
    scene.clock.advance(59);
    await world.hub().sweep();
    await world.open('hamlet', id);
    scene.clock.advance(60);
    await world.hub().sweep();
    await expect(world.open('hamlet', id)).rejects.toMatchObject({ code: 'EVENT_QUEUE_NOT_FOUND' });
  });

  it('counts from its beginning where nobody ever polled', async () => {
    const scene = await cast();
    const world = await live(scene);
    scene.clock.advance(3600);
    const id = await world.queue('hamlet', {}, 60);
    scene.clock.advance(60);
    await world.hub().sweep();
    await expect(world.open('hamlet', id)).rejects.toMatchObject({ code: 'EVENT_QUEUE_NOT_FOUND' });
  });

  it('keeps the log from being shortened below what it still needs', async () => {
    const scene = await cast();
    const world = await live(scene);
    const id = await world.queue('hamlet', {}, 86_400);
    await world.announce(wholeRealm);
    scene.clock.advance(3600);
    await world.hub().sweep();
    expect((await world.open('hamlet', id)).deliveries).toHaveLength(1);
  });

  it('ends when its owner is deactivated', async () => {
    const scene = await cast();
    const world = await live(scene);
    const queue = await world.open('hamlet', await world.queue('hamlet'));
    await world.announce(wholeRealm, {
      type: 'user.activation_changed',
      userId: scene.user('hamlet').id,
      isActive: false,
    });
    expect(queue.isClosed).toBe(true);
  });
});

function fail(error: unknown): never {
  throw error;
}
