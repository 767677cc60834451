import type { BlobKey } from '@parley/domain/files';
import type { UserId } from '@parley/domain/kernel';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const BLOB = 'a'.repeat(32) as BlobKey;

export function personExportRepositoryContract(open: OpenStorage): void {
  describe('person export repository', () => {
    const stage = stagesOn(open);

    it('finds copies by the blob of a complete one', async () => {
      const { uow, realm } = await stage();
      await uow.writeAcross(async ({ personExports }) => {
        const pending = { personId: 4 as UserId, requestedAt: 7, blob: null, size: 0, failedAt: null };
        const copy = await personExports.add({ ...pending, realmId: realm.id, userId: 3 as UserId });
        const blobs = () => personExports.filterBlobs([BLOB, 'b'.repeat(32) as BlobKey]);
        expect(await blobs()).toEqual(new Set());
        await personExports.update({ ...copy, blob: BLOB, size: 12 });
        expect(await blobs()).toEqual(new Set([BLOB]));
      });
    });
  });
}
