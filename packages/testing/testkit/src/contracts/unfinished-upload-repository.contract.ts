import type { BlobKey, UnfinishedUpload } from '@parley/domain/files';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const pieces = [aUser({ name: 'a' }), aUser({ name: 'b' })];

const blobOf = (name: string): BlobKey => Buffer.from(name).toString('hex').padEnd(32, '0') as BlobKey;

const uploadOf = (fixture: Fixture, name: string, more: Partial<UnfinishedUpload> = {}): UnfinishedUpload => ({
  pathId: `2/ab/${name}`,
  realmId: fixture.realm.id,
  ownerId: fixture.user('a').id,
  name,
  claimedType: 'text/plain',
  metadata: 'filename eA==',
  size: 10,
  blob: blobOf(name),
  expiresAt: 500,
  ...more,
});

export function unfinishedUploadRepositoryContract(open: OpenStorage): void {
  describe('unfinished upload repository', () => {
    const stage = stagesOn(open);
    const add = async (fixture: Fixture, ...uploads: readonly UnfinishedUpload[]) => {
      for (const upload of uploads) await fixture.uow.write(upload.realmId, (tx) => tx.unfinishedUploads.add(upload));
    };

    it('finds uploads by path until removed', async () => {
      const fixture = await stage(...pieces);
      const { id: realmId } = fixture.realm;
      const [one, two] = [uploadOf(fixture, 'one'), uploadOf(fixture, 'two', { claimedType: '', metadata: '' })];
      await add(fixture, one, two);
      const find = (pathId: string) => fixture.uow.read(realmId, (r) => r.unfinishedUploads.find(realmId, pathId));
      expect([await find(one.pathId), await find(two.pathId), await find('none')]).toEqual([one, two, null]);
      await fixture.uow.write(realmId, (tx) => tx.unfinishedUploads.remove(realmId, one.pathId));
      await fixture.uow.write(realmId, (tx) => tx.unfinishedUploads.remove(realmId, 'none'));
      expect([await find(one.pathId), await find(two.pathId)]).toEqual([null, two]);
    });

    it("counts a user's uploads and their final bytes", async () => {
      const fixture = await stage(...pieces);
      const { id: b } = fixture.user('b');
      await add(
        fixture,
        uploadOf(fixture, 'one', { size: 5 }),
        uploadOf(fixture, 'two', { size: 7 }),
        uploadOf(fixture, 'other', { size: 100, ownerId: b }),
      );
      const summarize = (ownerId: typeof b) =>
        fixture.uow.read(fixture.realm.id, (r) => r.unfinishedUploads.summarize(fixture.realm.id, ownerId));
      expect(await summarize(fixture.user('a').id)).toEqual({ count: 2, bytes: 12 });
      expect(await summarize(b)).toEqual({ count: 1, bytes: 100 });
      expect(await summarize((b + 1) as typeof b)).toEqual({ count: 0, bytes: 0 });
    });

    it('lists expired uploads, longest expired first', async () => {
      const fixture = await stage(...pieces);
      const [one, two] = [uploadOf(fixture, 'one', { expiresAt: 300 }), uploadOf(fixture, 'two', { expiresAt: 200 })];
      await add(fixture, one, two, uploadOf(fixture, 'later'));
      const list = (before: number, limit = 9) =>
        fixture.uow.readAcross((r) => r.unfinishedUploads.listExpired(before, limit));
      expect(await list(200)).toEqual([]);
      expect(await list(301)).toEqual([two, one]);
      expect(await list(301, 1)).toEqual([two]);
    });

    it('isolates realms except for the use of blobs', async () => {
      const fixture = await stage(...pieces);
      const one = uploadOf(fixture, 'one');
      await add(fixture, one);
      const { realm } = await anotherRealm(fixture);
      await fixture.uow.writeAcross(async (tx) => {
        await tx.unfinishedUploads.remove(realm.id, one.pathId);
        expect(await tx.unfinishedUploads.find(realm.id, one.pathId)).toBeNull();
        expect(await tx.unfinishedUploads.summarize(realm.id, one.ownerId)).toEqual({ count: 0, bytes: 0 });
        expect(await tx.unfinishedUploads.filterBlobs([one.blob, blobOf('x')])).toEqual(new Set([one.blob]));
        expect(await tx.unfinishedUploads.find(fixture.realm.id, one.pathId)).toEqual(one);
      });
    });
  });
}
