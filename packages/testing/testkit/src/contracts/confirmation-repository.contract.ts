import { type Confirmation, subjectOf } from '@parley/domain/access';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, SEED, stagesOn } from './storage-under-test.js';

const pieces = [aUser({ name: 'ann' }), aUser({ name: 'bob' })];

type New = Omit<Confirmation, 'id' | 'seed'>;

const signUp = ({ realm }: Fixture, more: Partial<New> = {}): New => ({
  realmId: realm.id,
  purpose: 'signUp',
  email: 'Yorick@example.com',
  userId: null,
  invitationId: 7,
  expiresAt: 1000,
  status: 'open',
  ...more,
});
const reset = (fixture: Fixture, more: Partial<New> = {}): New =>
  signUp(fixture, { purpose: 'passwordReset', userId: fixture.user('ann').id, invitationId: null, ...more });

export function confirmationRepositoryContract(open: OpenStorage): void {
  describe('confirmation repository', () => {
    const stage = stagesOn(open);
    const add = ({ uow }: Fixture, confirmation: New) =>
      uow.write(confirmation.realmId, (tx) => tx.confirmations.add(confirmation));

    it('stores every property per realm and never reuses ids', async () => {
      const fixture = await stage(...pieces);
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture);
      const [one, two] = [await add(fixture, signUp(fixture)), await add(fixture, reset(fixture))];
      expect(await uow.read(realm.id, (r) => r.confirmations.find(realm.id, one.id))).toEqual({
        ...signUp(fixture),
        id: one.id,
        seed: one.seed,
      });
      expect([one.seed, two.seed]).toEqual([expect.stringMatching(SEED), expect.stringMatching(SEED)]);
      expect(one.seed).not.toBe(two.seed);
      expect(await uow.read(realm.id, (r) => r.confirmations.find(realm.id, two.id))).toEqual({
        ...reset(fixture),
        id: two.id,
        seed: two.seed,
      });
      expect(await uow.read(other.realm.id, (r) => r.confirmations.find(other.realm.id, one.id))).toBeNull();
      await uow.write(other.realm.id, (tx) => tx.confirmations.remove(other.realm.id, two.id));
      expect(await uow.read(realm.id, (r) => r.confirmations.find(realm.id, two.id))).toEqual(two);
      await uow.write(realm.id, (tx) => tx.confirmations.remove(realm.id, two.id));
      expect(await uow.read(realm.id, (r) => r.confirmations.find(realm.id, two.id))).toBeNull();
      expect((await add(fixture, reset(fixture))).id).toBeGreaterThan(two.id);
    });

    it('finds the open confirmation of a purpose and subject, expired or not', async () => {
      const fixture = await stage(...pieces);
      const { uow, realm, user } = fixture;
      const other = await anotherRealm(fixture);
      await add(fixture, signUp(fixture, { status: 'ended' }));
      const one = await add(fixture, signUp(fixture));
      const two = await add(fixture, reset(fixture));
      await add(fixture, reset(fixture, { userId: user('bob').id }));
      const find = (purpose: Confirmation['purpose'], of: New, realmId = realm.id) =>
        uow.read(realmId, (r) => r.confirmations.findOpen(realmId, purpose, subjectOf(of)));
      expect(await find('signUp', signUp(fixture, { email: 'yorick@EXAMPLE.com' }))).toEqual(one);
      expect(await find('passwordReset', reset(fixture))).toEqual(two);
      expect(await find('emailChange', reset(fixture))).toBeNull();
      expect(await find('signUp', signUp(fixture), other.realm.id)).toBeNull();
      expect(await find('signUp', signUp(fixture, { email: 'ann@example.com' }))).toBeNull();
    });

    it('changes only the end of an invitation', async () => {
      const fixture = await stage(...pieces);
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture);
      const added = await add(fixture, reset(fixture));
      const update = (confirmation: Confirmation) =>
        uow.write(confirmation.realmId, (tx) => tx.confirmations.update(confirmation));
      await update({ ...added, realmId: other.realm.id, status: 'ended' });
      await update({ ...added, expiresAt: 2000, email: 'another@example.com' });
      expect(await uow.read(realm.id, (r) => r.confirmations.find(realm.id, added.id))).toEqual({
        ...added,
        expiresAt: 2000,
      });
      await update({ ...added, status: 'ended' });
      expect(
        await uow.read(realm.id, (r) => r.confirmations.findOpen(realm.id, 'passwordReset', subjectOf(added))),
      ).toBeNull();
      await add(fixture, reset(fixture));
    });

    it('counts confirmations of a purpose, including ended ones', async () => {
      const fixture = await stage(...pieces);
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture);
      await add(fixture, signUp(fixture, { status: 'ended' }));
      await add(fixture, signUp(fixture));
      await add(fixture, reset(fixture));
      const count = (purpose: Confirmation['purpose'], realmId = realm.id) =>
        uow.read(realmId, (r) => r.confirmations.count(realmId, purpose));
      expect([await count('signUp'), await count('passwordReset'), await count('emailChange')]).toEqual([2, 1, 0]);
      expect(await count('signUp', other.realm.id)).toBe(0);
    });
  });
}
