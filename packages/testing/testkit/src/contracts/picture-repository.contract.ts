import type { BlobKey, Picture, PictureName } from '@parley/domain/files';
import { anotherRealm } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const blobOf = (name: string): BlobKey => Buffer.from(name).toString('hex').padEnd(32, '0') as BlobKey;
const picture = (name: PictureName, blob: string, more: Partial<Picture> = {}): Picture => ({
  name,
  blob: blobOf(blob),
  size: 10,
  format: 'png',
  ...more,
});

export function pictureRepositoryContract(open: OpenStorage): void {
  describe('picture repository', () => {
    const stage = stagesOn(open);

    it('stores one picture per name and realm', async () => {
      const fixture = await stage();
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture);
      const first = picture('emoji/1', 'a', { size: 3, format: 'gif' });
      const second = picture('emoji/1', 'b');
      expect(await uow.write(realm.id, (tx) => tx.pictures.put(realm.id, first))).toBeNull();
      expect(
        await uow.write(other.realm.id, (tx) => tx.pictures.put(other.realm.id, picture('emoji/1', 'c'))),
      ).toBeNull();
      expect(await uow.read(realm.id, ({ pictures }) => pictures.find(realm.id, 'emoji/1'))).toEqual(first);
      expect(await uow.write(realm.id, (tx) => tx.pictures.put(realm.id, second))).toBe(blobOf('a'));
      expect(await uow.read(realm.id, ({ pictures }) => pictures.find(realm.id, 'emoji/1'))).toEqual(second);
      expect(await uow.read(realm.id, ({ pictures }) => pictures.find(realm.id, 'emoji/1/still'))).toBeNull();
    });

    it("removes a realm's pictures and returns blobs that are no longer referenced", async () => {
      const fixture = await stage();
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture);
      await uow.write(realm.id, (tx) => tx.pictures.put(realm.id, picture('emoji/1', 'a')));
      expect(await uow.write(other.realm.id, (tx) => tx.pictures.remove(other.realm.id, 'emoji/1'))).toBeNull();
      expect(await uow.write(realm.id, (tx) => tx.pictures.remove(realm.id, 'emoji/1'))).toBe(blobOf('a'));
      expect(await uow.write(realm.id, (tx) => tx.pictures.remove(realm.id, 'emoji/1'))).toBeNull();
    });

    it('removes a picture from one realm only', async () => {
      const fixture = await stage();
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture);
      for (const { id } of [realm, other.realm]) {
        await uow.write(id, (tx) => tx.pictures.put(id, picture('emoji/1', String(id))));
      }
      expect(await uow.write(realm.id, (tx) => tx.pictures.remove(realm.id, 'emoji/1'))).toBe(blobOf(String(realm.id)));
      const kept = picture('emoji/1', String(other.realm.id));
      expect(await uow.read(other.realm.id, ({ pictures }) => pictures.find(other.realm.id, 'emoji/1'))).toEqual(kept);
    });

    it("counts the bytes of the realm's pictures", async () => {
      const fixture = await stage();
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture);
      const used = () => uow.read(realm.id, ({ pictures }) => pictures.usedBytes(realm.id));
      expect(await used()).toBe(0);
      await uow.write(realm.id, (tx) => tx.pictures.put(realm.id, picture('emoji/1', 'a', { size: 3 })));
      await uow.write(realm.id, (tx) => tx.pictures.put(realm.id, picture('icon', 'b', { size: 4 })));
      await uow.write(other.realm.id, (tx) => tx.pictures.put(other.realm.id, picture('icon', 'c')));
      expect(await used()).toBe(7);
    });

    it('lists the blobs of all realms', async () => {
      const fixture = await stage();
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture);
      await uow.write(realm.id, (tx) => tx.pictures.put(realm.id, picture('emoji/1', 'a')));
      await uow.write(other.realm.id, (tx) => tx.pictures.put(other.realm.id, picture('emoji/2', 'b')));
      const known = (...names: string[]) => uow.readAcross(({ pictures }) => pictures.filterBlobs(names.map(blobOf)));
      expect(await known('a', 'b', 'c')).toEqual(new Set([blobOf('a'), blobOf('b')]));
      expect(await known()).toEqual(new Set());
    });
  });
}
