import type { UserId } from '@parley/domain/kernel';
import type { Request } from '../wire/request.js';
import { CatchUpQueue, type CatchUpSlot } from './long-poll.js';

const MEGABYTE = 1024 * 1024;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Client that records the progress of its request. */
class Reader {
  isGone = false;
  got: CatchUpSlot | 'nothing' | null = null;
  private end: () => void = () => {};

  constructor(
    line: CatchUpQueue,
    readonly userId: number,
  ) {
    void line.enter(userId as UserId, this as unknown as Request).then((got) => {
      this.got = got ?? 'nothing';
    });
  }

  get isReading(): boolean {
    return this.got !== null && this.got !== 'nothing';
  }

  onEnd = (listener: () => void) => {
    this.end = listener;
  };

  async done(bytes: number): Promise<void> {
    (this.got as CatchUpSlot).done(bytes);
    await turn();
  }

  async carryAway(): Promise<void> {
    this.end();
    await turn();
  }
}

async function aLine(...userIds: readonly number[]) {
  const line = new CatchUpQueue();
  const readers = userIds.map((userId) => new Reader(line, userId));
  await turn();
  return { line, readers, reading: () => readers.flatMap(({ isReading }, index) => (isReading ? [index] : [])) };
}

describe('CatchUpQueue', () => {
  it('reads two queues at a time in arrival order', async () => {
    const { readers, reading } = await aLine(1, 2, 3, 4);
    expect(reading()).toEqual([0, 1]);
    await readers[1]!.done(10);
    expect(reading()).toEqual([0, 1, 2]);
    await readers[0]!.done(10);
    expect(reading()).toEqual([0, 1, 2, 3]);
  });

  it('delays reads while the unsent bytes are at their limit', async () => {
    const { readers, reading } = await aLine(1, 2, 3, 4);
    await readers[0]!.done(3 * MEGABYTE);
    expect(reading()).toEqual([0, 1, 2]);
    await readers[1]!.done(2 * MEGABYTE);
    expect(reading()).toEqual([0, 1, 2]);
    await readers[2]!.done(1);
    await readers[0]!.carryAway();
    expect(reading()).toEqual([0, 1, 2, 3]);
  });

  it('stops counting a slow client after one second', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const { readers, reading } = await aLine(1, 2, 3);
    await readers[0]!.done(5 * MEGABYTE);
    expect(reading()).toEqual([0, 1]);
    jest.advanceTimersByTime(999);
    await turn();
    expect(reading()).toEqual([0, 1]);
    jest.advanceTimersByTime(1);
    await turn();
    expect(reading()).toEqual([0, 1, 2]);
    // The response counts once, although the client receives it later.
    await readers[0]!.carryAway();
    await readers[1]!.done(5 * MEGABYTE);
    await readers[2]!.done(0);
    const late = new Reader((await aLine()).line, 9);
    await turn();
    expect(late.isReading).toBe(true);
    jest.useRealTimers();
  });

  it('skips users with two unsent responses', async () => {
    const { readers, reading } = await aLine(1, 1, 1, 1, 2);
    await readers[0]!.done(10);
    await readers[1]!.done(10);
    expect(reading()).toEqual([0, 1, 4]);
    await readers[0]!.carryAway();
    expect(reading()).toEqual([0, 1, 2, 4]);
    await readers[1]!.carryAway();
    await readers[4]!.done(0);
    expect(reading()).toEqual([0, 1, 2, 3, 4]);
  });

  it('does not wait for closed requests or delay other requests of their user', async () => {
    const { line, readers, reading } = await aLine(1, 1, 1, 1);
    await readers[0]!.done(10);
    await readers[1]!.done(10);
    readers[2]!.isGone = true;
    expect(readers[2]!.got).toBeNull();
    await readers[0]!.carryAway();
    expect([readers[2]!.got, reading()]).toEqual(['nothing', [0, 1, 3]]);
    await readers[1]!.carryAway();
    await readers[3]!.done(10);
    await readers[3]!.carryAway();
    const again = [new Reader(line, 1), new Reader(line, 1), new Reader(line, 1)];
    await turn();
    expect(again.map(({ isReading }) => isReading)).toEqual([true, true, false]);
  });

  it('resolves to null when the server shuts down', async () => {
    const { line, readers } = await aLine(1, 1, 1, 2, 3);
    await readers[0]!.done(10);
    await readers[1]!.done(5 * MEGABYTE);
    line.close();
    await turn();
    expect(readers.map(({ got }) => got === 'nothing')).toEqual([false, false, true, false, true]);
  });
});
