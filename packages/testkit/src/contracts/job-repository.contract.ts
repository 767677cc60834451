import { encodeJob, type Job, jobKind, MAX_JOB_PAYLOAD_LENGTH, type NewJob, type StoredJob } from '@parley/domain';
import { aRealm, givenOn } from '../builders.js';
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
    const schedule = (scene: Stage, name: string, more: Partial<NewJob<Payload>> = {}, kind = POST) =>
      scene.uow.write((tx) =>
        tx.jobs.schedule(
          encodeJob(kind, { realmId: scene.realm.id, dueAt: scene.clock.now(), payload: { name }, ...more }),
        ),
      );
    const due = (scene: Stage, limit = 100, selection = ALL) =>
      scene.uow.read(({ jobs }) => jobs.listDue(selection, scene.clock.now(), limit));
    const dueNames = async (scene: Stage, limit?: number) => (await due(scene, limit)).map(nameOf);

    it('keeps every part of a job', async () => {
      const scene = await stage();
      const id = await schedule(scene, 'Zoë 🎉', { key: 'message:7' });
      const plain = await schedule(scene, 'plain');
      const dueAt = scene.clock.now();
      expect(await due(scene)).toEqual([
        {
          id,
          realmId: scene.realm.id,
          kind: 'test.post',
          key: 'message:7',
          dueAt,
          attempts: 0,
          format: 1,
          payload: '{"name":"Zoë 🎉"}',
        },
        {
          id: plain,
          realmId: scene.realm.id,
          kind: 'test.post',
          key: null,
          dueAt,
          attempts: 0,
          format: 1,
          payload: '{"name":"plain"}',
        },
      ]);
    });

    it('refuses a payload that is too long', async () => {
      const scene = await stage();
      const name = 'x'.repeat(MAX_JOB_PAYLOAD_LENGTH);
      await expect(schedule(scene, name)).rejects.toThrow('too long');
      expect(await due(scene)).toEqual([]);
    });

    it('lists what is due in the order of due times, then of writing, up to the limit', async () => {
      const scene = await stage();
      const now = scene.clock.now();
      await schedule(scene, 'later', { dueAt: now + 1 });
      await schedule(scene, 'second');
      await schedule(scene, 'third');
      await schedule(scene, 'first', { dueAt: now - 1 });
      expect(await dueNames(scene)).toEqual(['first', 'second', 'third']);
      expect(await dueNames(scene, 2)).toEqual(['first', 'second']);
      scene.clock.advance(1);
      expect(await dueNames(scene)).toEqual(['first', 'second', 'third', 'later']);
    });

    it('lists one kind only, of all realms, and no format that is newer than what the reader knows', async () => {
      const scene = await stage();
      const other = await givenOn(scene.uow, scene.clock, aRealm({ stringId: 'other' }));
      await schedule(scene, 'post');
      await schedule(scene, 'mail', {}, MAIL);
      await schedule(scene, 'elsewhere', { realmId: other.realm.id });
      await schedule(scene, 'newer', {}, { ...POST, format: 2 });
      expect(await dueNames(scene)).toEqual(['post', 'elsewhere']);
      const newer = { ...ALL, maxFormat: 2 };
      expect((await due(scene, 100, newer)).map(nameOf)).toEqual(['post', 'elsewhere', 'newer']);
    });

    it('says when the next one is due', async () => {
      const scene = await stage();
      const now = scene.clock.now();
      const next = (maxFormat = 1) => scene.uow.read(({ jobs }) => jobs.nextDueAt({ ...ALL, maxFormat }));
      expect(await next()).toBeNull();
      await schedule(scene, 'far', { dueAt: now + 500 });
      await schedule(scene, 'newer', { dueAt: now + 50 }, { ...POST, format: 2 });
      await schedule(scene, 'mail', { dueAt: now + 5 }, MAIL);
      expect(await next()).toBe(now + 500);
      expect(await next(2)).toBe(now + 50);
      await schedule(scene, 'past', { dueAt: now - 500 });
      expect(await next()).toBe(now - 500);
    });

    it('replaces the job with the same key, realm and kind, under a number of its own', async () => {
      const scene = await stage();
      const other = await givenOn(scene.uow, scene.clock, aRealm({ stringId: 'other' }));
      const first = await schedule(scene, 'first', { key: 'a' });
      await schedule(scene, 'another key', { key: 'b' });
      await schedule(scene, 'another realm', { key: 'a', realmId: other.realm.id });
      await schedule(scene, 'another kind', { key: 'a' }, MAIL);
      await schedule(scene, 'without');
      await schedule(scene, 'without');
      const [stale] = await due(scene);
      const second = await schedule(scene, 'second', { key: 'a' });
      expect(second).toBeGreaterThan(first);
      expect(await dueNames(scene)).toEqual(['another key', 'another realm', 'without', 'without', 'second']);
      expect(await due(scene, 100, { ...ALL, kind: MAIL.name })).toHaveLength(1);
      expect(await scene.uow.write((tx) => tx.jobs.take(stale!))).toBe(false);
    });

    it('cancels by key, within the realm and kind, and says whether there was one', async () => {
      const scene = await stage();
      const other = await givenOn(scene.uow, scene.clock, aRealm({ stringId: 'other' }));
      await schedule(scene, 'job', { key: 'a' });
      const cancel = (realmId = scene.realm.id, kind = POST.name, key = 'a') =>
        scene.uow.write((tx) => tx.jobs.cancel(realmId, kind, key));
      expect(await cancel(other.realm.id)).toBe(false);
      expect(await cancel(scene.realm.id, MAIL.name)).toBe(false);
      expect(await cancel(scene.realm.id, POST.name, 'b')).toBe(false);
      expect(await dueNames(scene)).toEqual(['job']);
      expect(await cancel()).toBe(true);
      expect(await cancel()).toBe(false);
      expect(await due(scene)).toEqual([]);
    });

    it('lets one of several units take a job, and gives it back when the unit fails', async () => {
      const scene = await stage();
      await schedule(scene, 'job');
      const [job] = await due(scene);
      await expect(
        scene.uow.write(async (tx) => {
          expect(await tx.jobs.take(job!)).toBe(true);
          throw new Error('no');
        }),
      ).rejects.toThrow('no');
      const taken = await Promise.all([1, 2, 3].map(() => scene.uow.write((tx) => tx.jobs.take(job!))));
      expect(taken).toEqual([true, false, false]);
      expect(await due(scene)).toEqual([]);
    });

    it('leases what is due until a time, with one attempt more', async () => {
      const scene = await stage();
      for (const name of ['a', 'b', 'c']) await schedule(scene, name);
      const seen = await due(scene);
      const now = scene.clock.now();
      const lease = () => scene.uow.write((tx) => tx.jobs.lease(ALL, scene.clock.now(), scene.clock.now() + 60, 2));
      const leased = await lease();
      expect(leased).toEqual(seen.slice(0, 2).map((job) => ({ ...job, dueAt: now + 60, attempts: 1 })));
      expect(await dueNames(scene)).toEqual(['c']);
      expect(await scene.uow.write((tx) => tx.jobs.take(seen[0]!))).toBe(false);
      expect(await scene.uow.write((tx) => tx.jobs.take(leased[0]!))).toBe(true);
      expect((await lease()).map(nameOf)).toEqual(['c']);
      scene.clock.advance(60);
      expect((await lease()).map((job) => [nameOf(job), job.attempts])).toEqual([
        ['b', 2],
        ['c', 2],
      ]);
      expect(await scene.uow.write((tx) => tx.jobs.take(leased[1]!))).toBe(false);
    });

    it('postpones a job that nobody else has attempted', async () => {
      const scene = await stage();
      await schedule(scene, 'job', { key: 'a' });
      const [job] = await due(scene);
      const dueAt = scene.clock.now() + 30;
      const postpone = () => scene.uow.write((tx) => tx.jobs.postpone(job!, dueAt, 1));
      expect(await postpone()).toBe(true);
      expect(await postpone()).toBe(false);
      expect(await due(scene)).toEqual([]);
      scene.clock.advance(30);
      expect(await due(scene)).toEqual([{ ...job, dueAt, attempts: 1 }]);
    });

    it('sets aside what is given up: never due again, gone after a time, replaced by its key but not cancelled', async () => {
      const scene = await stage();
      const setAside = async (name: string) => {
        await schedule(scene, name, { key: name });
        const job = (await due(scene)).find((it) => nameOf(it) === name)!;
        return scene.uow.write(async (tx) => [
          await tx.jobs.setAside(job, scene.clock.now(), 'x'.repeat(10_000)),
          await tx.jobs.setAside(job, scene.clock.now(), 'again'),
          await tx.jobs.take(job),
          await tx.jobs.postpone(job, scene.clock.now(), 1),
          await tx.jobs.cancel(scene.realm.id, POST.name, name),
        ]);
      };
      for (const name of ['a', 'b', 'c']) expect(await setAside(name)).toEqual([true, false, false, false, false]);
      expect(await due(scene)).toEqual([]);
      expect(await scene.uow.read(({ jobs }) => jobs.nextDueAt(ALL))).toBeNull();
      await schedule(scene, 'a once more', { key: 'a' });
      expect(await dueNames(scene)).toEqual(['a once more']);

      const remove = (before: number, limit = 100) => scene.uow.write((tx) => tx.jobs.removeSetAside(before, limit));
      expect(await remove(scene.clock.now())).toBe(0);
      expect(await remove(scene.clock.now() + 1, 1)).toBe(1);
      expect(await remove(scene.clock.now() + 1)).toBe(1);
      expect(await dueNames(scene)).toEqual(['a once more']);
    });
  });
}
