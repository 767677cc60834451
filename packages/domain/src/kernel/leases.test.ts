import { createFixture } from '@parley/testkit';
import { Leases, listLeaseHolders, releaseLeases } from './leases.js';

describe('Leases', () => {
  async function twoServers() {
    const { uow, storage, clock } = await createFixture();
    return { uow, storage, clock, one: new Leases(uow, clock, 'one'), other: new Leases(uow, clock, 'other') };
  }

  it('gives recurring work to one server until its lease ends', async () => {
    const { one, other, clock } = await twoServers();
    expect(await one.take('work', 90)).toBe(0);
    clock.advance(60);
    expect([await one.take('work', 90), await other.take('work', 90)]).toEqual([0, 90]);
    clock.advance(90);
    expect([await other.take('work', 90), await one.take('work', 90)]).toEqual([0, 90]);
  });

  it('writes only when half of the lease has passed', async () => {
    const { one, clock, storage } = await twoServers();
    await one.take('work', 90);
    const { commits } = storage;
    clock.advance(44);
    await one.take('work', 90);
    expect(storage.commits).toBe(commits);
    clock.advance(1);
    await one.take('work', 90);
    expect(storage.commits).toBe(commits + 1);
  });

  it.each([3600, 172_800, 63_072_000].flatMap((step) => [step, -step]))(
    'goes on after a step of the clock by %i seconds and does not have two holders',
    async (step) => {
      const { one, other, clock } = await twoServers();
      await one.take('work', 90);
      await one.take('left', 90);
      clock.advance(step);
      expect([await one.take('work', 90), await other.take('work', 90)]).toEqual([0, 90]);
      expect(await other.take('left', 90)).toBe(0);
      expect(await one.take('left', 90)).toBe(90);
    },
  );

  it('lets another server take over when the first one stops', async () => {
    const { one, other, uow, clock } = await twoServers();
    await one.take('work', 90);
    expect([...(await listLeaseHolders(uow))]).toEqual(['one']);
    await releaseLeases(uow, 'one', clock.now());
    expect(await other.take('work', 90)).toBe(0);
  });
});
