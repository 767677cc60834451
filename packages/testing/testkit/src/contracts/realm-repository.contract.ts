import type { RealmId } from '@parley/domain/kernel';
import { aRealm, createFixtureOn } from '../builders.js';
import { code, type OpenStorage, stagesOn } from './storage-under-test.js';

export function realmRepositoryContract(open: OpenStorage): void {
  describe('realm repository', () => {
    const stage = stagesOn(open);

    it('stores every property of a realm', async () => {
      const { uow, realm } = await stage(aRealm({ stringId: 'acme', name: 'Acme & Söhne 🎉' }));
      const changed = {
        ...realm,
        isDeactivated: true,
        settings: { ...realm.settings, messageContentEditLimitSeconds: null, description: 'x', inviteRequired: false },
        renderedDescription: '<p>x</p>',
        images: { ...realm.images, logo: { isUploaded: true, version: 3 } },
        userDefaults: { ...realm.userDefaults, twentyFourHourTime: null, webFontSizePx: 14 },
      };
      await uow.write(changed.id, (tx) => tx.realms.update(changed));
      expect(await uow.read(realm.id, (r) => r.realms.get(realm.id))).toEqual(changed);
      expect(await uow.read(realm.id, (r) => r.realms.find(realm.id))).toEqual(changed);
    });

    it('returns the same object until the realm changes', async () => {
      const { uow, realm } = await stage();
      const find = () => uow.read(realm.id, (r) => r.realms.find(realm.id));
      const before = await find();
      expect(await find()).toBe(before);
      await uow.write(realm.id, (tx) => tx.realms.update({ ...realm, name: 'Other' }));
      expect(await find()).not.toBe(before);
    });

    it('finds realms by string id and the root realm by the empty id', async () => {
      const { uow, clock, realm } = await stage(aRealm({ stringId: 'acme' }));
      expect(await uow.readAcross((r) => r.realms.findByStringId(''))).toBeNull();
      const root = await createFixtureOn(uow, clock, aRealm({ stringId: '' }));
      expect(await uow.readAcross((r) => r.realms.findByStringId(''))).toEqual(root.realm);
      expect(await uow.readAcross((r) => r.realms.findByStringId('acme'))).toEqual(realm);
    });

    it('lists realms ascending', async () => {
      const { uow, clock, realm } = await stage(aRealm({ stringId: 'zebra' }));
      const second = await createFixtureOn(uow, clock, aRealm({ stringId: 'ant' }));
      expect(await uow.readAcross((r) => r.realms.list())).toEqual([realm, second.realm]);
    });

    it('returns null or throws for unknown realms', async () => {
      const { uow, realm } = await stage();
      const unknown = (realm.id + 1) as RealmId;
      expect(await uow.read(unknown, (r) => r.realms.find(unknown))).toBeNull();
      expect(await uow.readAcross((r) => r.realms.findByStringId('unknown'))).toBeNull();
      await expect(uow.read(unknown, (r) => r.realms.get(unknown))).rejects.toEqual(code('UNKNOWN_REALM'));
    });

    it("stores which realm is at the server's address and rejects a second one", async () => {
      const { uow, clock, realm } = await stage(aRealm({ stringId: 'acme' }));
      const { realm: second } = await createFixtureOn(uow, clock, aRealm({ stringId: 'second' }));
      expect([realm, second].map(({ isAtServerAddress }) => isAtServerAddress)).toEqual([true, false]);
      expect(await uow.readAcross((r) => r.realms.list())).toEqual([realm, second]);
      const adding = uow.write(second.id, (tx) =>
        tx.realms.add({ ...second, stringId: 'third', isAtServerAddress: true }),
      );
      await expect(adding).rejects.toEqual(code('STRING_ID_TAKEN'));
      expect(await uow.readAcross((r) => r.realms.list())).toHaveLength(2);
    });

    it('rejects a taken string id', async () => {
      const { uow, clock } = await stage(aRealm({ stringId: 'acme' }));
      await expect(createFixtureOn(uow, clock, aRealm({ stringId: 'acme' }))).rejects.toEqual(code('STRING_ID_TAKEN'));
      expect(await uow.readAcross((r) => r.realms.list())).toHaveLength(1);
    });
  });
}
