import { createFixture, type FixedClock } from '@parley/testkit';
import { DomainError } from './errors.js';
import {
  encodeJob,
  type Job,
  type JobHandler,
  type JobKind,
  JobRunner,
  type JobWork,
  jobKind,
  type NewJob,
  type RenewLease,
  retryDelay,
} from './jobs.js';
import type { Transaction, UnitOfWork } from './unit-of-work.js';

interface Payload {
  readonly name: string;
}

function readPayload(stored: unknown): Payload {
  if (typeof (stored as Payload).name !== 'string') throw new TypeError('no name');
  return stored as Payload;
}

const POST = jobKind<Payload>({ name: 'test.post', readPayload });
const MAIL = jobKind<Payload>({ name: 'test.mail', readPayload, leaseSeconds: 60, concurrency: 2 });

const busy = () => new DomainError('SERVER_BUSY', 'Busy', { retryAfter: 1 });

describe('retryDelay', () => {
  it('doubles up to its maximum', () => {
    const policy = { maxAttempts: 9, firstDelaySeconds: 5, maxDelaySeconds: 60 };
    expect([1, 2, 3, 4, 5, 50].map((attempts) => retryDelay(policy, attempts))).toEqual([5, 10, 20, 40, 60, 60]);
  });
});

async function runnerOf(kind: JobKind<Payload> = POST) {
  const { storage, realm, uow: plain } = await createFixture();
  const clock = storage.clock as FixedClock;
  const prepared: string[] = [];
  const done: string[] = [];
  const reports: [string, Readonly<Record<string, unknown>>][] = [];
  let rooms = 0;
  const hooks: {
    prepare: (job: Job<Payload>, renewLease: RenewLease) => Promise<void>;
    work: (tx: Transaction, job: Job<Payload>) => Promise<void>;
  } = { prepare: async () => {}, work: async () => {} };
  const handler: JobHandler<Payload> = {
    kind,
    prepare: async (job, renewLease): Promise<JobWork> => {
      prepared.push(job.payload.name);
      await hooks.prepare(job, renewLease);
      return async (tx) => {
        await tx.events.append(realm.id, { event: { type: 'blank' }, audience: { kind: 'realm' } });
        await hooks.work(tx, job);
        done.push(job.payload.name);
      };
    },
  };
  const newRunner = (uow: UnitOfWork = plain) =>
    new JobRunner(
      handler,
      { uow, clock, report: (message, fields) => void reports.push([message, fields]) },
      () => void rooms++,
    );
  return {
    realm,
    clock,
    storage,
    uow: plain,
    handler,
    hooks,
    prepared,
    done,
    reports,
    newRunner,
    runner: newRunner(),
    rooms: () => rooms,
    now: clock.now(),
    schedule: (name: string, delay = 0, more: Partial<NewJob<Payload>> = {}) =>
      plain.write((tx) =>
        tx.jobs.schedule(
          encodeJob(kind, { realmId: realm.id, dueAt: clock.now() + delay, payload: { name }, ...more }),
        ),
      ),
    setAside: () => plain.write((tx) => tx.jobs.removeSetAside(clock.now() + 1, 100)),
  };
}

