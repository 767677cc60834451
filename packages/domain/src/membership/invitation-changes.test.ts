import { aUser, createFixture } from '@parley/testkit';
import { JobRunner } from '../kernel/jobs.js';
import { ExpireInvitations, expireInvitationsOf, MAX_EXPIRED_AT_ONCE } from './invitation-changes.js';

it('expires many invitations of a user who leaves in several units of work, but no later ones', async () => {
  const fixture = await createFixture(aUser({ name: 'inviter' }));
  const { clock, uow, realm } = fixture;
  const inviterId = fixture.user('inviter').id;
  const invite = (count: number) =>
    uow.write(realm.id, (tx) =>
      tx.invitations.add(
        {
          realmId: realm.id,
          kind: 'email',
          inviterId,
          role: 'member',
          channelIds: [],
          groupIds: [],
          includesDefaultChannels: false,
          welcomeText: null,
          invitedAt: clock.now(),
          expiresAt: null,
          status: 'open',
          notifiesInviter: false,
        },
        Array.from({ length: count }, (_, n) => `friend${n}@example.com`),
      ),
    );
  const countOpen = () => uow.read(realm.id, ({ invitations }) => invitations.countOpen(realm.id, clock.now()));
  await invite(MAX_EXPIRED_AT_ONCE + 2);
  await uow.write(realm.id, (tx) => expireInvitationsOf(tx, realm.id, inviterId, clock.now()));
  expect(await countOpen()).toBe(2);
  clock.advance(1);
  await invite(3);
  const problems: unknown[] = [];
  const report = (...problem: unknown[]) => void problems.push(problem);
  await new JobRunner(new ExpireInvitations(), { uow, clock, report }).run();
  expect([problems, await countOpen()]).toEqual([[], 3]);
});
