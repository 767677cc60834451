import type { RealmId, UserId } from './ids.js';
import { RealmWorkQueue, type WorkOptions, WorkQueue, type WorkQueueOptions } from './work-queue.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));

function aQueue(options: WorkQueueOptions = { concurrency: 1 }) {
  const queue = new WorkQueue(options);
  const started: string[] = [];
  const refused: string[] = [];
  const ends: (() => void)[] = [];
  const run = (client: string | number | null, name: string, work?: WorkOptions) =>
    queue
      .run(
        client,
        () => {
          started.push(name);
          return new Promise<string>((resolve) => ends.push(() => resolve(name)));
        },
        work,
      )
      .catch(() => refused.push(name));
  const drain = async () => {
    while (ends.length > 0) {
      ends.shift()!();
      await settled();
    }
    return started.join('');
  };
  return { queue, started, refused, run, drain };
}

describe('WorkQueue', () => {
  it('starts work round-robin by client and in order within a client', async () => {
    const { queue, run, drain } = aQueue();
    for (const name of ['0', 'a', 'b', 'c', 'd']) void run(1, name);
    for (const name of ['x', 'y']) void run(2, name);
    void run(3, '!');
    expect([queue.waiting, queue.waitingOf(1), queue.waitingOf(4)]).toEqual([7, 4, 0]);
    expect(await drain()).toBe('0ax!bycd');
    expect([queue.waiting, queue.waitingOf(1)]).toEqual([0, 0]);
  });

  it('starts work immediately up to the concurrency limit', async () => {
    const { started, run, drain } = aQueue({ concurrency: 2 });
    for (const name of ['a', 'b', 'c']) void run(1, name);
    expect(started).toEqual(['a', 'b']);
    expect(await drain()).toBe('abc');
    void run(1, 'd');
    expect(started).toHaveLength(4);
  });

  it('limits concurrent work of one client without delaying another client', async () => {
    const { started, run, drain } = aQueue({ concurrencyPerClient: 2 });
    for (const name of ['a', 'b', 'c']) void run(1, name);
    void run(2, 'x');
    expect(started).toEqual(['a', 'b', 'x']);
    expect(await drain()).toBe('abxc');
  });

  it('rejects work of a client that has reached its queue limit', async () => {
    const { refused, run, drain } = aQueue({ concurrencyPerClient: 1, maxWaitingPerClient: 2 });
    for (const name of ['a', 'b', 'c', 'd']) void run(1, name);
    for (const name of ['x', 'y']) void run(2, name);
    await settled();
    expect(refused).toEqual(['d']);
    expect(await drain()).toBe('axbyc');
  });

  it('starts the next work after a failure', async () => {
    const queue = new WorkQueue({ concurrency: 1 });
    const failing = Array.from({ length: 5 }, () => queue.run(1, () => Promise.reject(new Error('failed'))));
    const done = queue.run(1, async () => 'done');
    for (const work of failing) await expect(work).rejects.toThrow('failed');
    expect(await done).toBe('done');
  });

  it('rejects all waiting work when cleared and still runs new work', async () => {
    const { queue, refused, run, drain } = aQueue();
    for (const name of ['a', 'b']) void run(1, name);
    void run(2, 'x');
    queue.clear();
    await settled();
    expect(refused).toEqual(['b', 'x']);
    void run(1, 'c');
    expect(await drain()).toBe('ac');
  });
});

describe('RealmWorkQueue', () => {
  function aRealmQueue(concurrency: number) {
    const queue = new RealmWorkQueue({ concurrency });
    const started: string[] = [];
    const run = (realm: number, user: number, name: string) =>
      queue.run({ realmId: realm as RealmId, userId: user as UserId }, async () => {
        started.push(name);
        await settled();
      });
    return { queue, started, run };
  }

  it('starts work round-robin by realm and then by person', async () => {
    const { started, run } = aRealmQueue(1);
    const work = [run(1, 1, 'a'), run(1, 1, 'b'), run(1, 1, 'c'), run(1, 2, 'd'), run(2, 3, 'x'), run(2, 3, 'y')];
    await Promise.all([...work, run(3, 4, '!')]);
    expect(started.join('')).toBe('ax!bydc');
  });

  it('keeps the concurrency limit across realms', async () => {
    const { started, run } = aRealmQueue(2);
    const work = [run(1, 1, 'a'), run(2, 2, 'x'), run(1, 1, 'b')];
    await Promise.resolve();
    expect(started).toEqual(['a', 'x']);
    await Promise.all(work);
    expect(started).toEqual(['a', 'x', 'b']);
  });

  it('rejects all waiting work when cleared and still runs new work', async () => {
    const { queue, started, run } = aRealmQueue(1);
    const work = Promise.allSettled([run(1, 1, 'a'), run(1, 1, 'b'), run(2, 2, 'x'), run(2, 2, 'y')]);
    queue.clear();
    expect((await work).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
    await run(2, 2, 'z');
    expect(started).toEqual(['a', 'z']);
  });
});
