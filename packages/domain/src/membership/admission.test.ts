import { aGroup, aUser, createFixture, FakeApiKeyMint, FakeRenderer, fakeRealmUrls } from '@parley/testkit';
import { MAX_MEMBERSHIPS } from '../groups/group.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { SystemMessages } from '../writing/system-messages.js';
import { Admission } from './admission.js';

it('adds newcomers to the groups of their invitation only up to the maximum number of memberships', async () => {
  const fixture = await createFixture(aUser({ name: 'inviter' }), aGroup({ name: 'one' }), aGroup({ name: 'two' }));
  const { clock, uow, realm } = fixture;
  const systemMessages = new SystemMessages(new FakeRenderer(), fakeRealmUrls, clock);
  const admission = new Admission(new FakeApiKeyMint(), systemMessages, clock);
  const groupIds = [fixture.group('one').id, fixture.group('two').id];
  const invitation = await uow.write(realm.id, async (tx) => {
    const offer = { role: 'member', channelIds: [], includesDefaultChannels: false, welcomeText: '' } as const;
    const times = { invitedAt: clock.now(), expiresAt: null, status: 'open' } as const;
    const inviterId = fixture.user('inviter').id;
    const link = {
      ...offer,
      ...times,
      realmId: realm.id,
      kind: 'link',
      inviterId,
      groupIds,
      notifiesInviter: false,
    } as const;
    return (await tx.invitations.add(link, [null]))[0]!;
  });
  const counting = (tx: Transaction, before: number): Transaction => {
    const countMemberships = async (...of: Parameters<typeof tx.groups.countMemberships>) =>
      before + (await tx.groups.countMemberships(...of));
    return Object.assign(Object.create(tx), { groups: Object.assign(Object.create(tx.groups), { countMemberships }) });
  };
  const user = await uow.write(realm.id, (tx) =>
    admission.admit(counting(tx, MAX_MEMBERSHIPS - 1), realm, {
      email: 'new@example.com',
      fullName: 'New',
      passwordHash: null,
      role: null,
      invitation,
      words: null,
    }),
  );
  const members = await uow.read(realm.id, (reads) =>
    Promise.all(groupIds.map((id) => reads.groups.listDirectMembers(realm.id, id))),
  );
  expect(members).toEqual([[user.id], []]);
});
