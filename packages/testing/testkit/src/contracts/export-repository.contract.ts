import type { BlobKey } from '@parley/domain/files';
import type { UserId } from '@parley/domain/kernel';
import { anotherRealm } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const BLOB = 'a'.repeat(32) as BlobKey;
const EXPORT = { actingUserId: 3 as UserId, type: 'public', requestedAt: 7 } as const;

export function exportRepositoryContract(open: OpenStorage): void {
  describe('export repository', () => {
    const stage = stagesOn(open);

    it('finds exports by path and by the blob of a complete one', async () => {
      const fixture = await stage();
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture);
      await uow.writeAcross(async ({ exports }) => {
        const pending = { ...EXPORT, state: { status: 'pending' } } as const;
        const one = await exports.add({ ...pending, realmId: realm.id, pathId: 'one' });
        await exports.add({ ...pending, realmId: other.realm.id, pathId: 'foreign' });
        expect(await exports.findByPath(realm.id, 'one')).toEqual(one);
        expect(await exports.findByPath(realm.id, 'foreign')).toBeNull();
        const blobs = () => exports.filterBlobs([BLOB, 'b'.repeat(32) as BlobKey]);
        expect(await blobs()).toEqual(new Set());
        await exports.update({ ...one, state: { status: 'complete', blob: BLOB, size: 12 } });
        expect(await blobs()).toEqual(new Set([BLOB]));
        await exports.update({ ...one, state: { status: 'deleted', at: 20 } });
        expect(await blobs()).toEqual(new Set());
      });
    });
  });
}
