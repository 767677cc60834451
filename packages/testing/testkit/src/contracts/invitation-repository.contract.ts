import type { ChannelId, GroupId } from '@parley/domain/kernel';
import type { Invitation, NewInvitations } from '@parley/domain/membership';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { idsOf, type OpenStorage, SEED, stagesOn } from './storage-under-test.js';

const pieces = [aUser({ name: 'ann' }), aUser({ name: 'bob' })];
const NOW = 1000;

type New = NewInvitations & Pick<Invitation, 'email'>;

const link = ({ realm, user }: Fixture, more: Partial<New> = {}): New => ({
  realmId: realm.id,
  kind: 'link',
  inviterId: user('ann').id,
  role: 'member',
  channelIds: [],
  groupIds: [],
  includesDefaultChannels: false,
  welcomeText: null,
  invitedAt: NOW,
  expiresAt: NOW + 10,
  status: 'open',
  email: null,
  notifiesInviter: false,
  ...more,
});
const byEmail = (fixture: Fixture, more: Partial<New> = {}) =>
  link(fixture, {
    kind: 'email',
    email: 'yorick@example.com',
    role: 'guest',
    channelIds: [3, 1] as ChannelId[],
    groupIds: [9] as GroupId[],
    includesDefaultChannels: true,
    welcomeText: '',
    notifiesInviter: true,
    ...more,
  });
const add = async ({ uow }: Fixture, { email, ...given }: New): Promise<Invitation> => {
  const [added] = await uow.write(given.realmId, (tx) => tx.invitations.add(given, [email]));
  return added!;
};

export function invitationRepositoryContract(open: OpenStorage): void {
  describe('invitation repository', () => {
    const stage = stagesOn(open);

    it('stores every property per realm and never reuses ids', async () => {
      const fixture = await stage(...pieces);
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture);
      const [one, two] = [await add(fixture, link(fixture)), await add(fixture, byEmail(fixture, { expiresAt: null }))];
      expect(one).toEqual({ ...link(fixture), id: one.id, seed: expect.stringMatching(SEED) });
      expect(one.seed).not.toBe(two.seed);
      expect(await uow.read(realm.id, (r) => r.invitations.find(realm.id, one.id))).toEqual(one);
      expect(await uow.read(realm.id, (r) => r.invitations.find(realm.id, two.id))).toEqual({
        ...byEmail(fixture, { expiresAt: null }),
        id: two.id,
        seed: two.seed,
      });
      expect(await uow.read(other.realm.id, (r) => r.invitations.find(other.realm.id, one.id))).toBeNull();
      await uow.write(other.realm.id, (tx) => tx.invitations.remove(other.realm.id, two.id));
      await uow.write(realm.id, (tx) => tx.invitations.remove(realm.id, two.id));
      expect(await uow.read(realm.id, (r) => r.invitations.find(realm.id, two.id))).toBeNull();
      expect((await add(fixture, link(fixture))).id).toBeGreaterThan(two.id);
    });

    it('creates several invitations for one offer, each with its own expiry', async () => {
      const fixture = await stage(...pieces);
      const { uow, realm } = fixture;
      const { email, ...given } = byEmail(fixture);
      const emails = Array.from({ length: 12 }, (_, n) => `${12 - n}@example.com`);
      const added = await uow.write(given.realmId, (tx) => tx.invitations.add(given, emails));
      const { id, seed } = added[0]!;
      expect(added).toEqual(emails.map((each, n) => ({ ...given, email: each, id: id + n, seed })));
      await uow.write(realm.id, (tx) => tx.invitations.remove(realm.id, added[0]!.id));
      await uow.write(realm.id, (tx) => tx.invitations.update({ ...added[1]!, status: 'used' }));
      for (const invitation of added.slice(2)) {
        expect(await uow.read(realm.id, (r) => r.invitations.find(realm.id, invitation.id))).toEqual(invitation);
      }
    });

    it('lists invitations by offered role', async () => {
      const fixture = await stage(...pieces);
      const { uow, realm } = fixture;
      const { channelIds, groupIds, includesDefaultChannels, welcomeText, ...entry } = await add(
        fixture,
        byEmail(fixture),
      );
      expect(await uow.read(realm.id, (r) => r.invitations.listOpen(realm.id, NOW, null))).toEqual([entry]);
    });

    it('lists open invitations, email invitations first', async () => {
      const fixture = await stage(...pieces);
      const { uow, realm, user } = fixture;
      const bob = { inviterId: user('bob').id };
      const a = await add(fixture, link(fixture));
      const b = await add(fixture, byEmail(fixture, bob));
      const c = await add(fixture, link(fixture, { ...bob, expiresAt: null }));
      const d = await add(fixture, byEmail(fixture));
      await add(fixture, link(fixture, { expiresAt: NOW }));
      await add(fixture, link(fixture, { status: 'revoked' }));
      await add(fixture, byEmail(fixture, { status: 'used' }));
      const list = (inviterId: Invitation['inviterId'] | null, now = NOW) =>
        uow.read(realm.id, async (r) => idsOf(await r.invitations.listOpen(realm.id, now, inviterId)));
      expect(await list(null)).toEqual([b.id, d.id, a.id, c.id]);
      expect(await list(user('bob').id)).toEqual([b.id, c.id]);
      expect(await list(null, NOW + 10)).toEqual([c.id]);
      expect(await uow.read(realm.id, (r) => r.invitations.countOpen(realm.id, NOW))).toBe(4);
      const other = await anotherRealm(fixture);
      expect(await uow.read(other.realm.id, (r) => r.invitations.countOpen(other.realm.id, NOW))).toBe(0);
    });

    it('changes only the end of a confirmation', async () => {
      const fixture = await stage(...pieces);
      const { uow, realm } = fixture;
      const added = await add(fixture, byEmail(fixture));
      const change = (invitation: Invitation) =>
        uow.write(invitation.realmId, (tx) => tx.invitations.update(invitation));
      const other = await anotherRealm(fixture);
      await change({ ...added, realmId: other.realm.id, status: 'revoked' });
      await change({ ...added, expiresAt: NOW, role: 'owner' });
      expect(await uow.read(realm.id, (r) => r.invitations.find(realm.id, added.id))).toEqual({
        ...added,
        expiresAt: NOW,
      });
      await change({ ...added, status: 'used' });
      expect(await uow.read(realm.id, (r) => r.invitations.find(realm.id, added.id))).toEqual({
        ...added,
        status: 'used',
      });
    });

    it('counts the emails of a day and removes earlier counts', async () => {
      const fixture = await stage(...pieces);
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture);
      const count = (day: number, id = realm.id) => uow.read(id, (r) => r.invitations.countEmails(id, day));
      await uow.write(realm.id, (tx) => tx.invitations.addEmails(realm.id, 7, 2));
      await uow.write(realm.id, (tx) => tx.invitations.addEmails(realm.id, 7, 3));
      await uow.write(other.realm.id, (tx) => tx.invitations.addEmails(other.realm.id, 7, 1));
      expect([await count(7), await count(8), await count(7, other.realm.id)]).toEqual([5, 0, 1]);
      await uow.write(realm.id, (tx) => tx.invitations.addEmails(realm.id, 8, 1));
      expect([await count(7), await count(8), await count(7, other.realm.id)]).toEqual([0, 1, 1]);
    });
  });
}
