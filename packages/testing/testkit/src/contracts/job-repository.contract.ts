import {
  encodeJob,
  type Job,
  type JobId,
  jobKind,
  MAX_JOB_PAYLOAD_LENGTH,
  type NewJob,
  type StoredJob,
} from '@parley/domain/kernel';
import { anotherRealm } from '../builders.js';
import { type OpenStorage, type Stage, stagesOn } from './storage-under-test.js';

interface Payload {
  readonly name: string;
}

const POST = jobKind<Payload>({ name: 'test.post', readPayload: (stored) => stored as Payload });
const MAIL = jobKind<Payload>({ name: 'test.mail', readPayload: (stored) => stored as Payload, leaseSeconds: 60 });

const ALL = { kind: POST.name, maxFormat: POST.format };
const nameOf = ({ payload }: StoredJob): string => (JSON.parse(payload) as Job<Payload>['payload']).name;

export function jobRepositoryContract(open: OpenStorage): void {
  describe('job repository', () => {
    const stage = stagesOn(open);
    const schedule = (fixture: Stage, name: string, more: Partial<NewJob<Payload>> = {}, kind = POST) =>
      fixture.uow.writeAcross((tx) =>
        tx.jobs.schedule(
          encodeJob(kind, { realmId: fixture.realm.id, dueAt: fixture.clock.now(), payload: { name }, ...more }),
        ),
      );
    const due = (fixture: Stage, limit = 100, selection = ALL) =>
      fixture.uow.readAcross(({ jobs }) => jobs.listDue(selection, fixture.clock.now(), limit));
    const dueNames = async (fixture: Stage, limit?: number) => (await due(fixture, limit)).map(nameOf);

    it('stores every property of a job', async () => {
      const fixture = await stage();
      const id = await schedule(fixture, 'Zoë 🎉', { key: 'message:7' });
      const plain = await schedule(fixture, 'plain');
      const dueAt = fixture.clock.now();
      expect(await due(fixture)).toEqual([
        {
          id,
          realmId: fixture.realm.id,
          kind: 'test.post',
          key: 'message:7',
          dueAt,
          attempts: 0,
          format: 1,
          payload: '{"name":"Zoë 🎉"}',
        },
        {
          id: plain,
          realmId: fixture.realm.id,
          kind: 'test.post',
          key: null,
          dueAt,
          attempts: 0,
          format: 1,
          payload: '{"name":"plain"}',
        },
      ]);
    });

    it('finds jobs that are waiting or running by their ids', async () => {
      const fixture = await stage();
      const other = await anotherRealm(fixture);
      const ids = [await schedule(fixture, 'first'), await schedule(fixture, 'second')];
      const isAnyWaiting = (wanted: readonly JobId[], realmId = fixture.realm.id) =>
        fixture.uow.read(realmId, ({ jobs }) => jobs.isAnyWaiting(realmId, wanted));
      expect(await isAnyWaiting(ids)).toBe(true);
      expect(await isAnyWaiting(ids.slice(1))).toBe(true);
      expect(await isAnyWaiting([])).toBe(false);
      expect(await isAnyWaiting(ids, other.realm.id)).toBe(false);
      const [first, second] = await due(fixture);
      await fixture.uow.write(fixture.realm.id, async (tx) => {
        await tx.jobs.take(first!);
        await tx.jobs.setAside(second!, fixture.clock.now(), 'no');
      });
      expect(await isAnyWaiting(ids)).toBe(false);
    });

    it('counts the waiting and running jobs of a kind in a realm', async () => {
      const fixture = await stage();
      const other = await anotherRealm(fixture);
      const count = (realmId = fixture.realm.id) =>
        fixture.uow.read(realmId, ({ jobs }) => jobs.countWaiting(realmId, POST.name));
      expect(await count()).toBe(0);
      await schedule(fixture, 'first');
      await schedule(fixture, 'second', { dueAt: fixture.clock.now() + 60 });
      await schedule(fixture, 'letter', {}, MAIL);
      expect([await count(), await count(other.realm.id)]).toEqual([2, 0]);
      const [first] = await due(fixture);
      await fixture.uow.write(fixture.realm.id, (tx) => tx.jobs.setAside(first!, fixture.clock.now(), 'no'));
      expect(await count()).toBe(1);
    });

    it('rejects a payload that is too long', async () => {
      const fixture = await stage();
      const name = 'x'.repeat(MAX_JOB_PAYLOAD_LENGTH);
      await expect(schedule(fixture, name)).rejects.toThrow('too long');
      expect(await due(fixture)).toEqual([]);
    });

    it('lists due jobs by due time, then by creation, up to the limit', async () => {
      const fixture = await stage();
      const now = fixture.clock.now();
      await schedule(fixture, 'later', { dueAt: now + 1 });
      await schedule(fixture, 'second');
      await schedule(fixture, 'third');
      await schedule(fixture, 'first', { dueAt: now - 1 });
      expect(await dueNames(fixture)).toEqual(['first', 'second', 'third']);
      expect(await dueNames(fixture, 2)).toEqual(['first', 'second']);
      fixture.clock.advance(1);
      expect(await dueNames(fixture)).toEqual(['first', 'second', 'third', 'later']);
    });

    it('lists one kind in all realms and skips formats newer than the reader supports', async () => {
      const fixture = await stage();
      const other = await anotherRealm(fixture);
      await schedule(fixture, 'post');
      await schedule(fixture, 'mail', {}, MAIL);
      await schedule(fixture, 'elsewhere', { realmId: other.realm.id });
      await schedule(fixture, 'newer', {}, { ...POST, format: 2 });
      expect(await dueNames(fixture)).toEqual(['post', 'elsewhere']);
      const newer = { ...ALL, maxFormat: 2 };
      expect((await due(fixture, 100, newer)).map(nameOf)).toEqual(['post', 'elsewhere', 'newer']);
    });

    it('returns when the next job is due', async () => {
      const fixture = await stage();
      const now = fixture.clock.now();
      const next = (maxFormat = 1) => fixture.uow.readAcross(({ jobs }) => jobs.nextDueAt({ ...ALL, maxFormat }));
      expect(await next()).toBeNull();
      await schedule(fixture, 'far', { dueAt: now + 500 });
      await schedule(fixture, 'newer', { dueAt: now + 50 }, { ...POST, format: 2 });
      await schedule(fixture, 'mail', { dueAt: now + 5 }, MAIL);
      expect(await next()).toBe(now + 500);
      expect(await next(2)).toBe(now + 50);
      await schedule(fixture, 'past', { dueAt: now - 500 });
      expect(await next()).toBe(now - 500);
    });

    it('replaces the job with the same key, realm and kind under a new id', async () => {
      const fixture = await stage();
      const other = await anotherRealm(fixture);
      const first = await schedule(fixture, 'first', { key: 'a' });
      await schedule(fixture, 'another key', { key: 'b' });
      await schedule(fixture, 'another realm', { key: 'a', realmId: other.realm.id });
      await schedule(fixture, 'another kind', { key: 'a' }, MAIL);
      await schedule(fixture, 'without');
      await schedule(fixture, 'without');
      const [stale] = await due(fixture);
      const second = await schedule(fixture, 'second', { key: 'a' });
      expect(second).toBeGreaterThan(first);
      expect(await dueNames(fixture)).toEqual(['another key', 'another realm', 'without', 'without', 'second']);
      expect(await due(fixture, 100, { ...ALL, kind: MAIL.name })).toHaveLength(1);
      expect(await fixture.uow.writeAcross((tx) => tx.jobs.take(stale!))).toBe(false);
    });

    it('reports by key whether a job is waiting or running, within realm and kind', async () => {
      const fixture = await stage();
      const other = await anotherRealm(fixture);
      const isScheduled = (realmId = fixture.realm.id, kind = POST.name, key = 'a') =>
        fixture.uow.read(realmId, ({ jobs }) => jobs.isScheduled(realmId, kind, key));
      expect(await isScheduled()).toBe(false);
      await schedule(fixture, 'post', { key: 'a' });
      expect(await isScheduled()).toBe(true);
      expect(await isScheduled(other.realm.id)).toBe(false);
      expect(await isScheduled(fixture.realm.id, MAIL.name)).toBe(false);
      expect(await isScheduled(fixture.realm.id, POST.name, 'b')).toBe(false);
      const now = fixture.clock.now();
      const [leased] = await fixture.uow.writeAcross((tx) =>
        tx.jobs.lease(ALL, { now, until: now + 60, attempts: 1, holder: null }, 1),
      );
      expect(await isScheduled()).toBe(true);
      await fixture.uow.writeAcross((tx) => tx.jobs.setAside(leased!, now, 'broken'));
      expect(await isScheduled()).toBe(false);
    });

    it('cancels by key within realm and kind, and reports whether a job existed', async () => {
      const fixture = await stage();
      const other = await anotherRealm(fixture);
      await schedule(fixture, 'job', { key: 'a' });
      const cancel = (realmId = fixture.realm.id, kind = POST.name, key = 'a') =>
        fixture.uow.write(realmId, (tx) => tx.jobs.cancel(realmId, kind, key));
      expect(await cancel(other.realm.id)).toBe(false);
      expect(await cancel(fixture.realm.id, MAIL.name)).toBe(false);
      expect(await cancel(fixture.realm.id, POST.name, 'b')).toBe(false);
      expect(await dueNames(fixture)).toEqual(['job']);
      expect(await cancel()).toBe(true);
      expect(await cancel()).toBe(false);
      expect(await due(fixture)).toEqual([]);
    });

    it('lets only one transaction take a job and returns the job on rollback', async () => {
      const fixture = await stage();
      await schedule(fixture, 'job');
      const [job] = await due(fixture);
      await expect(
        fixture.uow.writeAcross(async (tx) => {
          expect(await tx.jobs.take(job!)).toBe(true);
          throw new Error('no');
        }),
      ).rejects.toThrow('no');
      const taken = await Promise.all([1, 2, 3].map(() => fixture.uow.writeAcross((tx) => tx.jobs.take(job!))));
      expect(taken).toEqual([true, false, false]);
      expect(await due(fixture)).toEqual([]);
    });

    it('leases due jobs until a time and counts the attempt', async () => {
      const fixture = await stage();
      for (const name of ['a', 'b', 'c']) await schedule(fixture, name);
      const seen = await due(fixture);
      const now = fixture.clock.now();
      const lease = () =>
        fixture.uow.writeAcross((tx) => {
          const now = fixture.clock.now();
          return tx.jobs.lease(ALL, { now, until: now + 60, attempts: 1, holder: null }, 2);
        });
      const leased = await lease();
      expect(leased).toEqual(seen.slice(0, 2).map((job) => ({ ...job, dueAt: now + 60, attempts: 1 })));
      expect(await dueNames(fixture)).toEqual(['c']);
      expect(await fixture.uow.writeAcross((tx) => tx.jobs.take(seen[0]!))).toBe(false);
      expect(await fixture.uow.writeAcross((tx) => tx.jobs.take(leased[0]!))).toBe(true);
      expect((await lease()).map(nameOf)).toEqual(['c']);
      fixture.clock.advance(60);
      expect((await lease()).map((job) => [nameOf(job), job.attempts])).toEqual([
        ['b', 2],
        ['c', 2],
      ]);
      expect(await fixture.uow.writeAcross((tx) => tx.jobs.take(leased[1]!))).toBe(false);
    });

    it('leases first attempts only, on request', async () => {
      const fixture = await stage();
      for (const name of ['a', 'b', 'c']) await schedule(fixture, name);
      const now = fixture.clock.now();
      const [first] = await due(fixture);
      await fixture.uow.writeAcross((tx) => tx.jobs.postpone(first!, now - 10, 1));
      const lease = { now, until: now + 60, attempts: 1, holder: null, onlyFirst: true } as const;
      const leased = await fixture.uow.writeAcross((tx) => tx.jobs.lease(ALL, lease, 1));
      expect(leased.map(nameOf)).toEqual(['b']);
      expect(await dueNames(fixture)).toEqual(['a', 'c']);
    });

    const leaseAs = (fixture: Stage, holder: string, attempts: 0 | 1 = 1) =>
      fixture.uow.writeAcross((tx) => {
        const now = fixture.clock.now();
        return tx.jobs.lease(ALL, { now, until: now + 60, attempts, holder }, 1);
      });
    const release = (fixture: Stage, holder: string) =>
      fixture.uow.writeAcross((tx) => tx.jobs.release(holder, fixture.clock.now()));
    const holders = (fixture: Stage) => fixture.uow.readAcross(({ jobs }) => jobs.listHolders());

    it('makes jobs due that a server leased for the first time, and keeps the leases of other servers', async () => {
      const fixture = await stage();
      for (const name of ['a', 'b', 'c']) await schedule(fixture, name);
      await leaseAs(fixture, 'one');
      await leaseAs(fixture, 'other');
      await leaseAs(fixture, 'one', 0);
      expect(await holders(fixture)).toEqual(['one', 'other']);
      await release(fixture, 'one');
      expect((await due(fixture)).map((job) => [nameOf(job), job.attempts])).toEqual([
        ['a', 1],
        ['c', 0],
      ]);
      expect(await holders(fixture)).toEqual(['other']);
    });

    it('keeps a repeated attempt leased when its server is gone', async () => {
      const fixture = await stage();
      await schedule(fixture, 'a');
      await leaseAs(fixture, 'one');
      fixture.clock.advance(60);
      await leaseAs(fixture, 'other');
      await release(fixture, 'other');
      expect(await dueNames(fixture)).toEqual([]);
      fixture.clock.advance(60);
      expect(await dueNames(fixture)).toEqual(['a']);
    });

    it('keeps the holder of a renewed lease and forgets that of a postponed or abandoned job', async () => {
      const fixture = await stage();
      for (const name of ['renewed', 'postponed', 'set aside']) await schedule(fixture, name);
      const now = fixture.clock.now();
      const [renewed] = await leaseAs(fixture, 'one');
      const [postponed] = await leaseAs(fixture, 'two');
      const [abandoned] = await leaseAs(fixture, 'three');
      await fixture.uow.writeAcross(async ({ jobs }) => {
        expect(await jobs.renew(renewed!, now + 90)).toBe(true);
        expect(await jobs.renew({ ...renewed!, attempts: 7 }, now + 90)).toBe(false);
        await jobs.postpone(postponed!, now + 90, 1);
        await jobs.setAside(abandoned!, now, 'broken');
      });
      fixture.clock.advance(80);
      expect(await dueNames(fixture)).toEqual([]);
      for (const holder of ['two', 'three']) await release(fixture, holder);
      expect(await dueNames(fixture)).toEqual([]);
      expect(await holders(fixture)).toEqual(['one']);
      await release(fixture, 'one');
      expect(await dueNames(fixture)).toEqual(['renewed']);
    });

    it('brings jobs back that are more than twice their delay away, except those at a fixed time', async () => {
      const fixture = await stage();
      const now = fixture.clock.now();
      const FIXED = { ...POST, isFixed: true };
      await schedule(fixture, 'leased');
      await fixture.uow.writeAcross((tx) => tx.jobs.lease(ALL, { now, until: now + 60, attempts: 1, holder: null }, 1));
      await schedule(fixture, 'renewed');
      const [renewed] = await due(fixture);
      await fixture.uow.writeAcross((tx) => tx.jobs.renew(renewed!, now + 90));
      await schedule(fixture, 'postponed');
      const [postponed] = await due(fixture);
      await fixture.uow.writeAcross((tx) => tx.jobs.postpone(postponed!, now + 70, 1));
      await schedule(fixture, 'at once');
      await schedule(fixture, 'delayed', { dueAt: now + 5 });
      await schedule(fixture, 'long', { dueAt: now + 7200 });
      await schedule(fixture, 'fixed', { dueAt: now + 5 }, FIXED);
      const bringBack = () => fixture.uow.writeAcross((tx) => tx.jobs.bringBack(fixture.clock.now()));
      const dueIn = async (seconds: number) =>
        (await fixture.uow.readAcross(({ jobs }) => jobs.listDue(ALL, fixture.clock.now() + seconds, 100))).map(nameOf);
      await bringBack();
      expect(await dueIn(4)).toEqual(['at once']);
      fixture.clock.advance(-3600);
      await bringBack();
      const soon = ['at once', 'delayed', 'leased', 'postponed', 'renewed'];
      expect([await dueIn(0), await dueIn(5), await dueIn(90)]).toEqual([['at once'], ['at once', 'delayed'], soon]);
      expect(await dueIn(7200)).toEqual([...soon, 'fixed']);
      fixture.clock.advance(-100_000);
      await bringBack();
      expect(await dueIn(7200)).toEqual([...soon, 'long']);
    });

    it('brings a leased job at a fixed time back', async () => {
      const fixture = await stage();
      const now = fixture.clock.now();
      await schedule(fixture, 'fixed', {}, { ...POST, isFixed: true });
      await fixture.uow.writeAcross((tx) => tx.jobs.lease(ALL, { now, until: now + 60, attempts: 1, holder: null }, 1));
      fixture.clock.advance(-100_000);
      await fixture.uow.writeAcross((tx) => tx.jobs.bringBack(fixture.clock.now()));
      fixture.clock.advance(60);
      expect(await dueNames(fixture)).toEqual(['fixed']);
    });

    it('postpones a job without other attempts', async () => {
      const fixture = await stage();
      await schedule(fixture, 'job', { key: 'a' });
      const [job] = await due(fixture);
      const dueAt = fixture.clock.now() + 30;
      const postpone = () => fixture.uow.writeAcross((tx) => tx.jobs.postpone(job!, dueAt, 1));
      expect(await postpone()).toBe(true);
      expect(await postpone()).toBe(false);
      expect(await due(fixture)).toEqual([]);
      fixture.clock.advance(30);
      expect(await due(fixture)).toEqual([{ ...job, dueAt, attempts: 1 }]);
    });

    it('sets failed jobs aside: never due, removed later, replaceable by key but not cancellable', async () => {
      const fixture = await stage();
      const setAside = async (name: string) => {
        await schedule(fixture, name, { key: name });
        const job = (await due(fixture)).find((it) => nameOf(it) === name)!;
        return fixture.uow.writeAcross(async (tx) => [
          await tx.jobs.setAside(job, fixture.clock.now(), 'x'.repeat(10_000)),
          await tx.jobs.setAside(job, fixture.clock.now(), 'again'),
          await tx.jobs.take(job),
          await tx.jobs.postpone(job, fixture.clock.now(), 1),
          await tx.jobs.cancel(fixture.realm.id, POST.name, name),
        ]);
      };
      for (const name of ['a', 'b', 'c']) expect(await setAside(name)).toEqual([true, false, false, false, false]);
      expect(await due(fixture)).toEqual([]);
      expect(await fixture.uow.readAcross(({ jobs }) => jobs.nextDueAt(ALL))).toBeNull();
      await schedule(fixture, 'a once more', { key: 'a' });
      expect(await dueNames(fixture)).toEqual(['a once more']);

      const remove = (before: number, limit = 100) =>
        fixture.uow.writeAcross((tx) => tx.jobs.removeSetAside(before, limit));
      expect(await remove(fixture.clock.now())).toBe(0);
      expect(await remove(fixture.clock.now() + 1, 1)).toBe(1);
      expect(await remove(fixture.clock.now() + 1)).toBe(1);
      expect(await dueNames(fixture)).toEqual(['a once more']);
    });
  });
}