describe('JobRunner', () => {
  it('runs due jobs in order, and answers when the next one is due', async () => {
    const { runner, schedule, done, clock, now } = await runnerOf();
    expect(await runner.run()).toBeNull();
    await schedule('later', 100);
    for (let i = 0; i < 30; i++) await schedule(`${i}`);
    expect(await runner.run()).toBe(now + 100);
    expect(done).toEqual(Array.from({ length: 30 }, (_, i) => `${i}`));
    clock.advance(100);
    expect(await runner.run()).toBeNull();
    expect(done.at(-1)).toBe('later');
  });

  it('does each job once when two runners find it at the same time', async () => {
    const { runner, newRunner, schedule, done, prepared } = await runnerOf();
    for (let i = 0; i < 20; i++) await schedule(`${i}`);
    await Promise.all([runner.run(), newRunner().run()]);
    expect(done).toEqual(Array.from({ length: 20 }, (_, i) => `${i}`));
    expect(prepared.length).toBeGreaterThanOrEqual(20);
  });

  it('does nothing for a job that is cancelled or replaced while it is prepared', async () => {
    const { runner, schedule, done, hooks, uow, realm } = await runnerOf();
    await schedule('cancelled', 0, { key: 'a' });
    await schedule('replaced', 0, { key: 'b' });
    hooks.prepare = async ({ payload }) => {
      if (payload.name === 'cancelled') await uow.write((tx) => tx.jobs.cancel(realm.id, POST.name, 'a'));
      if (payload.name === 'replaced') await schedule('instead', 100, { key: 'b' });
    };
    await runner.run();
    expect(done).toEqual([]);
  });

  it('rolls back an attempt that fails, and tries again with growing delays', async () => {
    const { runner, schedule, done, hooks, clock, reports, storage } = await runnerOf();
    const error = new Error('no');
    hooks.work = async (_tx, { payload }) => {
      if (payload.name === 'bad') throw error;
    };
    const id = await schedule('bad');
    await schedule('good');
    const before = storage.announced.length;
    let next = await runner.run();
    expect(done).toEqual(['good']);
    expect(storage.announced.length).toBe(before + 1);
    expect(reports).toEqual([
      ['a job failed', { job: POST.name, jobId: id, realmId: expect.any(Number), err: error, attempt: 1 }],
    ]);
    const delays: number[] = [];
    while (next !== null) {
      delays.push(next - clock.now());
      clock.advance(next - clock.now());
      next = await runner.run();
    }
    expect(delays).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280]);
    expect(reports.at(-1)).toMatchObject(['a job was given up and set aside', { jobId: id, err: error }]);
  });

  it('succeeds at a later attempt', async () => {
    const { runner, schedule, done, hooks, clock } = await runnerOf();
    const attempts: number[] = [];
    hooks.prepare = async ({ attempt }) => {
      attempts.push(attempt);
      if (attempt < 3) throw new Error('not yet');
    };
    await schedule('job');
    for (let next = await runner.run(); next !== null; next = await runner.run()) clock.advance(next - clock.now());
    expect(attempts).toEqual([1, 2, 3]);
    expect(done).toEqual(['job']);
  });

  it('gives up a refused job at once, in the unit that removes it', async () => {
    const { runner, schedule, handler, hooks, reports, setAside } = await runnerOf();
    const refusal = new DomainError('NOT_PERMITTED', 'Insufficient permission');
    const refused: unknown[] = [];
    hooks.prepare = async () => {
      throw refusal;
    };
    handler.giveUp = async (_tx, job, error) => void refused.push([job.payload, error]);
    await schedule('job');
    expect(await runner.run()).toBeNull();
    expect(refused).toEqual([[{ name: 'job' }, refusal]]);
    expect(reports).toEqual([]);
    expect(await setAside()).toBe(0);
  });

  it('sets aside a job that cannot be given up', async () => {
    const { runner, schedule, handler, hooks, reports, setAside } = await runnerOf();
    hooks.work = () => Promise.reject(new DomainError('UNKNOWN_USER', 'Gone'));
    handler.giveUp = () => Promise.reject(new Error('worse'));
    await schedule('job');
    expect(await runner.run()).toBeNull();
    expect(reports.map(([message]) => message)).toEqual(['a job was given up and set aside']);
    expect(await setAside()).toBe(1);
  });

  it('counts no attempt while the server has no room for it', async () => {
    const { runner, schedule, hooks, clock, done, now, reports } = await runnerOf();
    let isBusy = true;
    hooks.prepare = async ({ attempt }) => {
      expect(attempt).toBe(1);
      if (isBusy) throw busy();
    };
    await schedule('job');
    for (let i = 1; i <= 20; i++) {
      expect(await runner.run()).toBe(now + 5 * i);
      clock.advance(5);
    }
    isBusy = false;
    expect(await runner.run()).toBeNull();
    expect([done, reports]).toEqual([['job'], []]);
  });

  it.each([
    ['no JSON', 'x'],
    ['another shape', '{}'],
  ])('sets aside a payload that is %s, and goes on', async (_what, payload) => {
    const { runner, schedule, uow, realm, now, done, reports, setAside } = await runnerOf();
    await uow.write((tx) =>
      tx.jobs.schedule({ realmId: realm.id, kind: POST.name, key: null, dueAt: now, format: 1, payload }),
    );
    await schedule('good');
    expect(await runner.run()).toBeNull();
    expect(done).toEqual(['good']);
    expect(reports).toHaveLength(1);
    expect(await setAside()).toBe(1);
  });

  it('fails, and leaves every job, when the storage fails', async () => {
    const { newRunner, runner, schedule, uow, done } = await runnerOf();
    await schedule('job');
    const broken = newRunner({ read: (work) => uow.read(work), write: () => Promise.reject(new Error('disk full')) });
    await expect(broken.run()).rejects.toThrow('disk full');
    await runner.run();
    expect(done).toEqual(['job']);
  });
});

