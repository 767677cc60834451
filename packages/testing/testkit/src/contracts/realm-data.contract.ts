import type { EventSeq, RealmId, UnitOfWork } from '@parley/domain/kernel';
import type { RemovalCursor } from '@parley/domain/realms';
import { aChannel, aMessage, anotherRealm, aRealm, aUser, createFixtureOn } from '../builders.js';
import { code, type OpenStorage, stagesOn } from './storage-under-test.js';

const PIECES = [
  aUser({ name: 'iago' }),
  aUser({ name: 'hamlet' }),
  aChannel({ name: 'denmark', subscribers: ['iago', 'hamlet'] }),
  ...Array.from({ length: 20 }, () => aMessage({ from: 'iago', to: 'denmark' })),
];

/** Removes the realm in steps of a few rows, `between` them and the realm itself; returns the number of steps. */
async function removeAll(uow: UnitOfWork, realmId: RealmId, between?: () => Promise<unknown>): Promise<number> {
  let steps = 0;
  for (let cursor: RemovalCursor | 'done' = null; cursor !== 'done'; steps++) {
    const from: RemovalCursor = cursor;
    cursor = await uow.write(realmId, (tx) => tx.realmData.removeSome(realmId, from, 7));
  }
  await between?.();
  await uow.write(realmId, (tx) => tx.realmData.removeRealm(realmId));
  return steps;
}

export function realmDataContract(open: OpenStorage): void {
  describe('realm data', () => {
    const stage = stagesOn(open);

    it('disappears completely and frees its string id', async () => {
      const { uow, clock, realm, user, messages } = await stage(...PIECES);
      await removeAll(uow, realm.id);
      await uow.read(realm.id, async (r) => {
        expect(await r.realms.list()).toEqual([]);
        await expect(r.realms.get(realm.id)).rejects.toEqual(code('UNKNOWN_REALM'));
        expect(await r.users.list(realm.id, [user('iago').id])).toEqual([]);
        expect(await r.users.listEntries(realm.id)).toEqual([]);
        expect(await r.channels.listAll(realm.id)).toEqual([]);
        expect(await r.groups.listNamed(realm.id)).toEqual([]);
        expect(await r.messages.list(realm.id, [messages[0]!.id])).toEqual([]);
      });
      const again = await createFixtureOn(uow, clock, aRealm({ stringId: realm.stringId }), ...PIECES);
      expect(again.realm.id).toBeGreaterThan(realm.id);
      expect(again.messages[0]!.id).toBeGreaterThan(messages.at(-1)!.id);
    });

    it('leaves other realms unchanged', async () => {
      const fixture = await stage(...PIECES);
      const other = await anotherRealm(
        fixture,
        aChannel({ name: 'ours', subscribers: ['otherRealmUser'] }),
        aMessage({ from: 'otherRealmUser', to: 'ours' }),
      );
      await removeAll(fixture.uow, fixture.realm.id);
      await fixture.uow.read(other.realm.id, async (r) => {
        expect(await r.realms.list()).toEqual([other.realm]);
        const realmId = other.realm.id;
        expect(await r.messages.list(realmId, [other.messages[0]!.id])).toEqual(other.messages);
        expect(await r.users.find(realmId, other.user('otherRealmUser').id)).toEqual(other.user('otherRealmUser'));
        expect(await r.personal.newestId(other.viewer('otherRealmUser'))).toBe(other.messages[0]!.id);
      });
    });

    it('disappears with the position that a consumer stores before the last step', async () => {
      const { uow, realm } = await stage(...PIECES);
      await uow.writeAcross((tx) => tx.consumers.add('sync', new Map()));
      await removeAll(uow, realm.id, () =>
        uow.writeAcross((tx) => tx.consumers.advance('sync', realm.id, 0, 7 as EventSeq)),
      );
      expect(await uow.readAcross((reads) => reads.realms.list())).toEqual([]);
      expect(await uow.readAcross((reads) => reads.consumers.findPositions('sync'))).toEqual(new Map());
    });

    it('can be removed repeatedly, even with nothing left', async () => {
      const { uow, realm } = await stage();
      await removeAll(uow, realm.id);
      expect(await removeAll(uow, realm.id)).toBe(1);
    });
  });
}
