import type { RealmExport } from '@parley/domain/exports';
import type { BlobKey } from '@parley/domain/files';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { idsOf, type OpenStorage, stagesOn } from './storage-under-test.js';

const BLOB = 'a'.repeat(32) as BlobKey;

export function exportRepositoryContract(open: OpenStorage): void {
  describe('export repository', () => {
    const stage = stagesOn(open);
    const add = ({ uow, realm, user }: Fixture, pathId: string, more: Partial<RealmExport> = {}) =>
      uow.writeAcross((tx) =>
        tx.exports.add({
          realmId: realm.id,
          actingUserId: user('a').id,
          type: 'public',
          requestedAt: 7,
          pathId,
          state: { status: 'pending' },
          ...more,
        }),
      );

    it('finds exports by id, by path and by realm, oldest first', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture);
      const one = await add(fixture, 'one', { type: 'withConsent' });
      const foreign = await add(fixture, 'foreign', { realmId: other.realm.id });
      const two = await add(fixture, 'two', { state: { status: 'failed', at: 9 } });
      await uow.readAcross(async ({ exports }) => {
        expect(await exports.find(realm.id, one.id)).toEqual(one);
        expect(await exports.find(realm.id, foreign.id)).toBeNull();
        expect(await exports.findByPath(realm.id, 'two')).toEqual(two);
        expect(await exports.findByPath(realm.id, 'foreign')).toBeNull();
        expect(await exports.findByPath(realm.id, 'none')).toBeNull();
        expect(await exports.list(realm.id)).toEqual([one, two]);
        expect(await exports.list(other.realm.id)).toEqual([foreign]);
      });
    });

    it('stores the state of an export and its blob', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture);
      const { id } = await add(fixture, 'one');
      const seen = () =>
        uow.read(realm.id, async ({ exports }) => [
          (await exports.find(realm.id, id))!.state,
          [...(await exports.filterBlobs([BLOB, 'b'.repeat(32) as BlobKey]))],
        ]);
      const change = (state: RealmExport['state'], realmId = realm.id) =>
        uow.write(realmId, (tx) => tx.exports.setState(realmId, id, state));
      const complete = { status: 'complete', blob: BLOB, size: 12 } as const;
      await change(complete, other.realm.id);
      expect(await seen()).toEqual([{ status: 'pending' }, []]);
      await change(complete);
      expect(await seen()).toEqual([complete, [BLOB]]);
      await change({ status: 'deleted', at: 20 });
      expect(await seen()).toEqual([{ status: 'deleted', at: 20 }, []]);
    });

    it("removes a realm's exports without reusing ids", async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture);
      const { id } = await add(fixture, 'one');
      const list = async () => idsOf(await uow.read(realm.id, ({ exports }) => exports.list(realm.id)));
      await uow.write(other.realm.id, (tx) => tx.exports.remove(other.realm.id, id));
      expect(await list()).toEqual([id]);
      await uow.write(realm.id, (tx) => tx.exports.remove(realm.id, id));
      expect(await list()).toEqual([]);
      expect((await add(fixture, 'two')).id).toBeGreaterThan(id);
    });
  });
}
