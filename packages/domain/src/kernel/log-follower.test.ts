import {
  anotherRealm,
  appendEvent,
  createFixture,
  DrivenTime,
  immediateTimers,
  intercepting,
  type MemoryFixture,
} from '@parley/testkit';
import { PublishingUnitOfWork } from '../composition/publishing-unit-of-work.js';
import { LocalBus } from './bus.js';
import { nobody } from './event.js';
import { isReadable, type StoredEvent, type UnreadableEvent } from './event-log.js';
import type { RealmId } from './ids.js';
import { LogFollower, type LogFollowerParts } from './log-follower.js';

const append = (fixture: MemoryFixture, uow = fixture.uow, realmId: RealmId = fixture.realm.id) =>
  uow.write(realmId, (tx) => appendEvent(tx, realmId, { event: { type: 'blank' }, audience: nobody }));

async function following(
  fixture: MemoryFixture,
  bus = new LocalBus().connect(),
  timers: LogFollowerParts['timers'] = immediateTimers,
) {
  const problems: unknown[] = [];
  const onListenerFailure = (error: unknown) => problems.push(error);
  const follower = new LogFollower({ uow: fixture.uow, bus, clock: fixture.clock, timers, onListenerFailure });
  const uow = new PublishingUnitOfWork(fixture.uow, fail, { open: (realmId) => follower.open(realmId) });
  await follower.open(fixture.realm.id);
  uow.subscribe(follower);
  const announced: number[] = [];
  follower.subscribe({ onEvents: (events) => announced.push(...events.map(({ seq }) => seq)) });
  return { uow, follower, told: announced, problems };
}

describe('LogFollower', () => {
  it('delivers each event once and in order from any process', async () => {
    const fixture = await createFixture();
    const { uow, follower, told: announced } = await following(fixture);
    const first = await append(fixture, uow);
    const others = [await append(fixture), await append(fixture)];
    expect(announced).toEqual([first]);
    // An event after a gap is held back until the gap is filled.
    const last = await append(fixture, uow);
    await follower.fill(fixture.realm.id);
    expect(announced).toEqual([first, ...others, last]);
    expect(follower.lastSeqOf(fixture.realm.id)).toBe(last);
  });

  it('catches up with other processes', async () => {
    const fixture = await createFixture();
    const { follower, told: announced } = await following(fixture);
    const seqs = [await append(fixture), await append(fixture)];
    expect(await follower.countUndelivered()).toBe(2);
    await Promise.all([follower.catchUp(), follower.catchUp()]);
    await follower.catchUp();
    expect(await follower.countUndelivered()).toBe(0);
    expect(announced).toEqual(seqs);
  });

  it('retries after a failed log read without missing events', async () => {
    const fixture = await createFixture();
    let isBroken = false;
    const shaky = intercepting(fixture.uow, {
      read: (work, run) => (isBroken ? Promise.reject(new Error('disk')) : run(work)),
    });
    const bus = new LocalBus().connect();
    const follower = new LogFollower({
      uow: shaky,
      bus,
      clock: fixture.clock,
      timers: immediateTimers,
      onListenerFailure: fail,
    });
    await follower.open(fixture.realm.id);
    const announced: number[] = [];
    follower.subscribe({ onEvents: (events) => announced.push(...events.map(({ seq }) => seq)) });
    const seqs = [await append(fixture), await append(fixture)];
    const stored = await fixture.uow.read(fixture.realm.id, ({ events }) =>
      events.listAfter(fixture.realm.id, follower.lastSeqOf(fixture.realm.id), 9),
    );
    isBroken = true;
    follower.onEvents(stored.filter(isReadable).slice(1));
    // No caller awaits this read, so an unhandled rejection would end the process and this test.
    await new Promise((resolve) => setImmediate(resolve));
    expect(announced).toEqual([]);
    await expect(follower.catchUp()).rejects.toThrow('disk');
    isBroken = false;
    await follower.catchUp();
    expect(announced).toEqual(seqs);
  });

  it('delivers no event from before its start and none twice', async () => {
    const fixture = await createFixture();
    await append(fixture);
    const { follower, told: announced } = await following(fixture);
    await follower.catchUp();
    const [stored] = await fixture.uow.read(fixture.realm.id, ({ events }) =>
      events.listAfter(fixture.realm.id, 0 as never, 1),
    );
    follower.onEvents([stored as StoredEvent]);
    expect(announced).toEqual([]);
  });
});

