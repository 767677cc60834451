import { DomainError } from './errors.js';
import { type EventQueue, POSITIONS_PER_SEQ, seqOf } from './event-queue.js';
import type { EventSeq, RealmId, UserId } from './ids.js';
import { dueEvent, LiveQueue, type Waiter } from './live-queue.js';

const NOW = 100;
const seq = (number: number) => number as EventSeq;
const queue: EventQueue = {
  id: 'q',
  realmId: 1 as RealmId,
  ownerId: 10 as UserId,
  filter: { allPublicChannels: false, narrow: [] },
  presentation: {},
  startSeq: seq(5),
  acked: -1,
  floorSeq: seq(5),
  lastPolledAt: 100,
  idleTimeoutSeconds: 600,
};
const due = (number: number, isNotSubscriber = false) => dueEvent(seq(number), isNotSubscriber);
/** Creates a caught-up queue without due events. */
const live = () => {
  const started = new LiveQueue(queue, 100);
  started.catchUp([]);
  return started;
};
const seqs = (live: LiveQueue) => live.dueEvents.map(seqOf);
const typing = {
  type: 'typing.changed',
  op: 'start',
  sender: null as never,
  to: { kind: 'direct', people: [] },
} as const;

describe('LiveQueue', () => {
  it('keeps due events with the subscription state of the owner until they are dropped', () => {
    const queue = new LiveQueue({ ...live().queue }, 100);
    expect(queue.catchUp([due(6), due(7, true)])).toBe(true);
    queue.push(due(9));
    queue.dropBefore(seq(7));
    expect(queue.dueEvents).toEqual([due(7, true), due(9)]);
    queue.dropBefore(seq(1));
    expect(seqs(queue)).toEqual([7, 9]);
    queue.dropBefore(seq(10));
    expect(queue.dueEvents).toEqual([]);
  });

  it('lags until it has read everything and accepts no events before that', () => {
    const started = new LiveQueue(queue, 100);
    started.push(due(6));
    started.pushEphemeral({ event: typing, at: 100 });
    expect([started.isBehind, started.hasDeliveries, started.dueEvents.length]).toEqual([true, true, 0]);
    started.catchUp([]);
    expect([started.isBehind, started.hasDeliveries]).toEqual([false, false]);
  });

  it('keeps lagging if too many events are due', () => {
    const started = new LiveQueue(queue, 100);
    const many = (count: number) => Array.from({ length: count }, (_, index) => due(6 + index));
    expect(started.catchUp(many(201))).toBe(false);
    expect(started.isBehind).toBe(true);
    expect(started.catchUp(many(200))).toBe(true);
  });

  it('reports a floor before the first due event or at the end of the distributed events', () => {
    const queue = live();
    expect(queue.floor(seq(8))).toBe(8);
    queue.push(due(7));
    expect(queue.floor(seq(8))).toBe(6);
  });

  it('starts lagging with its floor before the first due event if too many events are due', () => {
    const queue = live();
    for (let number = 6; number < 206; number++) queue.push(due(number));
    expect(queue.isBehind).toBe(false);
    queue.push(due(206));
    expect([queue.isBehind, queue.floor(seq(300)), queue.dueEvents.length]).toEqual([true, 5, 0]);
    queue.push(due(207));
    queue.acknowledge(9 * POSITIONS_PER_SEQ, 130);
    expect([queue.floor(seq(300)), queue.dueEvents.length]).toEqual([8, 0]);
  });

  it('starts lagging from an event that could not be delivered', () => {
    const queue = live();
    queue.fallBehind(seq(8));
    expect(queue.floor(seq(20))).toBe(7);
    queue.fallBehind(seq(15));
    expect(queue.floor(seq(20))).toBe(7);
  });

  it('never moves its position backwards', () => {
    const queue = live();
    queue.fallBehind(seq(9));
    queue.dropBefore(seq(4));
    expect(queue.floor(seq(20))).toBe(8);
  });

  it('counts a waiting poll as a poll when its position is saved', () => {
    const queue = live();
    queue.waitFor(() => {});
    expect(queue.unsavedPosition(seq(5), 160)).toMatchObject({ lastPolledAt: 160 });
  });

  it('reports its position as unsaved until it is stored', () => {
    const queue = live();
    expect(queue.unsavedPosition(seq(5), NOW)).toBeNull();
    queue.acknowledge(6 * POSITIONS_PER_SEQ, 130);
    const position = { id: 'q', acked: 6 * POSITIONS_PER_SEQ, floorSeq: 7, lastPolledAt: 130 };
    expect(queue.unsavedPosition(seq(7), 130)).toEqual(position);
    expect(queue.unsavedPosition(seq(7), 140)).toEqual(position);
    queue.markSaved(queue.unsavedPosition(seq(7), 140)!);
    expect(queue.unsavedPosition(seq(7), 140)).toBeNull();
    for (const change of [
      () => queue.push(due(7)),
      () => queue.acknowledge(queue.acked + 1, 140),
      () => queue.acknowledge(queue.acked, 150),
    ]) {
      change();
      const moved = queue.unsavedPosition(seq(7), 150);
      expect(moved).not.toBeNull();
      queue.markSaved(moved!);
    }
  });

  it('counts a poll from the future as a poll when its position is saved', () => {
    const queue = live();
    queue.acknowledge(6 * POSITIONS_PER_SEQ, 100_000);
    expect(queue.unsavedPosition(seq(7), 130)).toMatchObject({ lastPolledAt: 130 });
  });

  it("starts at its client's position, which may be later than the stored one", () => {
    const started = new LiveQueue(queue, 100, { acked: 9 * POSITIONS_PER_SEQ, floorSeq: seq(8) });
    expect([started.acked, started.lastGiven, started.floor(seq(30))]).toEqual([
      9 * POSITIONS_PER_SEQ,
      9 * POSITIONS_PER_SEQ,
      8,
    ]);
    expect(new LiveQueue(queue, 100).lastGiven).toBe(5 * POSITIONS_PER_SEQ);
  });

  it('wakes the waiting poll but not one that stopped waiting', () => {
    const queue = live();
    const heard: string[] = [];
    const hearing =
      (name: string): Waiter =>
      (reason) =>
        heard.push(`${name} ${reason}`);
    const [first, second] = [hearing('first'), hearing('second')];
    queue.waitFor(first);
    queue.waitFor(second);
    queue.stopWaiting(first);
    queue.push(due(6));
    queue.close();
    queue.stopWaiting(second);
    queue.push(due(7));
    expect(heard).toEqual(['first supplanted', 'second event', 'second closed']);
    expect(queue).toMatchObject({ isWaitedFor: false, isClosed: true, failure: null });
  });

  it('wakes the waiting poll when it starts lagging and when it fails', () => {
    const queue = live();
    const heard: string[] = [];
    const failure = new DomainError('EVENTS_PRUNED', 'An event newer than 1 has already been pruned!');
    queue.waitFor((reason) => heard.push(reason));
    queue.fallBehind(seq(6));
    queue.close(failure);
    expect(heard).toEqual(['event', 'failed']);
    expect(queue).toMatchObject({ isClosed: true, failure });
  });

  it('keeps the newest ephemeral events briefly and delivers each once', () => {
    const queue = live();
    const reasons: string[] = [];
    queue.waitFor((reason) => reasons.push(reason));
    for (let number = 0; number < 60; number++) queue.pushEphemeral({ event: typing, at: 100 + number });
    expect([reasons.length, queue.hasDeliveries]).toEqual([60, true]);
    expect(queue.takeEphemerals(150).map(({ at }) => at)).toEqual(
      Array.from({ length: 40 }, (_, index) => 120 + index),
    );
    expect([queue.hasDeliveries, queue.takeEphemerals(150)]).toEqual([false, []]);
    queue.pushEphemeral({ event: typing, at: 200 });
    queue.fallBehind(seq(6));
    expect(queue.takeEphemerals(200)).toEqual([]);
  });

  it('numbers ephemeral events after all sent positions and within the numbers of a row', () => {
    const queue = live();
    expect(queue.nextUnloggedPosition()).toBe(5 * POSITIONS_PER_SEQ + 1);
    queue.lastGiven = 6 * POSITIONS_PER_SEQ + 998;
    expect(queue.nextUnloggedPosition()).toBe(6 * POSITIONS_PER_SEQ + 999);
    queue.lastGiven++;
    expect(queue.nextUnloggedPosition()).toBeNull();
  });
});

