import { anotherRealm, aRealm, aUser, flagChange, given, LiveEvents, type LiveEventsOptions } from '@parley/testkit';
import type { EventSeq, RealmId } from '../shared/ids.js';
import { wholeRealm } from './audience.js';
import { POSITIONS_PER_SEQ } from './event-queue.js';

async function start(options?: LiveEventsOptions) {
  const scene = await given(aUser({ name: 'hamlet' }), aUser({ name: 'iago' }));
  return { scene, events: await LiveEvents.start(scene, options) };
}

const stored = ({ scene }: LiveEvents, id: string, realmId: RealmId = scene.realm.id) =>
  scene.uow.read(({ queues }) => queues.find(realmId, id));
const NOT_FOUND = { code: 'EVENT_QUEUE_NOT_FOUND' };

describe('an idle event queue', () => {
  it('expires when nobody has polled it for as long as it lives, and no sooner', async () => {
    const { scene, events } = await start();
    const [short, long] = [
      await events.register('hamlet', {}, { idleTimeoutSeconds: 60 }),
      await events.register('hamlet', {}, { idleTimeoutSeconds: 900 }),
    ];
    scene.clock.advance(59);
    await events.sweep.run();
    expect(await stored(events, short)).not.toBeNull();
    scene.clock.advance(1);
    await events.sweep.run();
    expect([await stored(events, short), (await stored(events, long))?.id]).toEqual([null, long]);
    await expect(events.open('hamlet', short)).rejects.toMatchObject(NOT_FOUND);
  });

  it('expires although this process knows it, and goes on living while it is polled', async () => {
    const { scene, events } = await start();
    const ids = [
      await events.register('hamlet', {}, { idleTimeoutSeconds: 60 }),
      await events.register('hamlet', {}, { idleTimeoutSeconds: 60 }),
    ];
    const [left, polled] = [await events.open('hamlet', ids[0]!), await events.open('hamlet', ids[1]!)];
    scene.clock.advance(59);
    await events.hub.acknowledge(polled, -1);
    scene.clock.advance(1);
    await events.sweep.run();
    expect([left.isClosed, polled.isClosed]).toEqual([true, false]);
    expect(await stored(events, ids[0]!)).toBeNull();
    expect(await stored(events, ids[1]!)).toMatchObject({ lastPolledAt: scene.clock.now() - 1 });
  });

  it('lives while somebody waits for it, however long', async () => {
    const { scene, events } = await start();
    const id = await events.register('hamlet', {}, { idleTimeoutSeconds: 60 });
    const queue = await events.open('hamlet', id);
    const reasons: string[] = [];
    const wake = (reason: string) => reasons.push(reason);
    queue.waitFor(wake);
    scene.clock.advance(10_000);
    await events.sweep.run();
    expect([reasons, queue.isClosed, (await stored(events, id))?.id]).toEqual([[], false, id]);
    queue.stopWaiting(wake);
    await events.sweep.run();
    expect(await stored(events, id)).toBeNull();
    await expect(events.open('hamlet', id)).rejects.toMatchObject(NOT_FOUND);
  });

  it('is given as long again when there was no server to poll', async () => {
    const { scene, events } = await start();
    const id = await events.register('hamlet');
    scene.clock.advance(100_000);
    await events.restart();
    scene.clock.advance(599);
    await events.sweep.run();
    expect(await stored(events, id)).not.toBeNull();
    scene.clock.advance(1);
    await events.sweep.run();
    expect(await stored(events, id)).toBeNull();
  });

  it('expires in every realm, however many there are and whatever their rows hold', async () => {
    const { scene, events } = await start();
    const other = await anotherRealm(scene, aRealm({ stringId: 'venice' }), aUser({ name: 'othello' }));
    await scene.uow.write(async (tx) => {
      for (let n = 0; n < 600; n++) {
        const [realm, user] = n % 2 === 0 ? [scene.realm, scene.user('iago')] : [other.realm, other.user('othello')];
        await tx.queues.add({
          id: `queue ${n}`,
          realmId: realm.id,
          ownerId: user.id,
          filter: { types: null, allPublicChannels: false, narrow: [] },
          presentation: {},
          startSeq: 1 as EventSeq,
          acked: -1,
          floorSeq: 1 as EventSeq,
          lastPolledAt: scene.clock.now(),
          idleTimeoutSeconds: 60,
        });
      }
    });
    for (const n of [0, 300, 599]) {
      await scene.storage.damage.queue(`queue ${n}`, { filter: '{', presentation: '' });
    }
    scene.clock.advance(60);
    await events.sweep.run();
    expect(events.problems).toEqual([]);
    const left = await scene.uow.read(async ({ queues }) => [
      await queues.lowestFloor(scene.realm.id),
      await queues.lowestFloor(other.realm.id),
    ]);
    expect(left).toEqual([null, null]);
  });
});

