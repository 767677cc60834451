import type { UnixSeconds } from '@parley/domain/kernel';
import type { Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

export function bouncedAddressRepositoryContract(open: OpenStorage): void {
  describe('bounced address repository', () => {
    const stage = stagesOn(open);
    const bounced = (email: string, bouncedAt: number, reason = '550 gone') => ({
      email,
      bouncedAt: bouncedAt as UnixSeconds,
      reason,
    });
    const put = ({ uow }: Fixture, ...all: readonly ReturnType<typeof bounced>[]) =>
      uow.writeAcross(async (tx) => {
        for (const one of all) await tx.bouncedAddresses.put(one);
      });
    const find = ({ uow }: Fixture, email: string) =>
      uow.readAcross(({ bouncedAddresses }) => bouncedAddresses.find(email));
    const list = ({ uow }: Fixture, limit = 10) =>
      uow.readAcross(({ bouncedAddresses }) => bouncedAddresses.list(limit));

    it('finds an address regardless of letter case and keeps its newest bounce', async () => {
      const fixture = await stage();
      await put(fixture, bounced('Ann@example.com', 5), bounced('ann@EXAMPLE.com', 9, '554 full'));
      expect(await find(fixture, 'ANN@example.com')).toEqual(bounced('ann@EXAMPLE.com', 9, '554 full'));
      expect(await find(fixture, 'bob@example.com')).toBeNull();
      expect(await list(fixture)).toHaveLength(1);
    });

    it('lists the newest bounces first, up to a limit', async () => {
      const fixture = await stage();
      await put(fixture, bounced('a@x.de', 5), bounced('c@x.de', 9), bounced('b@x.de', 9));
      expect((await list(fixture)).map(({ email }) => email)).toEqual(['b@x.de', 'c@x.de', 'a@x.de']);
      expect(await list(fixture, 1)).toHaveLength(1);
    });

    it('removes one address, or old addresses up to a limit', async () => {
      const fixture = await stage();
      await put(fixture, bounced('a@x.de', 5), bounced('b@x.de', 6), bounced('c@x.de', 7), bounced('d@x.de', 8));
      const remove = (email: string) => fixture.uow.writeAcross((tx) => tx.bouncedAddresses.remove(email));
      expect([await remove('A@x.de'), await remove('a@x.de')]).toEqual([true, false]);
      const removeBefore = (time: number, limit: number) =>
        fixture.uow.writeAcross((tx) => tx.bouncedAddresses.removeBefore(time as UnixSeconds, limit));
      expect([await removeBefore(8, 1), await removeBefore(8, 5)]).toEqual([1, 1]);
      expect((await list(fixture)).map(({ email }) => email)).toEqual(['d@x.de']);
    });
  });
}
