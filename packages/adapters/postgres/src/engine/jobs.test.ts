import { createFixtureOn, FixedClock } from '@parley/testkit';
import { openPostgresStorage } from '../database.js';
import { createDatabase } from '../testing/databases.js';

it('takes jobs without waiting for a unit that completes one of them, and omits that job', async () => {
  const database = await createDatabase();
  const clock = new FixedClock();
  const [one, other] = [
    await openPostgresStorage({ url: database.url, clock }),
    await openPostgresStorage({ url: database.url, clock }),
  ];
  const { realm } = await createFixtureOn(one.uow, clock);
  const selection = { kind: 'test.post', maxFormat: 1 };
  const now = clock.now();
  const job = { realmId: realm.id, kind: 'test.post', key: null, dueAt: now, format: 1, payload: '{}' };
  await one.uow.write(realm.id, async ({ jobs }) => {
    for (let n = 0; n < 2; n++) await jobs.schedule(job);
  });
  const [first, second] = await one.uow.readAcross(({ jobs }) => jobs.listDue(selection, now, 10));

  const leased = await one.uow.write(realm.id, async ({ jobs }) => {
    expect(await jobs.take(first!)).toBe(true);
    return other.uow.writeAcross(
      (tx) => tx.jobs.lease(selection, { now, until: now + 60, attempts: 1, holder: null }, 10),
      {
        shared: { kind: 'jobs' },
      },
    );
  });

  expect(leased.map(({ id }) => id)).toEqual([second!.id]);
  expect(await other.uow.readAcross(({ jobs }) => jobs.listDue(selection, now, 10))).toEqual([]);
  await one.close();
  await other.close();
  await database.drop();
});
