import { createFixture, type FixedClock, intercepting } from '@parley/testkit';
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
import type { ReportProblem } from './ports.js';
import type { Transaction, UnitOfWork } from './unit-of-work.js';

interface Payload {
  readonly name: string;
}

function readPayload(stored: unknown): Payload {
  if (typeof (stored as Payload).name !== 'string') throw new TypeError('no name');
  return stored as Payload;
}

const POST = jobKind<Payload>({ name: 'test.post', readPayload });
const MAIL = jobKind<Payload>({ name: 'test.mail', readPayload, leaseSeconds: 60, concurrency: 2, callsOthers: true });

const busy = () => new DomainError('SERVER_BUSY', 'Busy', { retryAfter: 1 });

describe('retryDelay', () => {
  it('doubles the delay up to the maximum', () => {
    const policy = { maxAttempts: 9, firstDelaySeconds: 5, maxDelaySeconds: 60 };
    expect([1, 2, 3, 4, 5, 50].map((attempts) => retryDelay(policy, attempts))).toEqual([5, 10, 20, 40, 60, 60]);
  });
});

async function runnerOf(kind: JobKind<Payload> = POST) {
  const { storage, realm, uow: plain } = await createFixture();
  const clock = storage.clock as FixedClock;
  const prepared: string[] = [];
  const done: string[] = [];
  const reports: Parameters<ReportProblem>[] = [];
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
    new JobRunner(handler, { uow, clock, report: (...report) => void reports.push(report) }, () => void rooms++);
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
      plain.write(realm.id, (tx) =>
        tx.jobs.schedule(
          encodeJob(kind, { realmId: realm.id, dueAt: clock.now() + delay, payload: { name }, ...more }),
        ),
      ),
    setAside: () => plain.writeAcross((tx) => tx.jobs.removeSetAside(clock.now() + 1, 100)),
  };
}

