import { appendEvent, createFixture } from '@parley/testkit';
import type { UnitChanges } from '../kernel/feature-types.js';
import type { EventSeq } from '../kernel/ids.js';
import { encodeJob, jobKind } from '../kernel/jobs.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { type CommitListener, PublishingUnitOfWork } from './publishing-unit-of-work.js';

const POST = jobKind<object>({ name: 'test.post', readPayload: (stored) => stored as object });

describe('PublishingUnitOfWork', () => {
  async function publishing() {
    const { uow: inner, realm, storage } = await createFixture();
    const calls: unknown[] = [];
    const failures: unknown[] = [];
    const uow = new PublishingUnitOfWork(inner, (error) => void failures.push(error));
    const listener: CommitListener = {
      onEvents: (events) => void calls.push(events),
      onJobsScheduled: (jobs) => void calls.push(jobs),
    };
    uow.subscribe(listener);
    const append = (tx: Transaction) =>
      appendEvent(tx, realm.id, { event: { type: 'blank' }, audience: { kind: 'realm' } });
    const schedule = (tx: Transaction, dueAt: number) =>
      tx.jobs.schedule(encodeJob(POST, { realmId: realm.id, dueAt, payload: {} }));
    return { uow, inner, realm, storage, calls, failures, append, schedule };
  }

  it('publishes stored events and then jobs after the commit', async () => {
    const { uow, calls, append, schedule, storage, realm } = await publishing();
    const { seq } = await uow.write(realm.id, async (tx) => {
      await schedule(tx, 7);
      const seq = await append(tx);
      await schedule(tx, 5);
      expect(calls).toEqual([]);
      expect(await tx.events.lastSeq(realm.id)).toBe(seq);
      expect(await tx.jobs.nextDueAt({ kind: POST.name, maxFormat: 1 })).toBe(5);
      return { seq };
    });
    expect(storage.announced.at(-1)!.seq).toBe(seq);
    expect(calls).toEqual([
      [storage.announced.at(-1)],
      [
        { kind: POST.name, dueAt: 7 },
        { kind: POST.name, dueAt: 5 },
      ],
    ]);
  });

  it('publishes the changes of units that commit together in one call, before their callers continue', async () => {
    const { inner, realm, append } = await publishing();
    const settled: (() => void)[] = [];
    const write: UnitOfWork['write'] = async (realmId, work, options) => {
      let changes!: UnitChanges;
      const value = await inner.write(realmId, work, { onCommit: (own) => (changes = own) });
      return new Promise((resolve) => {
        settled.push(() => {
          options?.onCommit?.(changes);
          resolve(value);
        });
        if (settled.length === 3) for (const settle of settled) settle();
      });
    };
    const together: UnitOfWork = Object.assign(Object.create(inner), { write });
    const uow = new PublishingUnitOfWork(together, () => {});
    const calls: unknown[] = [];
    uow.subscribe({ onEvents: (events) => void calls.push(events.map(({ seq }) => seq)) });
    const writes = [1, 2, 3].map(async () => {
      calls.push(await uow.write(realm.id, append));
    });
    await Promise.all(writes);
    const [seqs, ...callers] = calls;
    expect(seqs).toEqual(callers);
  });

  it('publishes nothing for a transaction that fails, appends no events or only reads', async () => {
    const { uow, calls, append, schedule } = await publishing();
    const failing = uow.writeAcross(async (tx) => {
      await append(tx);
      await schedule(tx, 7);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await uow.writeAcross(async () => {});
    await uow.readAcross((r) => r.realms.list());
    expect(calls).toEqual([]);
  });

  it('removes the oldest events in the unit of work that exceeds the log size', async () => {
    const { inner, realm, append } = await publishing();
    const uow = new PublishingUnitOfWork(inner, () => {}, { maxLogBytes: 1000 });
    const size = async () => {
      for (let bytes = 0; ; bytes += 10) {
        if ((await inner.read(realm.id, (r) => r.events.seqBeyond(realm.id, bytes))) === 0) return bytes;
      }
    };
    for (let n = 0; n < 30; n++) {
      const seqs = await uow.write(realm.id, async (tx) => [await append(tx), await append(tx), await append(tx)]);
      const kept = await inner.read(realm.id, (r) => r.events.listAfter(realm.id, (seqs[0]! - 1) as EventSeq, 3));
      expect(kept.map(({ seq }) => seq)).toEqual(seqs);
      expect(await size()).toBeLessThanOrEqual(1000);
    }
    expect(await size()).toBeGreaterThan(900);
  });

  it('reports a failing listener and still calls the other listeners', async () => {
    const { uow, calls, failures, append } = await publishing();
    const broken = new Error('broken');
    uow.subscribe({
      onEvents: () => {
        throw broken;
      },
    });
    const announced: unknown[] = [];
    uow.subscribe({ onEvents: (events) => void announced.push(events) });
    await uow.writeAcross(append);
    expect([calls.length, announced.length, failures]).toEqual([1, 1, [broken]]);
  });
});
