import type { BlobKey, UnfinishedUpload, UnfinishedUploadRepository } from '@parley/domain/files';
import type { RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { Statements } from '../engine/statements.js';

interface UploadRow {
  readonly path_id: string;
  readonly realm_id: RealmId;
  readonly owner_id: UserId;
  readonly name: string;
  readonly claimed_type: string;
  readonly metadata: string;
  readonly size: number;
  readonly blob: BlobKey;
  readonly expires_at: UnixSeconds;
}

export class SqlUnfinishedUploadRepository implements UnfinishedUploadRepository {
  private readonly byPath;
  private readonly summary;
  private readonly expired;
  private readonly storedBlobs;
  private readonly insert;
  private readonly delete;

  constructor(private readonly connection: Statements) {
    const { indexedBy, inSet } = connection.dialect;
    this.byPath = connection.rows<UploadRow>('SELECT * FROM unfinished_upload WHERE path_id = ? AND realm_id = ?');
    this.summary = connection.rows<{ readonly count: number; readonly bytes: number }>(
      `SELECT count(*) AS count, coalesce(sum(size), 0) AS bytes FROM unfinished_upload
       ${indexedBy('unfinished_upload_by_owner')} WHERE realm_id = ? AND owner_id = ?`,
    );
    this.expired = connection.rows<UploadRow>(
      `SELECT * FROM unfinished_upload ${indexedBy('unfinished_upload_by_end')} WHERE expires_at < ?
       ORDER BY expires_at, path_id LIMIT ? + 0`,
    );
    this.storedBlobs = connection.values<BlobKey>(`SELECT blob FROM unfinished_upload WHERE blob ${inSet}`);
    this.insert = connection.command(
      `INSERT INTO unfinished_upload
         (path_id, realm_id, owner_id, name, claimed_type, metadata, size, blob, expires_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.delete = connection.command('DELETE FROM unfinished_upload WHERE path_id = ? AND realm_id = ?');
  }

  async find(realmId: RealmId, pathId: string): Promise<UnfinishedUpload | null> {
    const row = await this.byPath.get(pathId, realmId);
    return row ? toUpload(row) : null;
  }

  async summarize(realmId: RealmId, ownerId: UserId) {
    return await this.summary.one(realmId, ownerId);
  }

  async listExpired(before: UnixSeconds, limit: number): Promise<readonly UnfinishedUpload[]> {
    return (await this.expired.all(before, limit)).map(toUpload);
  }

  async filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>> {
    return new Set(await this.storedBlobs.all(this.connection.dialect.set(keys)));
  }

  async add(upload: UnfinishedUpload): Promise<void> {
    const { pathId, realmId, ownerId, name, claimedType, metadata, size, blob, expiresAt } = upload;
    this.insert.defer(pathId, realmId, ownerId, name, claimedType, metadata, size, blob, expiresAt);
  }

  async remove(realmId: RealmId, pathId: string): Promise<void> {
    this.delete.defer(pathId, realmId);
  }
}

const toUpload = (row: UploadRow): UnfinishedUpload => ({
  pathId: row.path_id,
  realmId: row.realm_id,
  ownerId: row.owner_id,
  name: row.name,
  claimedType: row.claimed_type,
  metadata: row.metadata,
  size: row.size,
  blob: row.blob,
  expiresAt: row.expires_at,
});
