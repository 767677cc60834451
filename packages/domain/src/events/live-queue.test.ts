import type { EventSeq, RealmId, UserId } from '../shared/ids.js';
import { wholeRealm } from './audience.js';
import { type EventQueue, POSITIONS_PER_SEQ } from './event-queue.js';
import { type Delivery, LiveQueue, type Waiter } from './live-queue.js';

const seq = (number: number) => number as EventSeq;
const queue: EventQueue = {
  id: 'q',
  realmId: 1 as RealmId,
  ownerId: 10 as UserId,
  filter: { types: null, allPublicChannels: false, narrow: [] },
  presentation: {},
  startSeq: seq(5),
  acked: -1,
  floorSeq: seq(5),
  lastPolledAt: 100,
  idleTimeoutSeconds: 600,
};
const at = (number: number): Delivery => ({
  stored: { realmId: queue.realmId, seq: seq(number), event: { type: 'blank' }, audience: wholeRealm, at: 0 },
  isBystander: false,
});
const seqs = (live: LiveQueue) => live.deliveries.map(({ stored }) => stored.seq);

describe('a live queue', () => {
  it('holds what came until it is dropped', () => {
    const live = new LiveQueue(queue, 100);
    live.load([at(6), at(7)], -1);
    live.push(at(9));
    live.dropBefore(7);
    expect(seqs(live)).toEqual([7, 9]);
    live.dropBefore(1);
    expect(seqs(live)).toEqual([7, 9]);
    live.dropBefore(10);
    expect(seqs(live)).toEqual([]);
  });

  it('stands before the first event that waits, else at the end of the log', () => {
    const live = new LiveQueue(queue, 100);
    expect(live.floor(seq(8))).toBe(8);
    live.push(at(7));
    expect(live.floor(seq(8))).toBe(6);
  });

  it('stands where it stood when events were lost on the way to it', () => {
    const live = new LiveQueue(queue, 100);
    live.fallBehind();
    expect(live.floor(seq(8))).toBe(queue.floorSeq);
  });

  it('gives its position away only when it moved', () => {
    const live = new LiveQueue(queue, 100);
    expect(live.takePosition(seq(5))).toBeNull();
    live.acked = 6 * POSITIONS_PER_SEQ;
    live.lastPolledAt = 130;
    expect(live.takePosition(seq(7))).toEqual({
      id: 'q',
      acked: 6 * POSITIONS_PER_SEQ,
      floorSeq: 7,
      lastPolledAt: 130,
    });
    expect(live.takePosition(seq(7))).toBeNull();
  });

  it('gives up remembering what nobody fetches, but not while somebody waits', () => {
    const live = new LiveQueue(queue, 100);
    const wake = () => {};
    live.waitFor(wake);
    for (let number = 6; number < 2010; number++) live.push(at(number));
    expect(live.isBehind).toBe(false);
    live.stopWaiting(wake);
    const { length } = live.deliveries;
    live.push(at(2010));
    expect(live.isBehind).toBe(true);
    live.push(at(2011));
    expect(live.deliveries).toHaveLength(length);
  });

  it('wakes the one who waits, and nobody who has stopped', () => {
    const live = new LiveQueue(queue, 100);
    const heard: string[] = [];
    const hearing =
      (name: string): Waiter =>
      (reason) =>
        heard.push(`${name} ${reason}`);
    const [first, second] = [hearing('first'), hearing('second')];
    live.waitFor(first);
    live.waitFor(second);
    live.stopWaiting(first);
    live.push(at(6));
    live.close();
    live.stopWaiting(second);
    live.push(at(7));
    expect(heard).toEqual(['first supplanted', 'second event', 'second closed']);
    expect(live).toMatchObject({ isWaitedFor: false, isClosed: true });
  });

  it('numbers what is not logged after everything given, and leaves the row before it is full', () => {
    const live = new LiveQueue(queue, 100);
    expect(live.nextUnloggedPosition()).toBe(5 * POSITIONS_PER_SEQ + 1);
    live.lastGiven = 6 * POSITIONS_PER_SEQ + 998;
    expect(live.nextUnloggedPosition()).toBe(6 * POSITIONS_PER_SEQ + 999);
    live.lastGiven++;
    expect(live.nextUnloggedPosition()).toBeNull();
  });
});
