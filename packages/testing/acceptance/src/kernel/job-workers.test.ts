import { encodeJob, type Job, type JobHandler, jobKind } from '@parley/domain/kernel';
import { JobWorkers } from '@parley/server/testing';
import { countingReads, createFixtureOn, DrivenTime } from '@parley/testkit';
import { MemoryStorage } from '@parley/testkit/memory';
import { stoppedAfterEach } from '../testing/stopped-workers.js';

type Payload = { readonly name: string };
const readPayload = (stored: unknown) => stored as Payload;
const POST = jobKind<Payload>({ name: 'test.post', readPayload });
const MAIL = jobKind<Payload>({ name: 'test.mail', readPayload, leaseSeconds: 60, concurrency: 1 });

describe('JobWorkers', () => {
  const opened = stoppedAfterEach();

  async function workersOf(prepare: (job: Job<Payload>) => Promise<void> = async () => {}) {
    const time = new DrivenTime();
    const { uow, realm } = await createFixtureOn(new MemoryStorage(time).uow, time);
    const done: [string, number][] = [];
    const start = time.now();
    const reports: string[] = [];
    const handlerOf = (kind: typeof POST): JobHandler => ({
      kind,
      async prepare(job) {
        await prepare(job as Job<Payload>);
        return async () => void done.push([(job as Job<Payload>).payload.name, time.now() - start]);
      },
    });
    const counting = countingReads(uow);
    const newWorkers = () => {
      const workers = new JobWorkers([handlerOf(POST), handlerOf(MAIL)], {
        uow: counting.uow,
        clock: time,
        timers: time,
        report: (message) => void reports.push(message),
      });
      opened.push([workers, time]);
      workers.start();
      return workers;
    };
    const workers = newWorkers();
    await time.advance(0);
    const schedule = async (name: string, delay: number, kind = POST, tell = true) => {
      const job = encodeJob(kind, { realmId: realm.id, dueAt: start + delay, payload: { name } });
      await uow.write(job.realmId, (tx) => tx.jobs.schedule(job));
      if (tell) workers.onJobsScheduled([job]);
    };
    return { time, start, workers, newWorkers, schedule, done, reports, reads: counting.count };
  }

  it('runs each job when due, regardless of the order of scheduling', async () => {
    const { time, schedule, done } = await workersOf();
    await schedule('late', 1000);
    await schedule('soon', 3);
    await schedule('mail', 2, MAIL);
    await schedule('at once', -10);
    await time.advance(2000);
    expect(done).toEqual([
      ['at once', 0],
      ['mail', 2],
      ['soon', 3],
      ['late', 1000],
    ]);
  });

  it('rarely polls while no job is due', async () => {
    const { time, schedule, reads } = await workersOf();
    for (let i = 0; i < 100; i++) await schedule(`${i}`, 100_000 + i);
    const before = reads();
    await time.advance(3600);
    // One read for all kinds, two safety checks a minute.
    expect(reads() - before).toBe(2 * 60);
  });

  it('finds jobs of another process within the safety check', async () => {
    const { time, schedule, done } = await workersOf();
    await schedule('foreign', 1, POST, false);
    await time.advance(30);
    expect(done).toEqual([['foreign', 30]]);
  });

  it('runs jobs once that became due while no process was running', async () => {
    const { time, schedule, done, workers, newWorkers } = await workersOf();
    await schedule('missed', 10);
    await workers.stop();
    await time.advance(3600);
    expect(done).toEqual([]);
    newWorkers();
    newWorkers();
    await time.advance(1);
    expect(done).toEqual([['missed', 3600]]);
  });

  it('detects a clock set forward or a wake-up from sleep within the safety check', async () => {
    const { time, schedule, done } = await workersOf();
    await schedule('job', 86_400);
    time.jumpClock(90_000);
    await time.advance(30);
    expect(done).toEqual([['job', 90_030]]);
  });

  it('waits longer after the clock is set back and repeats nothing', async () => {
    const { time, schedule, done } = await workersOf();
    await schedule('before', 1);
    await schedule('after', 100);
    await time.advance(50);
    time.jumpClock(-3600);
    await time.advance(3600);
    expect(done).toEqual([['before', 1]]);
    await time.advance(50);
    expect(done).toEqual([
      ['before', 1],
      ['after', 100],
    ]);
  });

  it('runs jobs of different kinds independently', async () => {
    const { time, schedule, done } = await workersOf(({ payload }) =>
      payload.name === 'hangs' ? new Promise(() => {}) : Promise.resolve(),
    );
    await schedule('hangs', 1, MAIL);
    await schedule('second mail', 1, MAIL);
    await schedule('post', 5);
    await time.advance(30);
    expect(done).toEqual([['post', 5]]);
    // After its lease expires, the hanging job is retried after the others.
    await time.advance(60);
    expect(done.map(([name]) => name)).toEqual(['post', 'second mail']);
  });

  it('starts another job when a leased one ends', async () => {
    const { time, schedule, done } = await workersOf();
    for (let i = 0; i < 20; i++) await schedule(`${i}`, 1, MAIL);
    await time.advance(2);
    expect(done).toHaveLength(20);
  });

  it('stops while a leased job hangs', async () => {
    const { time, schedule, workers } = await workersOf(() => new Promise(() => {}));
    await schedule('hangs', 1, MAIL);
    await time.advance(1);
    const stopped = workers.stop();
    await time.advance(5);
    await stopped;
  });

  it('rejects two handlers of one kind', () => {
    const handler: JobHandler = { kind: POST, prepare: async () => async () => {} };
    expect(() => new JobWorkers([handler, handler], {} as never)).toThrow('Jobs of kind test.post have two handlers');
  });
});