describe('a queue too far behind', () => {
  it('is given up though nobody polls it, once so much has happened since the server began', async () => {
    const { events } = await start({ maxEventsBehind: 10 });
    const id = await events.register('hamlet', {}, { idleTimeoutSeconds: 900_000 });
    await events.sweep.run();
    for (let n = 0; n < 10; n++) await events.announce(wholeRealm);
    await events.sweep.run();
    expect(await stored(events, id)).not.toBeNull();
    await events.announce(wholeRealm);
    await events.sweep.run();
    expect(await stored(events, id)).toBeNull();
  });

  it('is not given up for what happened before: its client may know better where it stands', async () => {
    const { events } = await start({ maxEventsBehind: 10 });
    const id = await events.register('hamlet');
    for (let n = 0; n < 50; n++) await events.announce(wholeRealm);
    await events.restart();
    await events.sweep.run();
    expect(await stored(events, id)).not.toBeNull();
  });
});

describe('the log', () => {
  const kept = ({ scene }: LiveEvents) =>
    scene.uow.read(async ({ events }) => (await events.listAfter(scene.realm.id, 0 as EventSeq, 10_000)).length);

  it('is shortened to what some queue still needs', async () => {
    const { scene, events } = await start();
    const id = await events.register('hamlet', {}, { idleTimeoutSeconds: 604_800 });
    const seqs: number[] = [];
    for (let n = 0; n < 5; n++) seqs.push(await events.announce(wholeRealm));
    scene.clock.advance(10_000);
    const queue = await events.open('hamlet', id);
    await events.hub.acknowledge(queue, seqs[1]! * POSITIONS_PER_SEQ);
    await events.sweep.run();
    // What was confirmed may be in the middle of what the second one became.
    expect(await kept(events)).toBe(4);
    await events.hub.remove(scene.realm.id, scene.user('hamlet').id, id);
    await events.sweep.run();
    expect(await kept(events)).toBe(0);
    expect(await scene.uow.read((r) => r.events.headSeq(scene.realm.id))).toBe(seqs[4]);
  });

  it('keeps what is young, whether or not somebody needs it', async () => {
    const { scene, events } = await start();
    scene.clock.advance(10_000);
    await events.announce(wholeRealm);
    scene.clock.advance(599);
    await events.announce(wholeRealm);
    await events.sweep.run();
    expect(await kept(events)).toBe(2);
    scene.clock.advance(2);
    await events.sweep.run();
    expect(await kept(events)).toBe(1);
  });

  it('is shortened by thousands of events, and past those that cannot be read', async () => {
    const { scene, events } = await start();
    await events.uow.write(async (tx) => {
      for (let n = 0; n < 1100; n++)
        await tx.events.append(scene.realm.id, { event: flagChange, audience: wholeRealm });
    });
    for (const at of [20, 500, 1000]) {
      await scene.storage.damage.event(scene.realm.id, at as EventSeq, { payload: '{', audience: '{', format: 99 });
    }
    scene.clock.advance(601);
    await events.sweep.run();
    expect([await kept(events), events.problems]).toEqual([0, []]);
  });
});

