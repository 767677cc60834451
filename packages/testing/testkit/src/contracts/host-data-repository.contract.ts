import type { DataOwnerKind, DataOwnerRef, HostData, MessageId } from '@parley/domain/kernel';
import { aChannel, aMessage, anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const pieces = [
  aUser({ name: 'a' }),
  aUser({ name: 'b' }),
  aChannel({ name: 'general', subscribers: ['a', 'b'] }),
  aMessage({ from: 'a', to: 'general' }),
  aMessage({ from: 'a', to: 'general' }),
];

const ORDER: HostData = { data: { orderId: 7, tags: ['é', { deep: null }], text: '\0"' }, version: 1 };
const PAID: HostData = { data: { orderId: 7, paid: true }, version: 2 };

/** All owners with data in the fixture. */
const ownersIn = (fixture: Fixture): readonly DataOwnerRef[] => [
  { kind: 'message', id: idOf(fixture, 0) },
  { kind: 'channel', id: fixture.channel('general').id },
  { kind: 'user', id: fixture.user('a').id },
  { kind: 'realm', id: fixture.realm.id },
];
const idOf = (fixture: Fixture, index: number): MessageId => fixture.messages[index]!.id;
const put = (fixture: Fixture, owner: DataOwnerRef, data: HostData) =>
  fixture.uow.write(fixture.realm.id, (tx) => tx.hostData.put(fixture.realm.id, owner, data));
const list = (fixture: Fixture, kind: DataOwnerKind, ids: readonly number[], realmId = fixture.realm.id) =>
  fixture.uow.read(realmId, ({ hostData }) => hostData.list(realmId, kind, ids as never));
const shown = (fixture: Fixture, index: number) =>
  fixture.uow.read(
    fixture.realm.id,
    async ({ pages }) => (await pages.listViews(fixture.realm.id, [idOf(fixture, index)]))[0]!,
  );

export function hostDataRepositoryContract(open: OpenStorage): void {
  describe('host data repository', () => {
    const stage = stagesOn(open);

    it.each([0, 1, 2, 3])('returns and replaces the data of each kind of object (%d)', async (index) => {
      const fixture = await stage(...pieces);
      const owner = ownersIn(fixture)[index]!;
      const { kind, id } = owner;
      expect(await list(fixture, kind, [id])).toEqual(new Map());
      await put(fixture, owner, ORDER);
      expect(await list(fixture, kind, [id, id + 1000])).toEqual(new Map([[id, ORDER]]));
      await put(fixture, owner, PAID);
      expect(await list(fixture, kind, [id])).toEqual(new Map([[id, PAID]]));
    });

    it('distinguishes objects of different kinds and realms', async () => {
      const fixture = await stage(...pieces);
      const other = await anotherRealm(fixture);
      const owners = ownersIn(fixture);
      for (const [index, owner] of owners.entries()) await put(fixture, owner, { data: { index }, version: 1 });
      for (const [index, { kind, id }] of owners.entries()) {
        expect(await list(fixture, kind, [id])).toEqual(new Map([[id, { data: { index }, version: 1 }]]));
        expect(await list(fixture, kind, [id], other.realm.id)).toEqual(new Map());
      }
      expect(await list(fixture, 'message', [])).toEqual(new Map());
    });

    it('shows the data with the message, in a new version', async () => {
      const fixture = await stage(...pieces);
      const before = (await shown(fixture, 0)).message;
      expect(before.hasData).toBe(false);
      await put(fixture, { kind: 'message', id: idOf(fixture, 0) }, ORDER);
      const { message, hostData } = await shown(fixture, 0);
      expect({ message, hostData }).toEqual({
        message: { ...before, hasData: true, version: before.version + 1 },
        hostData: ORDER,
      });
      expect(await shown(fixture, 1)).not.toHaveProperty('hostData');
    });

    it('removes the data with the message and restores it from the archive', async () => {
      const fixture = await stage(...pieces);
      const { realm } = fixture;
      const ids = [idOf(fixture, 0)];
      await put(fixture, { kind: 'message', id: ids[0]! }, ORDER);
      await fixture.uow.write(realm.id, async (tx) => {
        await tx.archive.keep(realm.id, ids, { deletedAt: 1000, deletedBy: null });
        await tx.messages.remove(realm.id, ids);
      });
      expect(await list(fixture, 'message', ids)).toEqual(new Map());
      await fixture.uow.write(realm.id, (tx) => tx.archive.restore(realm.id, ids));
      expect((await shown(fixture, 0)).hostData).toEqual(ORDER);
    });
  });
}
