import type { UserId } from '@parley/domain/kernel';
import type { Passkey } from '@parley/domain/users';
import { anotherRealm, aUser } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const NONE = { app: null, passkeys: [], recoveryCodes: 0 };

export function secondFactorRepositoryContract(open: OpenStorage): void {
  describe('second-factor repository', () => {
    const stage = stagesOn(open);
    const setUp = async () => {
      const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }));
      const other = await anotherRealm(fixture);
      const { uow, realm } = fixture;
      const find = (userId: UserId, { id } = realm) => uow.read(id, (r) => r.secondFactors.find(id, userId));
      return { uow, realm, other, find, a: fixture.user('a').id, b: fixture.user('b').id };
    };
    const passkeyOf = (userId: UserId, id: string): Passkey => ({
      id,
      userId,
      publicKey: 'key',
      counter: 0,
      transports: ['usb', 'nfc'],
      name: `Key ${id}`,
      createdAt: 100,
    });

    it('stores one app per user, replaces and removes it', async () => {
      const { uow, realm, other, find, a, b } = await setUp();
      const put = (userId: UserId, app: { secret: string; lastStep: number } | null) =>
        uow.write(realm.id, (tx) => tx.secondFactors.putApp(realm.id, userId, app));
      expect(await find(a)).toEqual(NONE);
      await put(a, { secret: 'one', lastStep: 1 });
      await put(a, { secret: 'two', lastStep: 2 });
      expect(await find(a)).toEqual({ ...NONE, app: { secret: 'two', lastStep: 2 } });
      expect([await find(b), await find(a, other.realm)]).toEqual([NONE, NONE]);
      await put(a, null);
      expect(await find(a)).toEqual(NONE);
    });

    it("lists a user's passkeys oldest first, and finds them only in their realm", async () => {
      const { uow, realm, other, find, a, b } = await setUp();
      const findPasskey = (id: string, where = realm) =>
        uow.read(where.id, (r) => r.secondFactors.findPasskey(where.id, id));
      const change = uow.write.bind(uow, realm.id);
      await change(async ({ secondFactors }) => {
        for (const id of ['z', 'y']) await secondFactors.putPasskey(realm.id, passkeyOf(a, id));
        await secondFactors.putPasskey(realm.id, passkeyOf(b, 'x'));
      });
      await change((tx) => tx.secondFactors.putPasskey(realm.id, { ...passkeyOf(a, 'z'), counter: 7 }));
      expect((await find(a)).passkeys).toEqual([{ ...passkeyOf(a, 'z'), counter: 7 }, passkeyOf(a, 'y')]);
      expect(await findPasskey('x')).toEqual(passkeyOf(b, 'x'));
      expect([await findPasskey('X'), await findPasskey('x', other.realm)]).toEqual([null, null]);
      await change(async ({ secondFactors }) => {
        await secondFactors.removePasskey(realm.id, a, 'x');
        await secondFactors.removePasskey(realm.id, a, 'z');
      });
      expect([(await find(a)).passkeys, (await find(b)).passkeys]).toEqual([[passkeyOf(a, 'y')], [passkeyOf(b, 'x')]]);
    });

    it('consumes each recovery code once and replaces all codes together', async () => {
      const { uow, realm, find, a, b } = await setUp();
      const put = (codes: readonly string[]) =>
        uow.write(realm.id, (tx) => tx.secondFactors.putRecoveryCodes(realm.id, a, codes));
      const take = (userId: UserId, code: string) =>
        uow.write(realm.id, (tx) => tx.secondFactors.takeRecoveryCode(realm.id, userId, code));
      await put(['1', '2', '3']);
      expect((await find(a)).recoveryCodes).toBe(3);
      expect([await take(b, '1'), await take(a, '1'), await take(a, '1')]).toEqual([false, true, false]);
      expect((await find(a)).recoveryCodes).toBe(2);
      await put(['4']);
      expect([await take(a, '2'), await take(a, '4'), (await find(a)).recoveryCodes]).toEqual([false, true, 0]);
    });

    it('reports the use of second factors by realm', async () => {
      const { uow, realm, other, a } = await setUp();
      const use = ({ id } = realm) =>
        uow.read(id, async ({ secondFactors }) => [
          await secondFactors.areUsed(id),
          await secondFactors.hasPasskeys(id),
        ]);
      expect(await use()).toEqual([false, false]);
      await uow.write(realm.id, (tx) => tx.secondFactors.putApp(realm.id, a, { secret: 'one', lastStep: 1 }));
      expect(await use()).toEqual([true, false]);
      await uow.write(realm.id, async (tx) => {
        await tx.secondFactors.putApp(realm.id, a, null);
        await tx.secondFactors.putPasskey(realm.id, passkeyOf(a, 'z'));
      });
      expect(await use()).toEqual([true, true]);
      expect(await use(other.realm)).toEqual([false, false]);
    });
  });
}
