import type { CountedCalls } from '@parley/domain/kernel';
import { type OpenStorage, type Stage, stagesOn } from './storage-under-test.js';

export function callCountRepositoryContract(open: OpenStorage): void {
  describe('call count repository', () => {
    const stage = stagesOn(open);
    const calls = (key: string, more: Partial<CountedCalls> = {}): CountedCalls => ({
      ...{ rule: 'logins', key, calls: 1, isReset: false, expiresAt: 100 },
      ...more,
    });
    const add = ({ uow }: Stage, server: string, ...counted: readonly CountedCalls[]) =>
      uow.writeAcross((tx) => tx.callCounts.add(server, counted));
    const listed = ({ uow }: Stage, server: string, after = 0, limit = 10) =>
      uow.readAcross(({ callCounts }) => callCounts.listOfOthers(server, after, limit));

    it('lists the rows of other servers after an id, in commit order', async () => {
      const fixture = await stage();
      const rows = [calls('"a"', { calls: -2 }), calls('7', { isReset: true }), calls('"b"')];
      await add(fixture, 'one', rows[0]!, rows[1]!);
      await add(fixture, 'other', calls('"own"'));
      await add(fixture, 'one', rows[2]!);
      const all = await listed(fixture, 'other');
      expect(all.map(({ id: _, ...row }) => row)).toEqual(rows);
      expect(all.map(({ id }) => id)).toEqual([...all.map(({ id }) => id)].sort((a, b) => a - b));
      expect(await listed(fixture, 'other', all[0]!.id, 1)).toEqual([all[1]]);
    });

    it('removes expired rows in batches and never reuses an id', async () => {
      const fixture = await stage();
      await add(fixture, 'one', calls('1'), calls('2', { expiresAt: 101 }), calls('3', { expiresAt: 99 }));
      const remove = () => fixture.uow.writeAcross((tx) => tx.callCounts.removeExpired(100, 1));
      expect([await remove(), await remove(), await remove()]).toEqual([1, 1, 0]);
      const [left] = await listed(fixture, 'other');
      expect(left!.key).toBe('2');
      await fixture.uow.writeAcross((tx) => tx.callCounts.removeAll());
      expect(await listed(fixture, 'other')).toEqual([]);
      await add(fixture, 'one', calls('4'));
      expect((await listed(fixture, 'other'))[0]!.id).toBeGreaterThan(left!.id);
    });
  });
}