describe('JobRunner', () => {
  it('runs due jobs in order and returns the next due time', async () => {
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

  it('runs jobs that delete data only when the clock has been steady for a while', async () => {
    const { handler, schedule, done, clock, uow, now } = await runnerOf({ ...POST, deletes: true });
    const clockWatch = { deletionsWaitSeconds: 3600 };
    const runner = new JobRunner(handler, { uow, clock, report: () => {}, clockWatch });
    await schedule('expiry');
    expect(await runner.run()).toBe(now + 3600);
    expect(done).toEqual([]);
    clockWatch.deletionsWaitSeconds = 0;
    await runner.run();
    expect(done).toEqual(['expiry']);
  });

  it.each([-3600, -172_800, -63_072_000])(
    'goes on with retries and leases soon after the clock goes back by %i seconds',
    async (step) => {
      const { newRunner, runner, schedule, hooks, prepared, clock, uow } = await runnerOf(MAIL);
      const bringBack = () => uow.writeAcross((tx) => tx.jobs.bringBack(clock.now()));
      hooks.prepare = async ({ payload }) => {
        if (payload.name === 'hangs') await new Promise(() => {});
        if (prepared.length < 3) throw new Error('once');
      };
      await schedule('fails');
      await schedule('hangs');
      await runner.run();
      await new Promise((resolve) => setImmediate(resolve));
      await runner.run();
      clock.advance(step);
      await bringBack();
      prepared.length = 0;
      const other = newRunner();
      await other.run();
      expect(prepared).toEqual([]);
      clock.advance(5);
      await other.run();
      expect(prepared).toEqual(['fails']);
      clock.advance(MAIL.leaseSeconds);
      await other.run();
      expect(prepared).toEqual(['fails', 'hangs']);
    },
  );

  it('runs each job once even if two runners find it concurrently', async () => {
    const { runner, newRunner, schedule, done, prepared } = await runnerOf();
    for (let i = 0; i < 20; i++) await schedule(`${i}`);
    await Promise.all([runner.run(), newRunner().run()]);
    expect([...done].sort()).toEqual(Array.from({ length: 20 }, (_, i) => `${i}`).sort());
    expect(prepared).toHaveLength(20);
  });

  it('retries a job after the lease of a killed runner has ended, without counting the attempt', async () => {
    const { runner, newRunner, schedule, done, hooks, clock, now } = await runnerOf();
    await schedule('job');
    const attempts: number[] = [];
    hooks.prepare = ({ attempt }) => {
      attempts.push(attempt);
      return attempts.length === 1 ? new Promise(() => {}) : Promise.resolve();
    };
    void runner.run();
    while (attempts.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await newRunner().run()).toBe(now + POST.leaseSeconds);
    clock.advance(POST.leaseSeconds);
    expect(await newRunner().run()).toBeNull();
    expect([done, attempts]).toEqual([['job'], [1, 1]]);
  });

  it('discards a job that is cancelled or replaced during preparation', async () => {
    const { runner, schedule, done, hooks, uow, realm } = await runnerOf();
    await schedule('cancelled', 0, { key: 'a' });
    await schedule('replaced', 0, { key: 'b' });
    hooks.prepare = async ({ payload }) => {
      if (payload.name === 'cancelled') await uow.write(realm.id, (tx) => tx.jobs.cancel(realm.id, POST.name, 'a'));
      if (payload.name === 'replaced') await schedule('instead', 100, { key: 'b' });
    };
    await runner.run();
    expect(done).toEqual([]);
  });

  it('rolls back a failed attempt and retries with growing delays', async () => {
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
    expect(reports.at(-1)).toMatchObject(['a job failed permanently', { jobId: id, err: error }]);
  });

  it('completes a job on a later attempt', async () => {
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

  it('gives up a rejected job immediately, in the unit of work that removes it', async () => {
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

  it('sets aside a job if `giveUp` fails', async () => {
    const { runner, schedule, handler, hooks, reports, setAside } = await runnerOf();
    hooks.work = () => Promise.reject(new DomainError('UNKNOWN_USER', 'Gone'));
    handler.giveUp = () => Promise.reject(new Error('worse'));
    await schedule('job');
    expect(await runner.run()).toBeNull();
    expect(reports.map(([message]) => message)).toEqual(['a job failed permanently']);
    expect(await setAside()).toBe(1);
  });

  it('does not count attempts while the server is busy', async () => {
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
    ['invalid JSON', 'x'],
    ['an invalid shape', '{}'],
  ])('sets aside a payload with %s and continues', async (_what, payload) => {
    const { runner, schedule, uow, realm, now, done, reports, setAside } = await runnerOf();
    await uow.write(realm.id, (tx) =>
      tx.jobs.schedule({ realmId: realm.id, kind: POST.name, key: null, dueAt: now, format: 1, payload }),
    );
    await schedule('good');
    expect(await runner.run()).toBeNull();
    expect(done).toEqual(['good']);
    expect(reports).toHaveLength(1);
    expect(await setAside()).toBe(1);
  });

  it('throws and keeps all jobs if the storage fails', async () => {
    const { newRunner, runner, schedule, uow, done } = await runnerOf();
    await schedule('job');
    const broken = newRunner(intercepting(uow, { write: () => Promise.reject(new Error('disk full')) }));
    await expect(broken.run()).rejects.toThrow('disk full');
    await runner.run();
    expect(done).toEqual(['job']);
  });
});

describe('JobRunner with leases', () => {
  const holding = () => {
    const open: (() => void)[] = [];
    return { open, hold: () => new Promise<void>((resolve) => open.push(resolve)) };
  };

  it('limits concurrent jobs without waiting for running ones', async () => {
    const { runner, schedule, hooks, prepared, done, now, rooms } = await runnerOf(MAIL);
    const { open, hold } = holding();
    hooks.prepare = hold;
    for (const name of ['a', 'b', 'c']) await schedule(name);
    await runner.run();
    expect(prepared).toEqual(['a', 'b']);
    expect(await runner.run()).toBe(now + 60);
    open[0]!();
    await new Promise((resolve) => setImmediate(resolve));
    expect(rooms()).toBe(1);
    await runner.run();
    expect(done).toEqual(['a']);
    expect(prepared).toEqual(['a', 'b', 'c']);
    for (const end of open) end();
    await runner.settle();
    expect(done.sort()).toEqual(['a', 'b', 'c']);
    expect(await runner.run()).toBeNull();
  });

  it('does not retry an attempt before its lease ends', async () => {
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
    // The email may be sent twice, but its stored effect happens once.
    expect(done).toEqual(['job']);
  });

  it('respects a renewed lease and reports that another runner took the job', async () => {
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

  it('frees the slot of an attempt that never finishes', async () => {
    const { runner, schedule, hooks, prepared, clock } = await runnerOf(MAIL);
    hooks.prepare = () => new Promise(() => {});
    for (const name of ['a', 'b', 'c']) await schedule(name);
    await runner.run();
    clock.advance(60);
    await runner.run();
    expect(prepared).toHaveLength(4);
    expect(prepared.slice(0, 3)).toEqual(['a', 'b', 'c']);
  });

  it('retries failed and crashed attempts with growing delays and finally gives up', async () => {
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
    expect(reports.map(([message]) => message)).toEqual(['a job failed', 'a job failed', 'a job failed permanently']);
  });

  it('keeps half of its room for first attempts while others fail', async () => {
    const { runner, schedule, hooks, clock, prepared } = await runnerOf({ ...MAIL, concurrency: 4 });
    const run = async () => {
      await runner.run();
      await new Promise((resolve) => setImmediate(resolve));
    };
    for (let n = 0; n < 8; n++) await schedule(`bad ${n}`);
    hooks.prepare = () => Promise.reject(new Error('unreachable'));
    for (let n = 0; n < 3; n++) await run();
    clock.advance(100);
    prepared.length = 0;
    // Repeated attempts now take long.
    hooks.prepare = ({ payload: { name } }) => (name.startsWith('bad') ? new Promise(() => {}) : Promise.resolve());
    await run();
    expect(prepared).toHaveLength(2);
    await schedule('good');
    await run();
    expect(prepared.slice(2)).toEqual(['good']);
    expect(await runner.run()).toBeGreaterThan(clock.now());
  });

  it('logs failures of other servers as warnings, but its own failures as errors', async () => {
    const { runner, schedule, hooks, reports, clock } = await runnerOf(MAIL);
    hooks.prepare = () => Promise.reject(new Error('unreachable'));
    await schedule('job');
    const attempt = async () => {
      await runner.run();
      await runner.settle();
    };
    await attempt();
    hooks.prepare = async () => {};
    hooks.work = () => Promise.reject(new Error('bug'));
    clock.advance(5);
    await attempt();
    expect(reports.map(([message, , level]) => [message, level])).toEqual([
      ['a job failed', 'warn'],
      ['a job failed', undefined],
    ]);
  });

  it('does not count attempts while the server is busy', async () => {
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

  it('reports a job if its result cannot be stored and retries it after the lease', async () => {
    const { newRunner, schedule, uow, reports, clock, hooks, done, runner } = await runnerOf(MAIL);
    let writes = 0;
    const failing = intercepting(uow, {
      write: (work, run) => (writes++ === 0 ? run(work) : Promise.reject(new Error('disk full'))),
    });
    hooks.prepare = async () => {};
    await schedule('job');
    const broken = newRunner(failing);
    await broken.run();
    await broken.settle();
    expect(reports.map(([message]) => message)).toEqual(['a job failed', 'storing the result of a job failed']);
    clock.advance(60);
    await runner.run();
    await runner.settle();
    expect(done).toEqual(['job']);
  });
});
