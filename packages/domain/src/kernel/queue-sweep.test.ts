import {
  anotherRealm,
  aRealm,
  aUser,
  createFixture,
  flagChange,
  intercepting,
  LiveEvents,
  type LiveEventsOptions,
} from '@parley/testkit';
import { wholeRealm } from './event.js';
import { POSITIONS_PER_SEQ } from './event-queue.js';
import type { EventSeq, RealmId } from './ids.js';
import { UNSAVED_SECONDS } from './queue-sweep.js';

async function start(options?: LiveEventsOptions) {
  const fixture = await createFixture(aUser({ name: 'hamlet' }), aUser({ name: 'iago' }));
  return { fixture, events: await LiveEvents.start(fixture, options) };
}

const stored = ({ fixture }: LiveEvents, id: string, realmId: RealmId = fixture.realm.id) =>
  fixture.uow.read(realmId, ({ queues }) => queues.find(realmId, id));
const NOT_FOUND = { code: 'UNKNOWN_EVENT_QUEUE' };

describe('idle event queue', () => {
  it('expires only after its full idle time without a poll', async () => {
    const { fixture, events } = await start();
    const [short, long] = [
      await events.register('hamlet', {}, { idleTimeoutSeconds: 60 }),
      await events.register('hamlet', {}, { idleTimeoutSeconds: 900 }),
    ];
    fixture.clock.advance(59 + UNSAVED_SECONDS);
    await events.sweep.run();
    expect(await stored(events, short)).not.toBeNull();
    fixture.clock.advance(1);
    await events.sweep.run();
    expect([await stored(events, short), (await stored(events, long))?.id]).toEqual([null, long]);
    await expect(events.open('hamlet', short)).rejects.toMatchObject(NOT_FOUND);
  });

  it('expires even if loaded in this process and survives while it is polled', async () => {
    const { fixture, events } = await start();
    const ids = [
      await events.register('hamlet', {}, { idleTimeoutSeconds: 60 }),
      await events.register('hamlet', {}, { idleTimeoutSeconds: 60 }),
    ];
    const [left, polled] = [await events.open('hamlet', ids[0]!), await events.open('hamlet', ids[1]!)];
    fixture.clock.advance(59);
    await events.hub.acknowledge(polled, -1);
    fixture.clock.advance(1 + UNSAVED_SECONDS);
    await events.sweep.run();
    expect([left.isClosed, polled.isClosed]).toEqual([true, false]);
    expect(await stored(events, ids[0]!)).toBeNull();
    expect(await stored(events, ids[1]!)).toMatchObject({ lastPolledAt: fixture.clock.now() - 1 - UNSAVED_SECONDS });
  });

  it('survives as long as a poll waits', async () => {
    const { fixture, events } = await start();
    const id = await events.register('hamlet', {}, { idleTimeoutSeconds: 60 });
    const queue = await events.open('hamlet', id);
    const reasons: string[] = [];
    const wake = (reason: string) => reasons.push(reason);
    queue.waitFor(wake);
    fixture.clock.advance(10_000);
    await events.sweep.run();
    expect([reasons, queue.isClosed, (await stored(events, id))?.id]).toEqual([[], false, id]);
    queue.stopWaiting(wake);
    fixture.clock.advance(60 + UNSAVED_SECONDS);
    await events.sweep.run();
    expect(await stored(events, id)).toBeNull();
    await expect(events.open('hamlet', id)).rejects.toMatchObject(NOT_FOUND);
  });

  it('gets its full idle time again after a server restart', async () => {
    const { fixture, events } = await start();
    const id = await events.register('hamlet');
    fixture.clock.advance(100_000);
    await events.restart();
    fixture.clock.advance(599 + UNSAVED_SECONDS);
    await events.sweep.run();
    expect(await stored(events, id)).not.toBeNull();
    fixture.clock.advance(1);
    await events.sweep.run();
    expect(await stored(events, id)).toBeNull();
  });

  it.each([3600, 172_800, 63_072_000].flatMap((step) => [step, -step]))(
    'survives a step of the clock by %i seconds and expires after its idle time',
    async (step) => {
      const clockWatch = { steadySince: 0 };
      const { fixture, events } = await start({ clockWatch, isOnlyServer: true });
      const { clock } = fixture;
      clockWatch.steadySince = clock.now();
      const ids = [await events.register('hamlet'), await events.register('hamlet')];
      await events.hub.acknowledge(await events.open('hamlet', ids[0]!), -1);
      await events.sweep.run();
      clock.advance(step);
      clockWatch.steadySince = clock.now();
      await fixture.uow.writeAcross((tx) => tx.queues.bringBack(clock.now()));
      const sweep = async () => {
        await events.sweep.run();
        await events.sweep.removeExpired();
        return Promise.all(ids.map(async (id) => (await stored(events, id)) !== null));
      };
      expect(await sweep()).toEqual([true, true]);
      clock.advance(599);
      expect(await sweep()).toEqual([true, true]);
      clock.advance(601 + UNSAVED_SECONDS);
      expect(await sweep()).toEqual([false, false]);
    },
  );

  it('expires in every realm despite many queues and damaged rows', async () => {
    const { fixture, events } = await start();
    const other = await anotherRealm(fixture, aRealm({ stringId: 'venice' }), aUser({ name: 'othello' }));
    await fixture.uow.writeAcross(async (tx) => {
      for (let n = 0; n < 600; n++) {
        const [realm, user] =
          n % 2 === 0 ? [fixture.realm, fixture.user('iago')] : [other.realm, other.user('othello')];
        await tx.queues.add({
          id: `queue ${n}`,
          realmId: realm.id,
          ownerId: user.id,
          filter: { allPublicChannels: false, narrow: [] },
          presentation: {},
          startSeq: 1 as EventSeq,
          acked: -1,
          floorSeq: 1 as EventSeq,
          lastPolledAt: fixture.clock.now(),
          idleTimeoutSeconds: 60,
        });
      }
    });
    for (const n of [0, 300, 599]) {
      await fixture.storage.damage.queue(`queue ${n}`, { filter: '{', presentation: '' });
    }
    fixture.clock.advance(60 + UNSAVED_SECONDS);
    await events.sweep.run();
    expect(events.problems).toEqual([]);
    const left = await fixture.uow.readAcross(async ({ queues }) => [
      await queues.lowestFloor(fixture.realm.id),
      await queues.lowestFloor(other.realm.id),
    ]);
    expect(left).toEqual([null, null]);
  });
});

