import type { GroupId, UserId } from '@parley/domain/kernel';
import type { ProvisionedGroup } from '@parley/domain/log-in';
import { anotherRealm, aUser } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

export function provisioningRepositoryContract(open: OpenStorage): void {
  describe('provisioning repository', () => {
    const stage = stagesOn(open);

    it('finds tokens by fingerprint in their realm, lists them by name and removes them', async () => {
      const fixture = await stage();
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture);
      const token = (name: string, realmId = realm.id) => ({ realmId, name, createdAt: 100 });
      await uow.write(realm.id, async ({ provisioning }) => {
        await provisioning.addToken(token('okta'), 'print-1');
        await provisioning.addToken(token('entra'), 'print-2');
      });
      await uow.write(other.realm.id, ({ provisioning }) =>
        provisioning.addToken(token('okta', other.realm.id), 'print-3'),
      );
      const find = (fingerprint: string, { id } = realm) =>
        uow.read(id, ({ provisioning }) => provisioning.findToken(id, fingerprint));
      expect(await find('print-1')).toEqual(token('okta'));
      expect([await find('print-1', other.realm), await find('print-3'), await find('print-9')]).toEqual([
        null,
        null,
        null,
      ]);
      const list = () => uow.read(realm.id, ({ provisioning }) => provisioning.listTokens(realm.id));
      expect(await list()).toEqual([token('entra'), token('okta')]);
      const remove = () => uow.write(realm.id, ({ provisioning }) => provisioning.removeToken(realm.id, 'okta'));
      expect([await remove(), await remove()]).toEqual([true, false]);
      expect(await list()).toEqual([token('entra')]);
      expect(await find('print-3', other.realm)).not.toBeNull();
    });

    it('records which users were removed', async () => {
      const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }));
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture);
      const [a, b] = [fixture.user('a').id, fixture.user('b').id];
      const set = (userId: UserId, isRemoved: boolean) =>
        uow.write(realm.id, ({ provisioning }) => provisioning.setUserRemoved(realm.id, userId, isRemoved));
      const list = ({ id } = realm) => uow.read(id, ({ provisioning }) => provisioning.listRemovedUserIds(id));
      for (const id of [b, a, a]) await set(id, true);
      expect(await list()).toEqual([a, b]);
      expect(await list(other.realm)).toEqual([]);
      for (const id of [a, a]) await set(id, false);
      const isRemoved = (id: UserId) =>
        uow.read(realm.id, ({ provisioning }) => provisioning.isUserRemoved(realm.id, id));
      expect([await isRemoved(a), await isRemoved(b)]).toEqual([false, true]);
    });

    it('adds and replaces groups, lists them by id and isolates realms', async () => {
      const fixture = await stage();
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture);
      const { owners, members } = await uow.read(realm.id, ({ groups }) => groups.systemGroupIds(realm.id));
      const group = (groupId: GroupId, more: Partial<ProvisionedGroup> = {}): ProvisionedGroup => ({
        groupId,
        externalId: null,
        isRemoved: false,
        ...more,
      });
      const put = (it: ProvisionedGroup) =>
        uow.write(realm.id, ({ provisioning }) => provisioning.putGroup(realm.id, it));
      const [first, second] = [owners, members].sort((a, b) => a - b) as [GroupId, GroupId];
      await put(group(second, { externalId: 'x' }));
      await put(group(first));
      await put(group(first, { externalId: 'y', isRemoved: true }));
      const expected = [group(first, { externalId: 'y', isRemoved: true }), group(second, { externalId: 'x' })];
      expect(await uow.read(realm.id, ({ provisioning }) => provisioning.listGroups(realm.id))).toEqual(expected);
      const find = ({ id } = realm) => uow.read(id, ({ provisioning }) => provisioning.findGroup(id, first));
      expect(await find()).toEqual(expected[0]);
      expect(await find(other.realm)).toBeNull();
    });
  });
}
