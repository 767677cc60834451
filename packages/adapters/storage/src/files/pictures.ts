import type { BlobKey, Picture, PictureName, PictureRepository } from '@parley/domain/files';
import type { RealmId } from '@parley/domain/kernel';
import type { StorageFeature } from '../engine/feature.js';
import { OF_ACCOUNT } from '../engine/personal-data.js';
import type { Statements } from '../engine/statements.js';

export class SqlPictureRepository implements PictureRepository {
  private readonly row;
  private readonly sumOfSizes;
  private readonly storedBlobs;
  private readonly upsert;
  private readonly delete;

  constructor(private readonly connection: Statements) {
    this.row = connection.rows<Picture>('SELECT name, blob, size, format FROM picture WHERE realm_id = ? AND name = ?');
    this.sumOfSizes = connection.values<number>('SELECT coalesce(sum(size), 0) FROM picture WHERE realm_id = ?');
    this.storedBlobs = connection.values<BlobKey>(`SELECT blob FROM picture WHERE blob ${connection.dialect.inSet}`);
    this.upsert = connection.command(
      `INSERT INTO picture (realm_id, name, blob, size, format) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (realm_id, name) DO UPDATE
       SET blob = excluded.blob, size = excluded.size, format = excluded.format`,
    );
    this.delete = connection.command('DELETE FROM picture WHERE realm_id = ? AND name = ?');
  }

  async find(realmId: RealmId, name: PictureName): Promise<Picture | null> {
    return (await this.row.get(realmId, name)) ?? null;
  }

  async usedBytes(realmId: RealmId): Promise<number> {
    return await this.sumOfSizes.one(realmId);
  }

  async filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>> {
    return new Set(await this.storedBlobs.all(this.connection.dialect.set(keys)));
  }

  async put(realmId: RealmId, { name, blob, size, format }: Picture): Promise<BlobKey | null> {
    const before = await this.row.get(realmId, name);
    this.upsert.defer(realmId, name, blob, size, format);
    return before?.blob ?? null;
  }

  async remove(realmId: RealmId, name: PictureName): Promise<BlobKey | null> {
    const before = await this.row.get(realmId, name);
    if (before) this.delete.defer(realmId, name);
    return before?.blob ?? null;
  }
}

const TABLES = `
-- Pictures made from uploaded images. Their bytes are in the blob store under the key blob.

CREATE TABLE picture (
  realm_id {int} NOT NULL REFERENCES realm (id),
  -- Subject of the picture.
  name {text} NOT NULL,
  blob {text} NOT NULL,
  size {int} NOT NULL,
  format {text} NOT NULL,
  PRIMARY KEY (realm_id, name)
) {withoutRowId};
CREATE UNIQUE INDEX picture_by_blob ON picture (blob);
`;

export const PICTURE_FEATURE = {
  schema: 'pictures',
  steps: { 1: TABLES },
  realmTables: ['picture'],
  persons: {
    picture: {
      data: 'Pictures, such as avatars',
      fate: OF_ACCOUNT,
      keep: { 'Uploaded avatars are deleted with the profile.': ['name', 'blob'] },
      other: ['format'],
    },
  },
  repositories: () => (connection) => ({ pictures: new SqlPictureRepository(connection) }),
} satisfies StorageFeature;