describe('JobRunner of leased jobs', () => {
  const holding = () => {
    const open: (() => void)[] = [];
    return { open, hold: () => new Promise<void>((resolve) => open.push(resolve)) };
  };

  it('runs no more jobs at once than its limit, without waiting for those under way', async () => {
    const { runner, schedule, hooks, prepared, done, now, rooms } = await runnerOf(MAIL);
    const { open, hold } = holding();
    hooks.prepare = hold;
    for (const name of ['a', 'b', 'c']) await schedule(name);
    await runner.run();
    expect(prepared).toEqual(['a', 'b']);
    expect(await runner.run()).toBe(now + 60);
    open[0]!();
    await new Promise((resolve) => setImmediate(resolve));
    expect([done, rooms()]).toEqual([['a'], 1]);
    await runner.run();
    expect(prepared).toEqual(['a', 'b', 'c']);
    for (const end of open) end();
    await runner.settle();
    expect(done.sort()).toEqual(['a', 'b', 'c']);
    expect(await runner.run()).toBeNull();
  });

  it('leaves an attempt under way alone until its lease ends', async () => {
    const { runner, newRunner, schedule, hooks, prepared, done, clock, now } = await runnerOf(MAIL);
    const { open, hold } = holding();
    hooks.prepare = hold;
    await schedule('job');
    await runner.run();
    expect(await newRunner().run()).toBe(now + 60);
    expect(prepared).toEqual(['job']);
    clock.advance(60);
    const other = newRunner();
    await other.run();
    expect(prepared).toEqual(['job', 'job']);
    for (const end of open) end();
    await Promise.all([runner.settle(), other.settle()]);
    // Mail may go out twice; what is stored of it happens once.
    expect(done).toEqual(['job']);
  });

  it('leaves an attempt alone that renews its lease, and says when somebody else has the job', async () => {
    const { runner, newRunner, schedule, hooks, prepared, done, clock, now } = await runnerOf(MAIL);
    const { open, hold } = holding();
    const renewals: RenewLease[] = [];
    hooks.prepare = (_job, renewLease) => {
      renewals.push(renewLease);
      return hold();
    };
    await schedule('job');
    await runner.run();
    clock.advance(50);
    expect(await renewals[0]!()).toBe(true);
    clock.advance(50);
    const other = newRunner();
    expect(await other.run()).toBe(now + 110);
    expect(prepared).toEqual(['job']);
    clock.advance(10);
    await other.run();
    expect(prepared).toEqual(['job', 'job']);
    expect([await renewals[0]!(), await renewals[1]!()]).toEqual([false, true]);
    for (const end of open) end();
    await Promise.all([runner.settle(), other.settle()]);
    expect(done).toEqual(['job']);
  });

  it('frees the place of an attempt that never ends', async () => {
    const { runner, schedule, hooks, prepared, clock } = await runnerOf(MAIL);
    hooks.prepare = () => new Promise(() => {});
    for (const name of ['a', 'b', 'c']) await schedule(name);
    await runner.run();
    clock.advance(60);
    await runner.run();
    expect(prepared).toHaveLength(4);
    expect(prepared.slice(0, 3)).toEqual(['a', 'b', 'c']);
  });

  it('tries again with growing delays, also what was lost in a crash, and gives up in the end', async () => {
    const kind = { ...MAIL, retries: { maxAttempts: 3, firstDelaySeconds: 10, maxDelaySeconds: 15 } };
    const { runner, newRunner, schedule, hooks, prepared, clock, now, reports } = await runnerOf(kind);
    await schedule('job');
    hooks.prepare = () => new Promise(() => {});
    await newRunner().run();
    hooks.prepare = () => Promise.reject(new Error('refused'));
    expect(await runner.run()).toBe(now + 60);
    clock.advance(60);
    await runner.run();
    await runner.settle();
    expect(await runner.run()).toBe(clock.now() + 15);
    clock.advance(15);
    await runner.run();
    await runner.settle();
    expect(await runner.run()).toBeNull();
    expect(prepared).toHaveLength(3);
    expect(reports.map(([message]) => message)).toEqual([
      'a job failed',
      'a job failed',
      'a job was given up and set aside',
    ]);
  });

  it('counts no attempt while the server has no room for it', async () => {
    const { runner, schedule, hooks, clock } = await runnerOf(MAIL);
    const attempts: number[] = [];
    hooks.prepare = async ({ attempt }) => {
      attempts.push(attempt);
      throw busy();
    };
    await schedule('job');
    for (let i = 0; i < 20; i++) {
      await runner.run();
      await runner.settle();
      clock.advance(5);
    }
    expect(attempts).toEqual(Array(20).fill(1));
  });

  it('reports when it cannot store how a job ended, and leaves it to the next lease', async () => {
    const { newRunner, schedule, uow, reports, clock, hooks, done, runner } = await runnerOf(MAIL);
    let writes = 0;
    const failing: UnitOfWork = {
      read: (work) => uow.read(work),
      write: (work) => (writes++ === 0 ? uow.write(work) : Promise.reject(new Error('disk full'))),
    };
    hooks.prepare = async () => {};
    await schedule('job');
    const broken = newRunner(failing);
    await broken.run();
    await broken.settle();
    expect(reports.map(([message]) => message)).toEqual(['a job failed', 'storing how a job ended failed']);
    clock.advance(60);
    await runner.run();
    await runner.settle();
    expect(done).toEqual(['job']);
  });
});