describe('LiveQueue with a stream', () => {
  /** Queue with a stream that has sent the events 6 to 8. */
  const streamed = () => {
    const started = live();
    const reasons: string[] = [];
    const wake: Waiter = (reason) => {
      reasons.push(reason);
      if (reason === 'supplanted') started.stopWaiting(wake);
    };
    started.waitFor(wake, true);
    for (const number of [6, 7, 8]) started.push(due(number));
    started.markStreamed(due(8), { first: seq(6), last: seq(8) });
    reasons.length = 0;
    return { started, reasons };
  };
  const position = (number: number) => number * POSITIONS_PER_SEQ;

  it('keeps sent events in the log, but not in memory, until they are acknowledged', () => {
    const { started } = streamed();
    expect([started.dueEvents, started.hasDeliveries, started.floor(seq(9))]).toEqual([[], false, 5]);
    started.acknowledge(position(7), NOW);
    expect(started.floor(seq(9))).toBe(6);
    started.acknowledge(position(8), NOW);
    expect(started.floor(seq(9))).toBe(9);
  });

  it('reads unacknowledged events again for the next reader', () => {
    const { started, reasons } = streamed();
    started.acknowledge(position(7), NOW);
    started.endStream();
    expect([reasons, started.isBehind, started.floor(seq(9))]).toEqual([['supplanted'], true, 6]);
  });

  it('ends the stream without reading again if everything is acknowledged', () => {
    const { started, reasons } = streamed();
    started.acknowledge(position(8), NOW);
    started.endStream();
    expect([reasons, started.isBehind, started.isWaitedFor]).toEqual([['supplanted'], false, false]);
  });

  it('leaves a waiting poll alone when another poll returns immediately', () => {
    const started = live();
    const wake = jest.fn();
    started.waitFor(wake);
    started.endStream();
    expect([wake.mock.calls, started.isWaitedFor]).toEqual([[], true]);
  });

  it('needs no acknowledgement of ephemeral events', () => {
    const { started } = streamed();
    started.acknowledge(position(8), NOW);
    started.markStreamed(position(8) + 1, null);
    expect(started.floor(seq(9))).toBe(9);
  });

  it('continues behind the sent events after falling behind', () => {
    const { started } = streamed();
    started.fallBehind(seq(9));
    expect([started.unsentFloor(seq(9)), started.floor(seq(9))]).toEqual([8, 5]);
  });
});
