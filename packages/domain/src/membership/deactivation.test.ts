import { aUser, createFixture } from '@parley/testkit';
import { JobRunner } from '../kernel/jobs.js';
import { DeactivateBots, deactivateWithBots, MAX_BOTS_AT_ONCE, reactivateWithGroups } from './deactivation.js';

const BOTS = Array.from({ length: 2 * MAX_BOTS_AT_ONCE + 1 }, (_, n) => `bot ${n}`);

describe('deactivation of a user with many bots (users §4.1)', () => {
  it('deactivates the former bots by a job, but none that the reactivated user creates', async () => {
    const fixture = await createFixture(
      aUser({ name: 'owner' }),
      ...BOTS.map((name) => aUser({ name, botOf: 'owner' })),
    );
    const { uow, realm, user, clock } = fixture;
    await uow.write(realm.id, (tx) => deactivateWithBots(tx, realm, user('owner'), clock.now()));
    clock.advance(1);
    await uow.write(realm.id, async (tx) => {
      await reactivateWithGroups(tx, realm, await tx.users.get(realm.id, user('owner').id), clock.now());
    });
    await fixture.add(aUser({ name: 'new bot', botOf: 'owner', joinedAt: clock.now() }));
    await new JobRunner(new DeactivateBots(clock), { uow, clock, report: () => {} }).run();
    const ids = [...BOTS, 'new bot'].map((name) => user(name).id);
    expect(await uow.read(realm.id, ({ users }) => users.listActiveIds(realm.id, ids))).toEqual([user('new bot').id]);
  });
});