describe('last event queue of a user that receives messages', () => {
  const MESSAGES = { presentation: { features: ['message'] } };
  const TYPING = { presentation: { features: ['typing'] } };
  const CHANGES = { presentation: { features: ['typing', 'realm'] } };
  const endings = async ({ fixture }: LiveEvents) => {
    const { id } = fixture.realm;
    const log = await fixture.uow.read(id, (reads) => reads.events.listAfter(id, 0 as EventSeq, 1000));
    return log.flatMap((row) => ('event' in row && row.event.type === 'queue.last_expired' ? row.event : []));
  };

  it('is logged with the time of its last poll when it expires, regardless of queues without messages', async () => {
    const { fixture, events } = await start();
    const since = fixture.clock.now();
    await events.register('hamlet', {}, { ...MESSAGES, idleTimeoutSeconds: 60 });
    await events.register('hamlet', {}, { ...TYPING, idleTimeoutSeconds: 90_000 });
    fixture.clock.advance(60 + UNSAVED_SECONDS);
    await events.sweep.run();
    expect(await endings(events)).toEqual([{ type: 'queue.last_expired', userId: fixture.user('hamlet').id, since }]);
  });

  it('is not logged while another one remains, or when a queue without messages expires', async () => {
    const { fixture, events } = await start();
    await events.register('hamlet', {}, { ...MESSAGES, idleTimeoutSeconds: 60 });
    await events.register('hamlet', {}, { idleTimeoutSeconds: 90_000 });
    await events.register('iago', {}, { ...CHANGES, idleTimeoutSeconds: 60 });
    fixture.clock.advance(60 + UNSAVED_SECONDS);
    await events.sweep.run();
    expect(await endings(events)).toEqual([]);
  });

  it('is logged when its client deletes it, with the current time if a poll waits', async () => {
    const { fixture, events } = await start();
    const { id: hamlet } = fixture.user('hamlet');
    const since = fixture.clock.now();
    const ids = [await events.registerLive('hamlet', {}, MESSAGES), await events.register('hamlet', {}, TYPING)];
    fixture.clock.advance(30);
    for (const id of ids) await events.hub.remove(fixture.realm.id, hamlet, id);
    const polled = await events.open('hamlet', await events.registerLive('hamlet', {}, MESSAGES));
    polled.waitFor(() => {});
    fixture.clock.advance(30);
    await events.hub.remove(fixture.realm.id, hamlet, polled.queue.id);
    expect(await endings(events)).toMatchObject([{ since }, { since: since + 60 }]);
  });

  it('is logged when it falls too far behind', async () => {
    const { events } = await start({ maxEventsBehind: 2 });
    await events.register('hamlet', {}, MESSAGES);
    await events.sweep.run();
    for (let n = 0; n < 3; n++) await events.announce(wholeRealm);
    await events.sweep.run();
    expect(await endings(events)).toHaveLength(1);
  });

  it('expires within seconds on the only server, but not while it is polled', async () => {
    const { fixture, events } = await start({ isOnlyServer: true });
    const options = { ...MESSAGES, idleTimeoutSeconds: 2 };
    const [left, polled] = [
      await events.registerLive('hamlet', {}, options),
      await events.registerLive('iago', {}, options),
    ];
    fixture.clock.advance(1);
    await events.sweep.removeExpired();
    expect(await endings(events)).toEqual([]);
    await events.hub.acknowledge(await events.open('iago', polled), -1);
    fixture.clock.advance(1);
    await events.sweep.removeExpired();
    expect(await endings(events)).toMatchObject([{ userId: fixture.user('hamlet').id }]);
    expect(await stored(events, left)).toBeNull();
    expect(await stored(events, polled)).not.toBeNull();
  });

  it('reports no problem if another sweep removed the queue first', async () => {
    const { fixture, events } = await start({ isOnlyServer: true });
    const id = await events.registerLive('hamlet', {}, { ...MESSAGES, idleTimeoutSeconds: 2 });
    fixture.clock.advance(2);
    await Promise.all([events.sweep.removeExpired(), events.sweep.removeExpired()]);
    expect(await stored(events, id)).toBeNull();
    expect(events.problems).toEqual([]);
  });

  it('survives on the only server if a server that took over has stored a later poll', async () => {
    const { fixture, events } = await start({ isOnlyServer: true });
    const { id: realmId } = fixture.realm;
    const id = await events.registerLive('hamlet', {}, { ...MESSAGES, idleTimeoutSeconds: 2 });
    fixture.clock.advance(2);
    const position = { id, acked: -1, floorSeq: 0 as EventSeq, lastPolledAt: fixture.clock.now() };
    await fixture.uow.write(realmId, (tx) => tx.queues.savePositions(realmId, [position]));
    await events.sweep.removeExpired();
    expect(await stored(events, id)).not.toBeNull();
  });
});