describe('where queues stand', () => {
  it('is stored, and only what has moved since', async () => {
    const { scene, events } = await start();
    const ids = [await events.register('hamlet'), await events.register('iago')];
    const queue = await events.open('hamlet', ids[0]!);
    await events.open('iago', ids[1]!);
    await events.sweep.savePositions();
    const saved: string[][] = [];
    const { write } = scene.uow;
    scene.uow.write = (work) =>
      write((tx) => {
        const queues = Object.create(tx.queues, {
          savePositions: {
            value: (...[realmId, positions]: Parameters<typeof tx.queues.savePositions>) => {
              saved.push(positions.map(({ id }) => id));
              return tx.queues.savePositions(realmId, positions);
            },
          },
        });
        return work({ ...tx, queues });
      });
    await events.sweep.savePositions();
    expect(saved).toEqual([]);
    const seq = await events.announce(wholeRealm);
    await events.hub.acknowledge(queue, seq * POSITIONS_PER_SEQ);
    await events.sweep.savePositions();
    expect(saved.flat()).toContain(ids[0]);
    expect(await stored(events, ids[0]!)).toMatchObject({ acked: seq * POSITIONS_PER_SEQ, floorSeq: seq - 1 });
  });

  it('is stored a few at a time, and a few that fail keep no others from it', async () => {
    const names = ['bernardo', 'francisco', 'marcellus'];
    const scene = await given(...names.map((name) => aUser({ name })));
    const events = await LiveEvents.start(scene);
    const ids: string[] = [];
    for (const name of names) {
      for (let n = 0; n < 100; n++) {
        const id = await events.register(name);
        ids.push(id);
        await events.hub.acknowledge(await events.open(name, id), -1);
      }
    }
    scene.clock.advance(10);
    for (const live of events.hub.knownQueues) await events.hub.acknowledge(live, -1);
    const sizes: number[] = [];
    const { write } = scene.uow;
    scene.uow.write = (work) =>
      write((tx) => {
        const queues = Object.create(tx.queues, {
          savePositions: {
            value: (...[realmId, positions]: Parameters<typeof tx.queues.savePositions>) => {
              sizes.push(positions.length);
              if (sizes.length === 1) throw new Error('odd position');
              return tx.queues.savePositions(realmId, positions);
            },
          },
        });
        return work({ ...tx, queues });
      });
    await events.sweep.savePositions();
    expect(sizes).toEqual([250, 50]);
    expect(events.problems.map(([message]) => message)).toEqual(['storing where event queues stand failed']);
    expect(await stored(events, ids[299]!)).toMatchObject({ lastPolledAt: scene.clock.now() });
    expect(await stored(events, ids[0]!)).toMatchObject({ lastPolledAt: scene.clock.now() - 10 });
    await events.sweep.savePositions();
    expect(await stored(events, ids[0]!)).toMatchObject({ lastPolledAt: scene.clock.now() });
  });

  it('is forgotten after a while in which nobody polls, and found again when somebody does', async () => {
    const { scene, events } = await start();
    const id = await events.register('hamlet');
    const queue = await events.open('hamlet', id);
    const seq = await events.announce(wholeRealm);
    await events.hub.acknowledge(queue, seq * POSITIONS_PER_SEQ);
    scene.clock.advance(299);
    await events.sweep.run();
    expect(events.hub.knownQueues).toEqual([queue]);
    scene.clock.advance(1);
    await events.sweep.run();
    expect(events.hub.knownQueues).toEqual([]);
    const later = await events.announce(wholeRealm);
    const again = await events.open('hamlet', id);
    expect(again).not.toBe(queue);
    expect(again.acked).toBe(seq * POSITIONS_PER_SEQ);
    expect(again.dueEvents.length).toBeGreaterThan(0);
    expect(later).toBeGreaterThan(seq);
  });
});

describe('a part of a sweep that fails', () => {
  it('is reported, and keeps nothing else from being done', async () => {
    const { scene, events } = await start();
    const queue = await events.open('hamlet', await events.register('hamlet'));
    await events.announce(wholeRealm);
    scene.clock.advance(10_000);
    await events.hub.acknowledge(queue, -1);
    const { write } = scene.uow;
    scene.uow.write = (work) =>
      write((tx) => {
        const queues = Object.create(tx.queues, {
          savePositions: { value: () => Promise.reject(new Error('odd position')) },
          removeIdle: { value: () => Promise.reject(new Error('odd queue')) },
        });
        return work({ ...tx, queues });
      });
    await events.sweep.run();
    expect(events.problems.map(([message, { err }]) => [message, (err as Error).message])).toEqual([
      ['storing where event queues stand failed', 'odd position'],
      ['giving up idle event queues failed', 'odd queue'],
    ]);
    const log = await scene.uow.read((r) => r.events.prunedUpTo(scene.realm.id));
    expect(log).toBeGreaterThan(0);
  });
});
