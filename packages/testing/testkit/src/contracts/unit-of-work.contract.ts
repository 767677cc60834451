import type { MessageId, RealmId, Transaction, UnitOfWork } from '@parley/domain/kernel';
import type { Realm } from '@parley/domain/realms';
import { aChannel, anotherRealm, aUser } from '../builders.js';
import { appendEvent } from '../events-with-receivers.js';
import { useUpTimeSlice } from '../use-up-time-slice.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const nameOf = (uow: UnitOfWork, id: RealmId) => uow.read(id, async (r) => (await r.realms.get(id)).name);

async function rename(tx: Transaction, id: RealmId, change: (name: string) => string): Promise<void> {
  const realm: Realm = await tx.realms.get(id);
  await tx.realms.update({ ...realm, name: change(realm.name) });
}

export function unitOfWorkContract(open: OpenStorage): void {
  describe('unit of work', () => {
    const stage = stagesOn(open);

    it('returns the result of the work, and all later reads see its writes', async () => {
      const { uow, realm } = await stage();
      const answer = await uow.write(realm.id, async (tx) => {
        await rename(tx, realm.id, () => 'Renamed');
        return 'done';
      });
      expect(answer).toBe('done');
      expect(await nameOf(uow, realm.id)).toBe('Renamed');
    });

    it('lets a write read its own changes', async () => {
      const { uow, realm } = await stage();
      const seen = await uow.write(realm.id, async (tx) => {
        await rename(tx, realm.id, () => 'Renamed');
        return (await tx.realms.get(realm.id)).name;
      });
      expect(seen).toBe('Renamed');
    });

    it('rolls back when the work throws and rethrows the error', async () => {
      const { uow, realm } = await stage(aUser({ name: 'hamlet' }));
      const error = new Error('after the change');
      const before = await uow.read(realm.id, async (r) => [
        await r.users.listEntries(realm.id),
        await r.events.lastSeq(realm.id),
      ]);
      const failing = uow.write(realm.id, async (tx) => {
        await rename(tx, realm.id, () => 'Renamed');
        await tx.users.add({ ...(await tx.users.findSystemBot(realm.id, 'welcome')), email: 'new@example.com' }, null);
        await tx.events.append(realm.id, { event: { type: 'blank' }, audience: { kind: 'realm' } });
        throw error;
      });
      await expect(failing).rejects.toBe(error);
      expect(await nameOf(uow, realm.id)).toBe(realm.name);
      expect(
        await uow.read(realm.id, async (r) => [await r.users.listEntries(realm.id), await r.events.lastSeq(realm.id)]),
      ).toEqual(before);
    });

    it('rejects a unit that publishes, blanks or schedules for another realm, except a unit across realms', async () => {
      const fixture = await stage();
      const { uow, realm } = fixture;
      const foreign = (await anotherRealm(fixture)).realm.id;
      const announcement = { event: { type: 'blank' }, audience: { kind: 'realm' } } as const;
      const job = { realmId: foreign, kind: 'work', key: null, dueAt: 7, format: 1, payload: '{}' };
      const steps: readonly ((tx: Transaction) => Promise<unknown>)[] = [
        (tx) => tx.events.append(foreign, announcement),
        (tx) => tx.events.blank(foreign, [8 as MessageId]),
        (tx) => tx.jobs.schedule(job),
      ];
      for (const step of steps) {
        await expect(uow.write(realm.id, step)).rejects.toThrow(`A unit of realm ${realm.id} `);
        await uow.writeAcross(step);
      }
    });

    it('rolls back only the failing transaction among concurrent ones', async () => {
      const { uow, realm } = await stage();
      const results = await Promise.allSettled([
        uow.write(realm.id, (tx) => rename(tx, realm.id, () => 'a')),
        uow.write(realm.id, async (tx) => {
          await rename(tx, realm.id, (name) => `${name}b`);
          throw new Error('no');
        }),
        uow.write(realm.id, (tx) => rename(tx, realm.id, (name) => `${name}c`)),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(await nameOf(uow, realm.id)).toBe('ac');
    });

    it('passes the events and jobs of a unit to onCommit after the commit, before write resolves', async () => {
      const { uow, realm } = await stage();
      const steps: unknown[] = [];
      const write = async (name: string, fails: boolean) => {
        const work = async (tx: Transaction) => {
          await tx.jobs.schedule({ realmId: realm.id, kind: name, key: null, dueAt: 7, format: 1, payload: '{}' });
          await tx.events.append(realm.id, { event: { type: 'blank' }, audience: { kind: 'realm' } });
          if (fails) throw new Error('no');
          return appendEvent(tx, realm.id, { event: { type: 'realm.deactivated' }, audience: { kind: 'realm' } });
        };
        const seq = await uow.write(realm.id, work, {
          onCommit: ({ events, jobs }) => steps.push(structuredClone({ events, jobs })),
        });
        steps.push(seq);
      };
      const seq = await uow.read(realm.id, ({ events }) => events.lastSeq(realm.id));
      await Promise.allSettled([write('first', true), write('second', false)]);
      const log = await uow.read(realm.id, ({ events }) => events.listAfter(realm.id, seq, 9));
      expect(log.map((each) => each.seq)).toEqual([seq + 1, seq + 2]);
      expect(steps).toEqual([{ events: log, jobs: [{ kind: 'second', dueAt: 7 }] }, seq + 2]);
    });

    it('calls onRollback handlers of a failed unit in reverse order, and never after a commit', async () => {
      const { uow } = await stage();
      const steps: string[] = [];
      const count = (name: string, fails: boolean) =>
        uow.writeAcross(async (tx) => {
          for (const step of ['a', 'b']) tx.onRollback(() => void steps.push(`${name}${step}`));
          if (fails) throw new Error('no');
        });
      await Promise.allSettled([count('first ', false), count('second ', true), count('third ', false)]);
      expect(steps).toEqual(['second b', 'second a']);
    });

    it('loses no update of concurrent writes', async () => {
      const { uow, realm } = await stage();
      await uow.write(realm.id, (tx) => rename(tx, realm.id, () => ''));
      await Promise.all(
        Array.from({ length: 30 }, () => uow.write(realm.id, (tx) => rename(tx, realm.id, (name) => `${name}+`))),
      );
      expect(await nameOf(uow, realm.id)).toBe('+'.repeat(30));
    });

    it('exposes a write to reads completely or not at all', async () => {
      const { uow, realm, channel } = await stage(aChannel({ name: 'general' }));
      const general = channel('general');
      const write = uow.write(realm.id, async (tx) => {
        await rename(tx, realm.id, () => 'Renamed');
        await tx.channels.update({ ...general, description: 'Renamed' });
      });
      const reads = Array.from({ length: 5 }, () =>
        uow.read(realm.id, async (r) => [
          (await r.realms.get(realm.id)).name === 'Renamed',
          (await r.channels.find(realm.id, general.id))?.description === 'Renamed',
        ]),
      );
      await write;
      for (const [first, second] of await Promise.all(reads)) expect(second).toBe(first);
    });

    it('reads one snapshot even if a write commits during the read', async () => {
      const { uow, realm, storage } = await stage();
      // If transactions cannot wait for each other, one process cannot run them concurrently.
      if (storage.refusesYielding) return;
      const seen = await uow.read(realm.id, async (r) => {
        const before = (await r.realms.get(realm.id)).name;
        await uow.write(realm.id, (tx) => rename(tx, realm.id, () => 'Renamed'));
        return [before, (await r.realms.get(realm.id)).name];
      });
      expect(seen).toEqual([realm.name, realm.name]);
      expect(await nameOf(uow, realm.id)).toBe('Renamed');
    });

    it('stays atomic when a write yields', async () => {
      const { uow, realm } = await stage();
      const add = (suffix: string, fails = false) =>
        uow.write(realm.id, async (tx) => {
          for (let i = 0; i < 3; i++) {
            await rename(tx, realm.id, (name) => name + suffix);
            useUpTimeSlice();
          }
          if (fails) throw new Error('no');
        });
      await uow.write(realm.id, (tx) => rename(tx, realm.id, () => ''));
      const results = await Promise.allSettled([add('a'), add('b', true), add('c')]);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(await nameOf(uow, realm.id)).toBe('aaaccc');
    });

    it('rejects writes in a read', async () => {
      const { uow, realm } = await stage();
      const writing = uow.read(realm.id, async (r) => {
        await rename(r as Transaction, realm.id, () => 'Renamed');
      });
      await expect(writing).rejects.toThrow();
      expect(await nameOf(uow, realm.id)).toBe(realm.name);
    });

    it('rejects a read that awaits anything except its repositories, if detectable', async () => {
      const { uow, realm, storage } = await stage();
      if (!storage.refusesYielding) return;
      const yielding = uow.read(realm.id, async (r) => {
        await new Promise((resolve) => setTimeout(resolve, 3_600_000).unref());
        return r.realms.get(realm.id);
      });
      await expect(yielding).rejects.toThrow('awaited something');
      expect(await nameOf(uow, realm.id)).toBe(realm.name);
    });

    it('keeps one snapshot when a read yields', async () => {
      const { uow, realm } = await stage();
      let write: Promise<void> | undefined;
      const names = await uow.read(realm.id, async (r) => {
        const seen: string[] = [];
        for (let i = 0; i < 5; i++) {
          seen.push((await r.realms.get(realm.id)).name);
          write ??= uow.write(realm.id, (tx) => rename(tx, realm.id, () => 'Renamed'));
          useUpTimeSlice();
        }
        return seen;
      });
      await write;
      expect(names).toEqual(Array(5).fill(realm.name));
    });

    it('rejects a write that awaits anything except its repositories, if detectable', async () => {
      const { uow, realm, storage } = await stage();
      if (!storage.refusesYielding) return;
      const yielding = uow.write(realm.id, async (tx) => {
        await rename(tx, realm.id, () => 'Renamed');
        await new Promise((resolve) => setTimeout(resolve, 3_600_000).unref());
        await rename(tx, realm.id, (name) => `${name} twice`);
      });
      const next = uow.write(realm.id, (tx) => rename(tx, realm.id, (name) => `${name}!`));
      await expect(yielding).rejects.toThrow();
      await next;
      expect(await nameOf(uow, realm.id)).toBe(`${realm.name}!`);
    });
  });
}