describe('lagging event queue', () => {
  it('ends without a poll if it falls too many events behind after the server start', async () => {
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

  it('ends if the log after its position becomes too large', async () => {
    const { fixture, events } = await start({ maxQueueBytes: 5000 });
    const behind = await events.register('hamlet', {}, { idleTimeoutSeconds: 900_000 });
    await events.sweep.runIfGrown();
    const registeredAt = await fixture.uow.read(fixture.realm.id, (r) => r.events.lastSeq(fixture.realm.id));
    const beyond = () => fixture.uow.read(fixture.realm.id, (r) => r.events.seqBeyond(fixture.realm.id, 4500));
    while ((await beyond()) <= registeredAt) await events.announce(wholeRealm);
    await events.sweep.runIfGrown();
    expect(await stored(events, behind)).not.toBeNull();
    const fresh = await events.register('iago', {}, { idleTimeoutSeconds: 900_000 });
    for (let n = 0; n < 20; n++) await events.announce(wholeRealm);
    await events.sweep.runIfGrown();
    expect(await stored(events, behind)).toBeNull();
    expect(await stored(events, fresh)).not.toBeNull();
  });

  it('survives events from before the server start, which its client may have acknowledged', async () => {
    const { events } = await start({ maxEventsBehind: 10 });
    const id = await events.register('hamlet');
    for (let n = 0; n < 50; n++) await events.announce(wholeRealm);
    await events.restart();
    await events.sweep.run();
    expect(await stored(events, id)).not.toBeNull();
  });
});

describe('event log', () => {
  const kept = ({ fixture }: LiveEvents) =>
    fixture.uow.read(
      fixture.realm.id,
      async ({ events }) => (await events.listAfter(fixture.realm.id, 0 as EventSeq, 10_000)).length,
    );

  it('is pruned beyond its size limit, regardless of consumers, queues and age', async () => {
    const { fixture, events } = await start({ maxQueueBytes: 2000, maxLogBytes: 10_000 });
    const realmId = fixture.realm.id;
    const head = await fixture.uow.read(realmId, (r) => r.events.lastSeq(realmId));
    await fixture.uow.write(realmId, (tx) => tx.consumers.add('indexer', new Map([[realmId, head]])));
    for (let n = 0; n < 1000; n++) await events.announce(wholeRealm);
    await events.sweep.run();
    const beyond = (bytes: number) => fixture.uow.read(realmId, (r) => r.events.seqBeyond(realmId, bytes));
    expect(await beyond(10_000)).toBe(0);
    expect(await beyond(9000)).not.toBe(0);
  });

  it('keeps a limited number of unread events for a consumer', async () => {
    const { fixture, events } = await start({ maxEventsForConsumers: 10 });
    const realmId = fixture.realm.id;
    const head = await fixture.uow.read(realmId, (r) => r.events.lastSeq(realmId));
    await fixture.uow.write(realmId, (tx) => tx.consumers.add('indexer', new Map([[realmId, head]])));
    let last = 0 as EventSeq;
    const announce = async (count: number) => {
      for (let n = 0; n < count; n++) last = (await events.announce(wholeRealm)) as EventSeq;
      fixture.clock.advance(10_000);
      await events.sweep.run();
    };
    await announce(4);
    expect(await kept(events)).toBe(4);
    await fixture.uow.write(realmId, (tx) => tx.consumers.advance('indexer', realmId, head, (last - 1) as EventSeq));
    await events.sweep.run();
    expect(await kept(events)).toBe(1);
    await announce(30);
    expect(await kept(events)).toBe(10);
    await fixture.uow.writeAcross((tx) => tx.consumers.remove('indexer'));
    await events.sweep.run();
    expect(await kept(events)).toBe(0);
  });

  it('is pruned of events that no queue needs', async () => {
    const { fixture, events } = await start();
    const id = await events.register('hamlet', {}, { idleTimeoutSeconds: 604_800 });
    const seqs: number[] = [];
    for (let n = 0; n < 5; n++) seqs.push(await events.announce(wholeRealm));
    fixture.clock.advance(10_000);
    const queue = await events.open('hamlet', id);
    await events.hub.acknowledge(queue, seqs[1]! * POSITIONS_PER_SEQ);
    await events.sweep.run();
    // The confirmed position may lie between the wire events of the second row.
    expect(await kept(events)).toBe(4);
    await events.hub.remove(fixture.realm.id, fixture.user('hamlet').id, id);
    await events.sweep.run();
    // The end of the queue is an event.
    expect(await kept(events)).toBe(1);
    expect(await fixture.uow.read(fixture.realm.id, (r) => r.events.lastSeq(fixture.realm.id))).toBe(seqs[4]! + 1);
  });

  it('keeps recent events even if nothing needs them', async () => {
    const { fixture, events } = await start();
    fixture.clock.advance(10_000);
    await events.announce(wholeRealm);
    fixture.clock.advance(599);
    await events.announce(wholeRealm);
    await events.sweep.run();
    expect(await kept(events)).toBe(2);
    fixture.clock.advance(2);
    await events.sweep.run();
    expect(await kept(events)).toBe(1);
  });

  it('is pruned of thousands of events, including unreadable ones', async () => {
    const { fixture, events } = await start();
    await events.uow.write(fixture.realm.id, async (tx) => {
      for (let n = 0; n < 1100; n++)
        await tx.events.append(fixture.realm.id, { event: flagChange, audience: wholeRealm });
    });
    for (const at of [20, 500, 1000]) {
      await fixture.storage.damage.event(fixture.realm.id, at as EventSeq, { payload: '{', audience: '{', format: 99 });
    }
    fixture.clock.advance(601);
    await events.sweep.run();
    expect([await kept(events), events.problems]).toEqual([0, []]);
  });
});

describe('queue position', () => {
  it('has the time at which a stream ended', async () => {
    const { fixture, events } = await start();
    const id = await events.register('hamlet');
    const queue = await events.open('hamlet', id);
    const wake = () => {};
    queue.waitFor(wake, true);
    fixture.clock.advance(100);
    events.hub.endStream(queue, wake);
    const endedAt = fixture.clock.now();
    fixture.clock.advance(60);
    await events.sweep.run();
    expect(await stored(events, id)).toMatchObject({ lastPolledAt: endedAt });
  });

  it('is stored only if it changed', async () => {
    const { fixture, events } = await start();
    const ids = [await events.register('hamlet'), await events.register('iago')];
    const queue = await events.open('hamlet', ids[0]!);
    await events.open('iago', ids[1]!);
    await events.sweep.savePositions();
    const saved: string[][] = [];
    Object.assign(
      fixture.uow,
      intercepting(
        { ...fixture.uow },
        {
          write: (work, run) =>
            run((tx) => {
              const queues = Object.create(tx.queues, {
                savePositions: {
                  value: (...[realmId, positions]: Parameters<typeof tx.queues.savePositions>) => {
                    saved.push(positions.map(({ id }) => id));
                    return tx.queues.savePositions(realmId, positions);
                  },
                },
              });
              return work({ ...tx, queues });
            }),
        },
      ),
    );
    await events.sweep.savePositions();
    expect(saved).toEqual([]);
    const seq = await events.announce(wholeRealm);
    await events.hub.acknowledge(queue, seq * POSITIONS_PER_SEQ);
    await events.sweep.savePositions();
    expect(saved.flat()).toContain(ids[0]);
    expect(await stored(events, ids[0]!)).toMatchObject({ acked: seq * POSITIONS_PER_SEQ, floorSeq: seq - 1 });
  });

  it('is stored in the order of ids in small transactions that do not affect each other on failure', async () => {
    const names = ['bernardo', 'francisco', 'marcellus'];
    const fixture = await createFixture(...names.map((name) => aUser({ name })));
    const events = await LiveEvents.start(fixture);
    const ids: string[] = [];
    for (const name of names) {
      for (let n = 0; n < 100; n++) {
        const id = await events.register(name);
        ids.push(id);
        await events.hub.acknowledge(await events.open(name, id), -1);
      }
    }
    fixture.clock.advance(10);
    for (const live of events.hub.liveQueues) await events.hub.acknowledge(live, -1);
    ids.sort();
    const slices: string[][] = [];
    Object.assign(
      fixture.uow,
      intercepting(
        { ...fixture.uow },
        {
          write: (work, run) =>
            run((tx) => {
              const queues = Object.create(tx.queues, {
                savePositions: {
                  value: (...[realmId, positions]: Parameters<typeof tx.queues.savePositions>) => {
                    slices.push(positions.map(({ id }) => id));
                    if (slices.length === 1) throw new Error('odd position');
                    return tx.queues.savePositions(realmId, positions);
                  },
                },
              });
              return work({ ...tx, queues });
            }),
        },
      ),
    );
    await events.sweep.savePositions();
    expect(slices).toEqual([ids.slice(0, 250), ids.slice(250)]);
    expect(events.problems.map(([message]) => message)).toEqual(['storing positions of event queues failed']);
    expect(await stored(events, ids[299]!)).toMatchObject({ lastPolledAt: fixture.clock.now() });
    expect(await stored(events, ids[0]!)).toMatchObject({ lastPolledAt: fixture.clock.now() - 10 });
    await events.sweep.savePositions();
    expect(await stored(events, ids[0]!)).toMatchObject({ lastPolledAt: fixture.clock.now() });
  });

  it('leaves memory after a while without polls and is loaded by the next poll', async () => {
    const { fixture, events } = await start();
    const id = await events.register('hamlet');
    const queue = await events.open('hamlet', id);
    const seq = await events.announce(wholeRealm);
    await events.hub.acknowledge(queue, seq * POSITIONS_PER_SEQ);
    fixture.clock.advance(299);
    await events.sweep.run();
    expect(events.hub.liveQueues).toEqual([queue]);
    fixture.clock.advance(1);
    await events.sweep.run();
    expect(events.hub.liveQueues).toEqual([]);
    const later = await events.announce(wholeRealm);
    const again = await events.open('hamlet', id);
    expect(again).not.toBe(queue);
    expect(again.acked).toBe(seq * POSITIONS_PER_SEQ);
    expect(again.dueEvents.length).toBeGreaterThan(0);
    expect(later).toBeGreaterThan(seq);
  });
});

describe('failing part of a sweep', () => {
  it('is reported and does not stop the other parts', async () => {
    const { fixture, events } = await start();
    const queue = await events.open('hamlet', await events.register('hamlet'));
    await events.announce(wholeRealm);
    fixture.clock.advance(10_000);
    await events.hub.acknowledge(queue, -1);
    Object.assign(
      fixture.uow,
      intercepting(
        { ...fixture.uow },
        {
          write: (work, run) =>
            run((tx) => {
              const queues = Object.create(tx.queues, {
                savePositions: { value: () => Promise.reject(new Error('odd position')) },
                removeIdle: { value: () => Promise.reject(new Error('odd queue')) },
              });
              return work({ ...tx, queues });
            }),
        },
      ),
    );
    await events.sweep.run();
    expect(events.problems.map(([message, { err }]) => [message, (err as Error).message])).toEqual([
      ['storing positions of event queues failed', 'odd position'],
      ['giving up idle event queues failed', 'odd queue'],
    ]);
    const log = await fixture.uow.read(fixture.realm.id, (r) => r.events.prunedUpTo(fixture.realm.id));
    expect(log).toBeGreaterThan(0);
  });
});
