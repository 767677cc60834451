import { type OpenStorage, type Stage, stagesOn } from './storage-under-test.js';

export function leaseRepositoryContract(open: OpenStorage): void {
  describe('lease repository', () => {
    const stage = stagesOn(open);
    const take = ({ uow }: Stage, holder: string, until: number, now: number, name = 'sweep') =>
      uow.writeAcross((tx) => tx.leases.take(name, { holder, until }, now));

    it('grants a lease to one holder until it expires', async () => {
      const fixture = await stage();
      expect(await take(fixture, 'a', 30, 0)).toEqual({ holder: 'a', until: 30 });
      expect(await take(fixture, 'b', 40, 29)).toEqual({ holder: 'a', until: 30 });
      expect(await take(fixture, 'b', 60, 30)).toEqual({ holder: 'b', until: 60 });
      expect(await take(fixture, 'a', 70, 31)).toEqual({ holder: 'b', until: 60 });
      expect(await take(fixture, 'a', 70, 31, 'other')).toEqual({ holder: 'a', until: 70 });
    });

    it('grants a lease that ends more than twice its length from now', async () => {
      const fixture = await stage();
      await take(fixture, 'a', 1030, 1000);
      expect(await take(fixture, 'b', 1000, 970)).toEqual({ holder: 'a', until: 1030 });
      expect(await take(fixture, 'b', 999, 969)).toEqual({ holder: 'b', until: 999 });
    });

    it('extends a lease for its holder', async () => {
      const fixture = await stage();
      await take(fixture, 'a', 30, 0);
      expect(await take(fixture, 'a', 45, 15)).toEqual({ holder: 'a', until: 45 });
      expect(await take(fixture, 'b', 60, 30)).toEqual({ holder: 'a', until: 45 });
    });

    it('releases the leases of one holder', async () => {
      const fixture = await stage();
      await take(fixture, 'a', 30, 0);
      await take(fixture, 'b', 30, 0, 'other');
      await fixture.uow.writeAcross((tx) => tx.leases.release('a'));
      expect(await take(fixture, 'c', 60, 1)).toEqual({ holder: 'c', until: 60 });
      expect(await take(fixture, 'c', 60, 1, 'other')).toEqual({ holder: 'b', until: 30 });
    });

    it('lists the holders', async () => {
      const fixture = await stage();
      const holders = () => fixture.uow.readAcross(({ leases }) => leases.listHolders());
      expect(await holders()).toEqual([]);
      await take(fixture, 'b', 30, 0);
      await take(fixture, 'a', 30, 0, 'other');
      await take(fixture, 'b', 30, 0, 'third');
      expect(await holders()).toEqual(['a', 'b']);
    });
  });
}
