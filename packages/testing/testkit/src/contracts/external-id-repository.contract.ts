import { anotherRealm, aUser } from '../builders.js';
import { code, type OpenStorage, stagesOn } from './storage-under-test.js';

export function externalIdRepositoryContract(open: OpenStorage): void {
  describe('external id repository', () => {
    const stage = stagesOn(open);

    async function people() {
      const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }));
      const other = await anotherRealm(fixture);
      return { fixture, other, realmId: fixture.realm.id, a: fixture.user('a').id, b: fixture.user('b').id };
    }

    it('finds users by their exact external id', async () => {
      const { fixture, realmId, a, b } = await people();
      await fixture.uow.write(realmId, async ({ externalIds }) => {
        await externalIds.assign(realmId, a, 'u1');
        await externalIds.assign(realmId, b, "it's 🎭 / 7");
      });
      await fixture.uow.read(realmId, async ({ externalIds }) => {
        expect(await externalIds.find(realmId, 'u1')).toBe(a);
        expect(await externalIds.find(realmId, 'U1')).toBeNull();
        expect(await externalIds.find(realmId, 'u1 ')).toBeNull();
        expect(await externalIds.listUserIds(realmId, ['nobody', "it's 🎭 / 7", 'u1', 'u1'])).toEqual(
          new Map([
            ['u1', a],
            ["it's 🎭 / 7", b],
          ]),
        );
        expect(await externalIds.listByUser(realmId, [b, a])).toEqual(
          new Map([
            [a, 'u1'],
            [b, "it's 🎭 / 7"],
          ]),
        );
      });
    });

    it('adds external ids to users, increments their versions, and finds users by external id', async () => {
      const { fixture, other, realmId, a, b } = await people();
      const before = (await fixture.uow.read(realmId, (r) => r.users.find(realmId, a)))!;
      await fixture.uow.write(realmId, (tx) => tx.externalIds.assign(realmId, a, 'u1'));
      const added = await fixture.uow.write(realmId, async (tx) => {
        const { id: _, version: __, ...user } = before;
        return tx.users.add({ ...user, email: 'c@example.com', externalId: 'u3' }, null);
      });
      await fixture.uow.readAcross(async ({ users, externalIds }) => {
        const assigned = (await users.find(realmId, a))!;
        expect(assigned).toEqual({ ...before, externalId: 'u1', version: assigned.version });
        expect(assigned.version).toBeGreaterThan(before.version);
        expect(await users.list(realmId, [a, b])).toEqual([assigned, fixture.user('b')]);
        expect(Object.keys(fixture.user('b'))).not.toContain('externalId');
        expect(await users.listByExternalId(realmId, ['u3', 'nobody', 'u1', 'U1'])).toEqual([assigned, added]);
        expect(await users.listByExternalId(other.realm.id, ['u1'])).toEqual([]);
        expect(await externalIds.find(realmId, 'u3')).toBe(added.id);
      });
      // Other changes keep the external id.
      await fixture.uow.write(realmId, (tx) => tx.users.update({ ...added, fullName: 'C' }));
      expect(await fixture.uow.read(realmId, (r) => r.users.find(realmId, added.id))).toMatchObject({
        externalId: 'u3',
      });
    });

    it('ignores repeated assignment', async () => {
      const { fixture, realmId, a } = await people();
      for (let time = 0; time < 2; time++)
        await fixture.uow.write(realmId, (tx) => tx.externalIds.assign(realmId, a, 'u1'));
      expect(await fixture.uow.read(realmId, (r) => r.externalIds.find(realmId, 'u1'))).toBe(a);
    });

    it('rejects a taken id and a second id for one user without changes', async () => {
      const { fixture, realmId, a, b } = await people();
      const assign = (userId: typeof a, externalId: string) =>
        fixture.uow.write(realmId, (tx) => tx.externalIds.assign(realmId, userId, externalId));
      await assign(a, 'u1');
      await expect(assign(b, 'u1')).rejects.toEqual(code('EXTERNAL_ID_TAKEN'));
      await expect(assign(a, 'u2')).rejects.toEqual(code('EXTERNAL_ID_TAKEN'));
      await fixture.uow.read(realmId, async ({ externalIds }) => {
        expect(await externalIds.listByUser(realmId, [a, b])).toEqual(new Map([[a, 'u1']]));
        expect(await externalIds.find(realmId, 'u2')).toBeNull();
      });
    });

    it('separates realms', async () => {
      const { fixture, other, realmId, a } = await people();
      const theirs = other.user('otherRealmUser').id;
      await fixture.uow.writeAcross(async ({ externalIds }) => {
        await externalIds.assign(realmId, a, 'u1');
        await externalIds.assign(other.realm.id, theirs, 'u1');
      });
      await fixture.uow.read(other.realm.id, async ({ externalIds }) => {
        expect(await externalIds.find(other.realm.id, 'u1')).toBe(theirs);
        expect(await externalIds.listByUser(other.realm.id, [a, theirs])).toEqual(new Map([[theirs, 'u1']]));
        expect(await externalIds.listUserIds(other.realm.id, ['u1'])).toEqual(new Map([['u1', theirs]]));
      });
    });
  });
}
