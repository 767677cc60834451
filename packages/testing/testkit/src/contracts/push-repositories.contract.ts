import { NEW_DEVICE, type PushToken } from '@parley/domain/push';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const pieces = [aUser({ name: 'a' }), aUser({ name: 'b' })];

const addDevice = (fixture: Fixture, who: string) =>
  fixture.uow.write(fixture.realm.id, (tx) => tx.devices.add({ ...fixture.viewer(who), ...NEW_DEVICE }));
const devicesOf = (fixture: Fixture, who: string) =>
  fixture.uow.read(fixture.realm.id, ({ devices }) => devices.list(fixture.realm.id, fixture.user(who).id));

export function deviceRepositoryContract(open: OpenStorage): void {
  describe('device repository', () => {
    const stage = stagesOn(open);
    const full = {
      key: { id: 4_294_967_295, key: 'MTIz' },
      tokenKind: 'apns',
      tokenId: 'AAAAAAAAAAA=',
      registration: { tokenId: 'AAAAAAAAAAA=', publicKey: 'key', encrypted: 'registered' },
      pending: { tokenId: 'AAAAAAAAAAE=', publicKey: 'key', encrypted: 'text' },
      tokenUpdatedAt: 7,
      error: 'expired',
    } as const;

    it('never reuses ids', async () => {
      const fixture = await stage(...pieces);
      const { id, realmId, userId } = await addDevice(fixture, 'a');
      await fixture.uow.write(realmId, (tx) => tx.devices.remove(realmId, userId, id));
      expect((await addDevice(fixture, 'a')).id).not.toBe(id);
    });

    it('stores changes of a device', async () => {
      const fixture = await stage(...pieces);
      const device = await addDevice(fixture, 'a');
      const other = await addDevice(fixture, 'a');
      for (const changed of [{ ...device, ...full }, { ...device, ...full, pending: null, error: null }, device]) {
        await fixture.uow.write(changed.realmId, (tx) => tx.devices.update(changed));
        expect(await devicesOf(fixture, 'a')).toEqual([changed, other]);
      }
    });

    it('finds owners of devices with a key and a registered token', async () => {
      const fixture = await stage(...pieces, aUser({ name: 'c' }));
      const { id: realmId } = fixture.realm;
      for (const who of ['a', 'a', 'c']) {
        const device = await addDevice(fixture, who);
        const isWhole = who === 'a';
        await fixture.uow.write(realmId, (tx) =>
          tx.devices.update({ ...device, ...full, tokenId: isWhole ? full.tokenId : null }),
        );
      }
      const ids = ['a', 'b', 'c'].map((who) => fixture.user(who).id);
      const owners = (id: typeof realmId) => fixture.uow.readAcross(({ devices }) => devices.filterOwners(id, ids));
      expect(await owners(realmId)).toEqual([ids[0]]);
      expect(await owners((await anotherRealm(fixture)).realm.id)).toEqual([]);
    });
  });
}

const token = (text: string, kind: PushToken['kind'] = 'fcm'): PushToken => ({
  kind,
  token: text,
  iosAppId: kind === 'apns' ? 'app' : null,
});

export function pushTokenRepositoryContract(open: OpenStorage): void {
  describe('push token repository', () => {
    const stage = stagesOn(open);
    const add = (fixture: Fixture, who: string, ...tokens: readonly PushToken[]) =>
      fixture.uow.write(fixture.realm.id, async (tx) => {
        for (const each of tokens) await tx.pushTokens.add(fixture.realm.id, fixture.user(who).id, each);
      });
    const listed = (fixture: Fixture, who: string) =>
      fixture.uow.read(fixture.realm.id, ({ pushTokens }) => pushTokens.list(fixture.realm.id, fixture.user(who).id));

    it('stores each token once per kind and user', async () => {
      const fixture = await stage(...pieces);
      await add(fixture, 'a', token('2'), token('1'), token('2', 'apns'), token('2'));
      await add(fixture, 'b', token('2'));
      expect(await listed(fixture, 'a')).toEqual([token('2'), token('1'), token('2', 'apns')]);
      await fixture.uow.write(fixture.realm.id, async ({ pushTokens }) => {
        await pushTokens.remove(fixture.realm.id, fixture.user('a').id, token('2'));
        await pushTokens.remove(fixture.realm.id, fixture.user('a').id, token('none'));
      });
      expect(await listed(fixture, 'a')).toEqual([token('1'), token('2', 'apns')]);
      expect(await listed(fixture, 'b')).toEqual([token('2')]);
      await fixture.uow.write(fixture.realm.id, (tx) =>
        tx.pushTokens.removeAll(fixture.realm.id, fixture.user('a').id),
      );
      expect([await listed(fixture, 'a'), await listed(fixture, 'b')]).toEqual([[], [token('2')]]);
    });

    it('finds owners of tokens', async () => {
      const fixture = await stage(...pieces);
      await add(fixture, 'b', token('1'), token('2'));
      const ids = [fixture.user('a').id, fixture.user('b').id];
      const owners = (id: typeof fixture.realm.id) =>
        fixture.uow.readAcross(({ pushTokens }) => pushTokens.filterOwners(id, ids));
      expect(await owners(fixture.realm.id)).toEqual([ids[1]]);
      expect(await owners((await anotherRealm(fixture)).realm.id)).toEqual([]);
    });

    it('isolates realms', async () => {
      const fixture = await stage(...pieces);
      await add(fixture, 'a', token('1'));
      const other = (await anotherRealm(fixture)).realm.id;
      await fixture.uow.write(other, async ({ pushTokens }) => {
        expect(await pushTokens.list(other, fixture.user('a').id)).toEqual([]);
        await pushTokens.remove(other, fixture.user('a').id, token('1'));
        await pushTokens.removeAll(other, fixture.user('a').id);
      });
      expect(await listed(fixture, 'a')).toEqual([token('1')]);
    });
  });
}

export function pushStatusRepositoryContract(open: OpenStorage): void {
  describe('push status repository', () => {
    const stage = stagesOn(open);

    it('stores the latest status of each realm', async () => {
      const fixture = await stage();
      const { id: realmId } = fixture.realm;
      const other = (await anotherRealm(fixture)).realm.id;
      const read = (id: typeof realmId) => fixture.uow.read(id, ({ pushStatus }) => pushStatus.find(id));
      expect(await read(realmId)).toBeNull();
      for (const status of [
        { isEnabled: true, endsAt: 7 },
        { isEnabled: false, endsAt: null },
      ]) {
        await fixture.uow.write(realmId, ({ pushStatus }) => pushStatus.put(realmId, status));
        expect(await read(realmId)).toEqual(status);
      }
      expect(await read(other)).toBeNull();
    });
  });
}
