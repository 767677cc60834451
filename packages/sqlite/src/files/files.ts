import type {
  AttachedFile,
  BlobKey,
  FileImage,
  FileRepository,
  FileSpace,
  NewFile,
  StoredFile,
  StoredThumbnail,
  UnfinishedUpload,
  UnfinishedUploadRepository,
} from '@parley/domain/files';
import type { FileId, MessageId, RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import { idList, jsonList, toFlag } from '@parley/storage';
import { type Connection, LIMIT } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';

interface FileRow {
  readonly id: FileId;
  readonly realm_id: RealmId;
  readonly owner_id: UserId;
  readonly name: string;
  readonly path_id: string;
  readonly blob: BlobKey;
  readonly size: number;
  readonly content_type: string;
  readonly created_at: UnixSeconds;
  /** Null for non-images, like all image columns. */
  readonly width: number | null;
  readonly height: number | null;
  readonly is_animated: number | null;
  readonly thumbnail: FileImage['thumbnail'] | null;
}

interface AttachedRow extends FileRow {
  readonly message_ids: string;
}

const LISTED = 'IN (SELECT value FROM json_each(?))';
const COLUMNS = 'f.*, i.width, i.height, i.is_animated, i.thumbnail';
const IMAGE = 'LEFT JOIN file_image i ON i.file_id = f.id';
const FILE = `${COLUMNS} FROM file f ${IMAGE}`;
const ATTACHED = `${COLUMNS}, (SELECT json_group_array(message_id) FROM message_file WHERE file_id = f.id) AS message_ids`;

export class SqliteFileRepository implements FileRepository {
  private readonly byId;
  private readonly byPath;
  private readonly ofOwner;
  private readonly attachedById;
  private readonly idsOfMessage;
  private readonly idsOfMessages;
  private readonly spaceOfOwner;
  private readonly pendingOfOwner;
  private readonly used;
  private readonly storedBlobs;
  private readonly unreferenced;
  private readonly insert;
  private readonly changeSpace;
  private readonly refer;
  private readonly markAttached;
  private readonly unrefer;
  private readonly unreferAll;
  private readonly markUnreferenced;
  private readonly setUnreferenced;
  private readonly forgetMessages;
  private readonly delete;
  private readonly thumbnailsOf;
  private readonly awaiting;
  private readonly putImage;
  private readonly insertThumbnail;
  private readonly await;
  private readonly stopAwaiting;

  constructor(connection: Connection) {
    this.byId = connection.rows<FileRow>(`SELECT ${FILE} WHERE f.id = ? AND f.realm_id = ?`);
    this.byPath = connection.rows<FileRow>(`SELECT ${FILE} WHERE f.path_id ${LISTED} AND f.realm_id = ? ORDER BY f.id`);
    this.ofOwner = connection.rows<AttachedRow>(
      `SELECT ${ATTACHED} FROM file f INDEXED BY file_by_owner ${IMAGE}
       WHERE f.owner_id = ? AND f.id > ? AND f.realm_id = ? ORDER BY f.id ${LIMIT}`,
    );
    this.attachedById = connection.rows<AttachedRow>(
      `SELECT ${ATTACHED} FROM file f ${IMAGE} WHERE f.id ${LISTED} AND f.realm_id = ? ORDER BY f.id`,
    );
    this.idsOfMessage = connection.values<FileId>(
      `SELECT f.id FROM message_file m CROSS JOIN file f ON f.id = m.file_id
       WHERE m.message_id = ? AND f.realm_id = ? ORDER BY f.id`,
    );
    this.idsOfMessages = connection.values<FileId>(
      `SELECT DISTINCT f.id FROM message_file m CROSS JOIN file f ON f.id = m.file_id
       WHERE m.message_id ${LISTED} AND f.realm_id = ? ORDER BY f.id`,
    );
    this.spaceOfOwner = connection.rows<FileSpace>(
      `SELECT count(*) AS count, coalesce(sum(size), 0) AS bytes FROM file INDEXED BY file_by_owner
       WHERE owner_id = ? AND realm_id = ?`,
    );
    this.pendingOfOwner = connection.rows<FileRow>(
      `SELECT ${COLUMNS} FROM file f INDEXED BY file_by_owner CROSS JOIN file_image i ON i.file_id = f.id
       WHERE f.owner_id = ? AND f.id >= ? AND f.realm_id = ? AND i.thumbnail = 'pending' ORDER BY f.id LIMIT 1`,
    );
    this.used = connection.values<number>('SELECT bytes FROM file_space WHERE realm_id = ?');
    this.storedBlobs = connection.values<BlobKey>(
      `SELECT blob FROM file WHERE blob ${LISTED} UNION ALL SELECT blob FROM thumbnail WHERE blob ${LISTED}`,
    );
    this.unreferenced = connection.rows<FileRow>(
      `SELECT ${COLUMNS} FROM file f INDEXED BY unreferenced_file ${IMAGE}
       WHERE f.was_attached = ? AND f.unreferenced_since < ? ORDER BY f.unreferenced_since, f.id ${LIMIT}`,
    );
    this.insert = connection.command(
      `INSERT INTO file (realm_id, owner_id, name, path_id, blob, size, content_type, created_at, unreferenced_since)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.changeSpace = connection.command(
      `INSERT INTO file_space (realm_id, bytes) VALUES (?, ?)
       ON CONFLICT (realm_id) DO UPDATE SET bytes = bytes + excluded.bytes`,
    );
    this.refer = connection.command(
      `INSERT OR IGNORE INTO message_file (message_id, file_id) SELECT ?, id FROM file WHERE id ${LISTED} AND realm_id = ?`,
    );
    this.markAttached = connection.command(
      `UPDATE file SET was_attached = 1, unreferenced_since = NULL WHERE id ${LISTED} AND realm_id = ?`,
    );
    this.unrefer = connection.command(`DELETE FROM message_file WHERE message_id = ? AND file_id ${LISTED}`);
    this.unreferAll = connection.command(`DELETE FROM message_file WHERE message_id ${LISTED}`);
    this.markUnreferenced = connection.command(
      `UPDATE file SET unreferenced_since = ? WHERE id ${LISTED} AND realm_id = ?
         AND NOT EXISTS (SELECT 1 FROM message_file WHERE file_id = file.id)`,
    );
    this.setUnreferenced = connection.command('UPDATE file SET unreferenced_since = ? WHERE id = ? AND realm_id = ?');
    this.forgetMessages = connection.command('DELETE FROM message_file WHERE file_id = ?');
    this.delete = connection.command('DELETE FROM file WHERE id = ? AND realm_id = ?');
    this.thumbnailsOf = connection.rows<StoredThumbnail>(
      `SELECT t.name, t.blob, t.size FROM file f CROSS JOIN thumbnail t ON t.file_id = f.id
       WHERE f.id = ? AND f.realm_id = ? ORDER BY t.name`,
    );
    this.awaiting = connection.values<MessageId>(
      `SELECT a.message_id FROM file f CROSS JOIN awaited_thumbnail a ON a.file_id = f.id
       WHERE f.id = ? AND f.realm_id = ? ORDER BY a.message_id ${LIMIT}`,
    );
    this.putImage = connection.command(
      `INSERT INTO file_image (file_id, width, height, is_animated, thumbnail)
       SELECT id, ?, ?, ?, ? FROM file WHERE id = ? AND realm_id = ?
       ON CONFLICT (file_id) DO UPDATE SET width = excluded.width, height = excluded.height,
         is_animated = excluded.is_animated, thumbnail = excluded.thumbnail`,
    );
    this.insertThumbnail = connection.command(
      `INSERT OR REPLACE INTO thumbnail (file_id, name, blob, size)
       SELECT id, ?, ?, ? FROM file WHERE id = ? AND realm_id = ?`,
    );
    this.await = connection.command(
      `INSERT OR IGNORE INTO awaited_thumbnail (file_id, message_id)
       SELECT id, ? FROM file WHERE id ${LISTED} AND realm_id = ?`,
    );
    this.stopAwaiting = connection.command(
      `DELETE FROM awaited_thumbnail WHERE file_id = (SELECT id FROM file WHERE id = ? AND realm_id = ?)
         AND message_id ${LISTED}`,
    );
  }

  async find(realmId: RealmId, id: FileId): Promise<StoredFile | null> {
    const row = this.byId.get(id, realmId);
    return row ? toFile(row) : null;
  }

  async listByPath(realmId: RealmId, pathIds: readonly string[]): Promise<readonly StoredFile[]> {
    return this.byPath.all(jsonList(pathIds), realmId).map(toFile);
  }

  async list(realmId: RealmId, ownerId: UserId, after: number, limit: number): Promise<readonly AttachedFile[]> {
    return this.ofOwner.all(ownerId, after, realmId, limit).map(toAttached);
  }

  async listAttached(realmId: RealmId, ids: readonly FileId[]): Promise<readonly AttachedFile[]> {
    return this.attachedById.all(jsonList(ids), realmId).map(toAttached);
  }

  async listIdsOfMessage(realmId: RealmId, messageId: MessageId): Promise<readonly FileId[]> {
    return this.idsOfMessage.all(messageId, realmId);
  }

  async spaceOf(realmId: RealmId, ownerId: UserId): Promise<FileSpace> {
    return this.spaceOfOwner.get(ownerId, realmId)!;
  }

  async findPendingImage(realmId: RealmId, ownerId: UserId, from: FileId): Promise<StoredFile | null> {
    const row = this.pendingOfOwner.get(ownerId, from, realmId);
    return row ? toFile(row) : null;
  }

  async usedBytes(realmId: RealmId): Promise<number> {
    return this.used.get(realmId) ?? 0;
  }

  async filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>> {
    const list = jsonList(keys);
    return new Set(this.storedBlobs.all(list, list));
  }

  async listUnreferenced(wasAttached: boolean, before: UnixSeconds, limit: number): Promise<readonly StoredFile[]> {
    return this.unreferenced.all(toFlag(wasAttached), before, limit).map(toFile);
  }

  async add(file: NewFile): Promise<StoredFile> {
    const { realmId, ownerId, name, pathId, blob, size, contentType, createdAt } = file;
    const { lastInsertRowid } = this.insert.run(
      realmId,
      ownerId,
      name,
      pathId,
      blob,
      size,
      contentType,
      createdAt,
      createdAt,
    );
    this.changeSpace.run(realmId, size);
    const id = Number(lastInsertRowid) as FileId;
    if (file.image) await this.setImage(realmId, id, file.image, []);
    return { id, ...file };
  }

  async listThumbnails(realmId: RealmId, id: FileId): Promise<readonly StoredThumbnail[]> {
    return this.thumbnailsOf.all(id, realmId);
  }

  async listAwaiting(realmId: RealmId, id: FileId, limit: number): Promise<readonly MessageId[]> {
    return this.awaiting.all(id, realmId, limit);
  }

  async setImage(
    realmId: RealmId,
    id: FileId,
    { width, height, isAnimated, thumbnail }: FileImage,
    thumbnails: readonly StoredThumbnail[],
  ): Promise<void> {
    this.putImage.run(width, height, toFlag(isAnimated), thumbnail, id, realmId);
    for (const { name, blob, size } of thumbnails) this.insertThumbnail.run(name, blob, size, id, realmId);
  }

  async awaitThumbnails(realmId: RealmId, messageId: MessageId, ids: readonly FileId[]): Promise<void> {
    this.await.run(messageId, jsonList(ids), realmId);
  }

  async endAwaiting(realmId: RealmId, id: FileId, messageIds: readonly MessageId[]): Promise<void> {
    this.stopAwaiting.run(id, realmId, jsonList(messageIds));
  }

  async attach(realmId: RealmId, messageId: MessageId, ids: readonly FileId[]): Promise<void> {
    const list = jsonList(ids);
    this.refer.run(messageId, list, realmId);
    this.markAttached.run(list, realmId);
  }

  async detach(realmId: RealmId, messageId: MessageId, ids: readonly FileId[], at: UnixSeconds): Promise<void> {
    const attached = new Set(this.idsOfMessage.all(messageId, realmId));
    const list = jsonList(ids.filter((id) => attached.has(id)));
    this.unrefer.run(messageId, list);
    this.markUnreferenced.run(at, list, realmId);
  }

  async detachAll(realmId: RealmId, messageIds: readonly MessageId[], at: UnixSeconds): Promise<readonly FileId[]> {
    const messages = jsonList(messageIds);
    const ids = this.idsOfMessages.all(messages, realmId);
    // Most messages have no uploads.
    if (ids.length === 0) return ids;
    this.unreferAll.run(messages);
    this.markUnreferenced.run(at, jsonList(ids), realmId);
    return ids;
  }

  async postpone(realmId: RealmId, id: FileId, at: UnixSeconds): Promise<void> {
    this.setUnreferenced.run(at, id, realmId);
  }

  async remove(realmId: RealmId, id: FileId): Promise<void> {
    const file = this.byId.get(id, realmId);
    if (!file) return;
    this.forgetMessages.run(id);
    this.delete.run(id, realmId);
    this.changeSpace.run(realmId, -file.size);
  }
}

const toFile = (row: FileRow): StoredFile => ({
  id: row.id,
  realmId: row.realm_id,
  ownerId: row.owner_id,
  name: row.name,
  pathId: row.path_id,
  blob: row.blob,
  size: row.size,
  contentType: row.content_type,
  createdAt: row.created_at,
  image: toImage(row),
});

const toImage = ({ width, height, is_animated, thumbnail }: FileRow): FileImage | null =>
  width === null || height === null || thumbnail === null
    ? null
    : { width, height, isAnimated: is_animated === 1, thumbnail };

const toAttached = (row: AttachedRow): AttachedFile => ({ ...toFile(row), messageIds: idList(row.message_ids) });

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

export class SqliteUnfinishedUploadRepository implements UnfinishedUploadRepository {
  private readonly byPath;
  private readonly summary;
  private readonly expired;
  private readonly storedBlobs;
  private readonly insert;
  private readonly delete;

  constructor(connection: Connection) {
    this.byPath = connection.rows<UploadRow>('SELECT * FROM unfinished_upload WHERE path_id = ? AND realm_id = ?');
    this.summary = connection.rows<{ readonly count: number; readonly bytes: number }>(
      `SELECT count(*) AS count, coalesce(sum(size), 0) AS bytes FROM unfinished_upload
       INDEXED BY unfinished_upload_by_owner WHERE realm_id = ? AND owner_id = ?`,
    );
    this.expired = connection.rows<UploadRow>(
      `SELECT * FROM unfinished_upload INDEXED BY unfinished_upload_by_end WHERE expires_at < ?
       ORDER BY expires_at, path_id ${LIMIT}`,
    );
    this.storedBlobs = connection.values<BlobKey>(
      'SELECT blob FROM unfinished_upload WHERE blob IN (SELECT value FROM json_each(?))',
    );
    this.insert = connection.command(
      `INSERT INTO unfinished_upload
         (path_id, realm_id, owner_id, name, claimed_type, metadata, size, blob, expires_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.delete = connection.command('DELETE FROM unfinished_upload WHERE path_id = ? AND realm_id = ?');
  }

  async find(realmId: RealmId, pathId: string): Promise<UnfinishedUpload | null> {
    const row = this.byPath.get(pathId, realmId);
    return row ? toUpload(row) : null;
  }

  async summarize(realmId: RealmId, ownerId: UserId) {
    return this.summary.get(realmId, ownerId)!;
  }

  async listExpired(before: UnixSeconds, limit: number): Promise<readonly UnfinishedUpload[]> {
    return this.expired.all(before, limit).map(toUpload);
  }

  async filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>> {
    return new Set(this.storedBlobs.all(jsonList(keys)));
  }

  async add(upload: UnfinishedUpload): Promise<void> {
    const { pathId, realmId, ownerId, name, claimedType, metadata, size, blob, expiresAt } = upload;
    this.insert.run(pathId, realmId, ownerId, name, claimedType, metadata, size, blob, expiresAt);
  }

  async remove(realmId: RealmId, pathId: string): Promise<void> {
    this.delete.run(pathId, realmId);
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

export const FILE_FEATURE = {
  schema: 'files',
  realmTables: ['unfinished_upload', 'file', 'file_space'],
  notExported: {
    file_space: 'Sums are computed from the files.',
    unfinished_upload: 'Uploads are finished where they began.',
  },
  repositories: () => (connection) => ({
    files: new SqliteFileRepository(connection),
    unfinishedUploads: new SqliteUnfinishedUploadRepository(connection),
  }),
} satisfies SqliteFeature;