describe('LogFollower on a bus', () => {
  /** Creates a follower that has not seen three commits of another server, which the test publishes. */
  async function behind() {
    const fixture = await createFixture();
    const { realm, clock } = fixture;
    const [buses, timers] = [new LocalBus(), new DrivenTime()];
    let [reads, isAway] = [0, false];
    const uow = intercepting(fixture.uow, {
      read: (work, run) => {
        reads++;
        return isAway ? Promise.reject(new Error('away')) : run(work);
      },
    });
    const follower = new LogFollower({ uow, bus: buses.connect(), clock, timers, onListenerFailure: fail });
    await follower.open(realm.id);
    const told: number[] = [];
    follower.subscribe({ onEvents: (events) => told.push(...events.map(({ seq }) => seq)) });
    const seqs = [await append(fixture), await append(fixture), await append(fixture)];
    const after = follower.lastSeqOf(realm.id);
    const logged = await fixture.uow.read(realm.id, ({ events }) => events.listAfter(realm.id, after, 9));
    const other = buses.connect();
    const hear = (...positions: number[]) => {
      for (const event of positions.map((position) => logged[position] as StoredEvent)) {
        other.publish(realm.id, { kind: 'committed', seq: event.seq, events: [event] });
      }
    };
    reads = 0;
    const setAway = (value: boolean) => {
      isAway = value;
    };
    return { follower, timers, told, seqs, hear, setAway, countReads: () => reads };
  }

  it('delivers events that arrive out of order or twice without reading the log', async () => {
    const { told, seqs, hear, timers, countReads } = await behind();
    hear(0, 2, 2, 1, 0);
    expect(told).toEqual(seqs);
    await timers.advance(1);
    expect([told, countReads()]).toEqual([seqs, 0]);
  });

  it('reads missing events from the log if they do not arrive within fifty milliseconds', async () => {
    const { told, seqs, hear, timers, countReads } = await behind();
    hear(2);
    await timers.advance(0.049);
    expect([told, countReads()]).toEqual([[], 0]);
    await timers.advance(0.001);
    expect(told).toEqual(seqs);
  });

  it('is not current once the log could not be read for five seconds', async () => {
    const { follower, timers, setAway } = await behind();
    setAway(true);
    await timers.advance(5);
    await expect(follower.catchUp()).rejects.toThrow('away');
    expect(follower.isCurrent()).toBe(true);
    await timers.advance(0.001);
    expect(follower.isCurrent()).toBe(false);
    setAway(false);
    await follower.catchUp();
    expect(follower.isCurrent()).toBe(true);
  });
});

describe('LogFollower with many organizations', () => {
  it('reads the logs of open organizations only', async () => {
    const fixture = await createFixture();
    const other = await anotherRealm(fixture);
    const asked: (readonly RealmId[] | undefined)[] = [];
    const follower = new LogFollower({
      uow: intercepting(fixture.uow, {
        read: (work, run) =>
          run((reads) =>
            work({
              ...reads,
              events: new Proxy(reads.events, {
                get: (events, name) =>
                  name === 'listLastSeqs'
                    ? (ids?: readonly RealmId[]) => {
                        asked.push(ids);
                        return events.listLastSeqs(ids);
                      }
                    : Reflect.get(events, name).bind(events),
              }),
            }),
          ),
      }),
      bus: new LocalBus().connect(),
      clock: fixture.clock,
      timers: immediateTimers,
      onListenerFailure: fail,
    });
    await follower.open(fixture.realm.id);
    await append(fixture, fixture.uow, other.realm.id);
    await follower.catchUp();
    expect(asked).toEqual([[fixture.realm.id]]);
    expect(follower.lastSeqOf(other.realm.id)).toBe(0);
  });

  it('delivers events of all organizations from the next catch-up if it follows all', async () => {
    const fixture = await createFixture();
    const other = await anotherRealm(fixture);
    const { follower, told: announced } = await following(fixture);
    await append(fixture, fixture.uow, other.realm.id);
    follower.followAll();
    await follower.catchUp();
    expect(announced).toEqual([]);
    const seq = await append(fixture, fixture.uow, other.realm.id);
    await follower.catchUp();
    expect(announced).toEqual([seq]);
  });

  it("delivers its own process's events of an organization once, even while opening it", async () => {
    const fixture = await createFixture();
    const other = await anotherRealm(fixture);
    const { uow, follower, told: announced } = await following(fixture);
    const opened = follower.open(other.realm.id);
    const seq = await uow.writeAcross((tx) =>
      appendEvent(tx, other.realm.id, { event: { type: 'blank' }, audience: nobody }),
    );
    await opened;
    await follower.catchUp();
    expect(announced).toEqual([seq]);
  });

  it('reads the log as soon as another server has committed', async () => {
    const fixture = await createFixture();
    const buses = new LocalBus();
    const { told: announced } = await following(fixture, buses.connect());
    const other = await following(fixture, buses.connect());
    const seq = await append(fixture, other.uow);
    await new Promise((resolve) => setImmediate(resolve));
    expect(announced).toEqual([seq]);
  });

  it('closes an organization without holders after ten idle minutes', async () => {
    const fixture = await createFixture();
    const { follower } = await following(fixture);
    const closed: RealmId[] = [];
    let isHeld = true;
    follower.subscribe({ onEvents: () => {}, holds: () => isHeld, onClosed: (realmId) => closed.push(realmId) });
    const pass = async () => {
      fixture.clock.advance(600);
      await follower.catchUp();
    };
    await pass();
    await pass();
    expect(closed).toEqual([]);
    isHeld = false;
    follower.open(fixture.realm.id);
    await pass();
    expect(closed).toEqual([]);
    await pass();
    expect(closed).toEqual([fixture.realm.id]);
  });
});

describe('log listener', () => {
  it('receives all events even if another listener fails', async () => {
    const fixture = await createFixture();
    const { uow, follower, problems } = await following(fixture);
    const heard: number[] = [];
    follower.subscribe({
      onEvents: () => {
        throw new Error('odd');
      },
    });
    follower.subscribe({ onEvents: (events) => heard.push(...events.map(({ seq }) => seq)) });
    const seqs = [await append(fixture, uow), await append(fixture)];
    await follower.catchUp();
    expect(heard).toEqual(seqs);
    expect(problems).toEqual([new Error('odd'), new Error('odd')]);
  });

  it('receives unreadable events in order', async () => {
    const fixture = await createFixture();
    const { follower } = await following(fixture);
    const story: string[] = [];
    follower.subscribe({
      onEvents: (events) => story.push(...events.map(({ seq }) => `read ${seq}`)),
      onUnreadable: ({ seq, reason }: UnreadableEvent) => story.push(`unreadable ${seq}: ${reason}`),
    });
    const [first, odd, last] = [await append(fixture), await append(fixture), await append(fixture)];
    await fixture.storage.damage.event(fixture.realm.id, odd, { format: 99 });
    await follower.catchUp();
    expect(story).toEqual([`read ${first}`, `unreadable ${odd}: format 99 of blank is unknown`, `read ${last}`]);
    expect(follower.lastSeqOf(fixture.realm.id)).toBe(last);
  });
});

describe('event publishing', () => {
  it('publishes events after the commit and no events of a failed transaction', async () => {
    const fixture = await createFixture();
    const uow = new PublishingUnitOfWork(fixture.uow, fail);
    const heard: StoredEvent[] = [];
    uow.subscribe({ onEvents: (events) => heard.push(...events) });
    const announcement = { event: { type: 'realm.deactivated' }, audience: nobody } as const;
    const seq = await uow.write(fixture.realm.id, async (tx) => {
      const own = await appendEvent(tx, fixture.realm.id, announcement);
      expect(heard).toEqual([]);
      return own;
    });
    await expect(
      uow.write(fixture.realm.id, async (tx) => {
        await appendEvent(tx, fixture.realm.id, announcement);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(heard).toEqual([{ ...announcement, realmId: fixture.realm.id, seq, at: fixture.clock.now(), quotes: null }]);
    expect(await uow.read(fixture.realm.id, ({ events }) => events.lastSeq(fixture.realm.id))).toBe(seq);
  });
});

function fail(error: unknown): never {
  throw error;
}
