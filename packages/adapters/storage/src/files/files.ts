import {
  type AttachedFile,
  type BlobKey,
  type FileImage,
  type FileRepository,
  type FileSpace,
  HIDDEN,
  MAX_READ_BYTES,
  type NewFile,
  type StoredFile,
  type StoredThumbnail,
} from '@parley/domain/files';
import type { FileId, MessageId, RealmId, Seed, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { StorageFeature } from '../engine/feature.js';
import { EXPIRES, OF_ACCOUNT } from '../engine/personal-data.js';
import { toFlag } from '../engine/rows.js';
import { newSeed } from '../engine/seeds.js';
import type { Statements } from '../engine/statements.js';
import { FORMER_REFERENCES, SEEDS, TABLES } from './file-tables.js';
import {
  FILE_TEXT_PERSONS,
  FILE_TEXT_TABLES,
  INDEX_WITHOUT_SOFT_HYPHENS,
  READ_FILES_AGAIN,
  READ_FILES_IN_TURN,
  SqlFileTextRepository,
} from './file-texts.js';
import { SqlUnfinishedUploadRepository } from './unfinished-uploads.js';

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
  readonly seed: Seed;
  /** Null for non-images, like all image columns. */
  readonly width: number | null;
  readonly height: number | null;
  readonly is_animated: number | null;
  readonly thumbnail: FileImage['thumbnail'] | null;
}

interface AttachedRow extends FileRow {
  /** Comma-separated, ascending. */
  readonly message_ids: string | null;
}

const COLUMNS = 'f.*, i.width, i.height, i.is_animated, i.thumbnail';
const IMAGE = 'LEFT JOIN file_image i ON i.file_id = f.id';
const FILE = `${COLUMNS} FROM file f ${IMAGE}`;
const ATTACHED = `${COLUMNS}, (
  SELECT string_agg(CAST(message_id AS TEXT), ',' ORDER BY message_id) FROM message_file WHERE file_id = f.id) AS message_ids`;

export class SqlFileRepository implements FileRepository {
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
  private readonly across;
  private readonly insert;
  private readonly changeSpace;
  private readonly queueText;
  private readonly refer;
  private readonly markAttached;
  private readonly noteFormer;
  private readonly noteAllFormer;
  private readonly noteFormerOfFile;
  private readonly hideFile;
  private readonly renewOwner;
  private readonly renewBlob;
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

  constructor(private readonly connection: Statements) {
    const { indexedBy, inSet } = connection.dialect;
    this.byId = connection.rows<FileRow>(`SELECT ${FILE} WHERE f.id = ? AND f.realm_id = ?`);
    this.byPath = connection.rows<FileRow>(
      `SELECT ${FILE} WHERE f.path_id ${inSet} AND f.realm_id = ? AND f.owner_id <> ${HIDDEN} ORDER BY f.id`,
    );
    this.ofOwner = connection.rows<AttachedRow>(
      `SELECT ${ATTACHED} FROM file f ${indexedBy('file_by_owner')} ${IMAGE}
       WHERE f.owner_id = ? AND f.id > ? AND f.realm_id = ? ORDER BY f.id LIMIT ? + 0`,
    );
    this.attachedById = connection.rows<AttachedRow>(
      `SELECT ${ATTACHED} FROM file f ${IMAGE} WHERE f.id ${inSet} AND f.realm_id = ? ORDER BY f.id`,
    );
    this.idsOfMessage = connection.values<FileId>(
      `SELECT f.id FROM message_file m CROSS JOIN file f
       WHERE f.id = m.file_id AND m.message_id = ? AND f.realm_id = ? ORDER BY f.id`,
    );
    this.idsOfMessages = connection.values<FileId>(
      `SELECT DISTINCT f.id FROM message_file m CROSS JOIN file f
       WHERE f.id = m.file_id AND m.message_id ${inSet} AND f.realm_id = ? ORDER BY f.id`,
    );
    this.spaceOfOwner = connection.rows<FileSpace>(
      `SELECT count(*) AS count, coalesce(sum(size), 0) AS bytes FROM file ${indexedBy('file_by_owner')}
       WHERE owner_id = ? AND realm_id = ?`,
    );
    this.pendingOfOwner = connection.rows<FileRow>(
      `SELECT ${COLUMNS} FROM file f ${indexedBy('file_by_owner')} CROSS JOIN file_image i
       WHERE i.file_id = f.id AND f.owner_id = ? AND f.id >= ? AND f.realm_id = ? AND i.thumbnail = 'pending' ORDER BY f.id LIMIT 1`,
    );
    this.used = connection.values<number>('SELECT bytes FROM file_space WHERE realm_id = ?');
    this.storedBlobs = connection.values<BlobKey>(
      `SELECT blob FROM file WHERE blob ${inSet} UNION ALL SELECT blob FROM thumbnail WHERE blob ${inSet}`,
    );
    this.unreferenced = connection.rows<FileRow>(
      `SELECT ${COLUMNS} FROM file f ${indexedBy('unreferenced_file')} ${IMAGE}
       WHERE f.was_attached = ? AND f.unreferenced_since < ? ORDER BY f.unreferenced_since, f.id LIMIT ? + 0`,
    );
    this.across = connection.rows<FileRow>(`SELECT ${FILE} WHERE f.id > ? ORDER BY f.id LIMIT ? + 0`);
    this.insert = connection.values<FileId>(
      `INSERT INTO file (realm_id, owner_id, name, path_id, blob, size, content_type, created_at, unreferenced_since,
                         seed)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
    );
    this.queueText = connection.command('INSERT INTO file_to_read (file_id, realm_id, attempts) VALUES (?, ?, 0)');
    this.changeSpace = connection.command(
      `INSERT INTO file_space (realm_id, bytes) VALUES (?, ?)
       ON CONFLICT (realm_id) DO UPDATE SET bytes = file_space.bytes + excluded.bytes`,
    );
    this.refer = connection.command(
      `INSERT INTO message_file (message_id, file_id) SELECT ?, id FROM file WHERE id ${inSet} AND realm_id = ?
       ON CONFLICT DO NOTHING`,
    );
    this.markAttached = connection.command(
      `UPDATE file SET was_attached = 1, unreferenced_since = NULL WHERE id ${inSet} AND realm_id = ?`,
    );
    const noteFormer = (condition: string) =>
      connection.command(
        `INSERT INTO former_message_file (file_id, message_id) SELECT file_id, message_id FROM message_file
         WHERE ${condition} ON CONFLICT DO NOTHING`,
      );
    this.noteFormer = noteFormer(`message_id = ? AND file_id ${inSet}`);
    this.noteAllFormer = noteFormer(`message_id ${inSet}`);
    this.noteFormerOfFile = noteFormer('file_id = ?');
    this.hideFile = connection.command(
      `UPDATE file SET owner_id = ${HIDDEN}, was_attached = 1, unreferenced_since = ? WHERE id = ? AND realm_id = ?`,
    );
    this.renewBlob = connection.command('UPDATE file SET blob = ? WHERE id = ? AND realm_id = ?');
    this.renewOwner = connection.command(`UPDATE file SET owner_id = ? WHERE id ${inSet} AND realm_id = ?`);
    this.unrefer = connection.command(`DELETE FROM message_file WHERE message_id = ? AND file_id ${inSet}`);
    this.unreferAll = connection.command(`DELETE FROM message_file WHERE message_id ${inSet}`);
    this.markUnreferenced = connection.command(
      `UPDATE file SET unreferenced_since = ? WHERE id ${inSet} AND realm_id = ?
         AND NOT EXISTS (SELECT 1 FROM message_file WHERE file_id = file.id)`,
    );
    this.setUnreferenced = connection.command('UPDATE file SET unreferenced_since = ? WHERE id = ? AND realm_id = ?');
    this.forgetMessages = connection.command('DELETE FROM message_file WHERE file_id = ?');
    this.delete = connection.command('DELETE FROM file WHERE id = ? AND realm_id = ?');
    this.thumbnailsOf = connection.rows<StoredThumbnail>(
      `SELECT t.name, t.blob, t.size FROM file f CROSS JOIN thumbnail t
       WHERE t.file_id = f.id AND f.id = ? AND f.realm_id = ? ORDER BY t.name`,
    );
    this.awaiting = connection.values<MessageId>(
      `SELECT a.message_id FROM file f CROSS JOIN awaited_thumbnail a
       WHERE a.file_id = f.id AND f.id = ? AND f.realm_id = ? ORDER BY a.message_id LIMIT ? + 0`,
    );
    this.putImage = connection.command(
      `INSERT INTO file_image (file_id, width, height, is_animated, thumbnail)
       SELECT id, ?, ?, ?, ? FROM file WHERE id = ? AND realm_id = ?
       ON CONFLICT (file_id) DO UPDATE SET width = excluded.width, height = excluded.height,
         is_animated = excluded.is_animated, thumbnail = excluded.thumbnail`,
    );
    this.insertThumbnail = connection.command(
      `INSERT INTO thumbnail (file_id, name, blob, size)
       SELECT id, ?, ?, ? FROM file WHERE id = ? AND realm_id = ?
       ON CONFLICT (file_id, name) DO UPDATE SET blob = excluded.blob, size = excluded.size`,
    );
    this.await = connection.command(
      `INSERT INTO awaited_thumbnail (file_id, message_id)
       SELECT id, ? FROM file WHERE id ${inSet} AND realm_id = ?
       ON CONFLICT DO NOTHING`,
    );
    this.stopAwaiting = connection.command(
      `DELETE FROM awaited_thumbnail WHERE file_id = (SELECT id FROM file WHERE id = ? AND realm_id = ?)
         AND message_id ${inSet}`,
    );
  }

  async find(realmId: RealmId, id: FileId): Promise<StoredFile | null> {
    const row = await this.byId.get(id, realmId);
    return row ? toFile(row) : null;
  }

  async listByPath(realmId: RealmId, pathIds: readonly string[]): Promise<readonly StoredFile[]> {
    return (await this.byPath.all(this.connection.dialect.set(pathIds), realmId)).map(toFile);
  }

  async list(realmId: RealmId, ownerId: UserId, after: number, limit: number): Promise<readonly AttachedFile[]> {
    return (await this.ofOwner.all(ownerId, after, realmId, limit)).map(toAttached);
  }

  async listAttached(realmId: RealmId, ids: readonly FileId[]): Promise<readonly AttachedFile[]> {
    return (await this.attachedById.all(this.connection.dialect.set(ids), realmId)).map(toAttached);
  }

  async listIdsOfMessage(realmId: RealmId, messageId: MessageId): Promise<readonly FileId[]> {
    return await this.idsOfMessage.all(messageId, realmId);
  }

  async spaceOf(realmId: RealmId, ownerId: UserId): Promise<FileSpace> {
    return await this.spaceOfOwner.one(ownerId, realmId);
  }

  async findPendingImage(realmId: RealmId, ownerId: UserId, from: FileId): Promise<StoredFile | null> {
    const row = await this.pendingOfOwner.get(ownerId, from, realmId);
    return row ? toFile(row) : null;
  }

  async usedBytes(realmId: RealmId): Promise<number> {
    return (await this.used.get(realmId)) ?? 0;
  }

  async filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>> {
    const blobs = this.connection.dialect.set(keys);
    return new Set(await this.storedBlobs.all(blobs, blobs));
  }

  async listUnreferenced(wasAttached: boolean, before: UnixSeconds, limit: number): Promise<readonly StoredFile[]> {
    return (await this.unreferenced.all(toFlag(wasAttached), before, limit)).map(toFile);
  }

  async add(file: NewFile): Promise<StoredFile> {
    const { realmId, ownerId, name, pathId, blob, size, contentType, createdAt } = file;
    const seed = newSeed();
    const times = [createdAt, createdAt] as const;
    const id = await this.insert.one(realmId, ownerId, name, pathId, blob, size, contentType, ...times, seed);
    this.changeSpace.defer(realmId, size);
    if (size <= MAX_READ_BYTES) this.queueText.defer(id, realmId);
    if (file.image) await this.setImage(realmId, id, file.image, []);
    return { ...file, id, seed };
  }

  async listAcross(after: number, limit: number): Promise<readonly StoredFile[]> {
    return (await this.across.all(after, limit)).map(toFile);
  }

  async setBlob(realmId: RealmId, id: FileId, blob: BlobKey): Promise<void> {
    this.renewBlob.defer(blob, id, realmId);
  }

  async listThumbnails(realmId: RealmId, id: FileId): Promise<readonly StoredThumbnail[]> {
    return await this.thumbnailsOf.all(id, realmId);
  }

  async listAwaiting(realmId: RealmId, id: FileId, limit: number): Promise<readonly MessageId[]> {
    return await this.awaiting.all(id, realmId, limit);
  }

  async setImage(
    realmId: RealmId,
    id: FileId,
    { width, height, isAnimated, thumbnail }: FileImage,
    thumbnails: readonly StoredThumbnail[],
  ): Promise<void> {
    this.putImage.defer(width, height, toFlag(isAnimated), thumbnail, id, realmId);
    for (const { name, blob, size } of thumbnails) this.insertThumbnail.defer(name, blob, size, id, realmId);
  }

  async awaitThumbnails(realmId: RealmId, messageId: MessageId, ids: readonly FileId[]): Promise<void> {
    this.await.defer(messageId, this.connection.dialect.set(ids), realmId);
  }

  async endAwaiting(realmId: RealmId, id: FileId, messageIds: readonly MessageId[]): Promise<void> {
    this.stopAwaiting.defer(id, realmId, this.connection.dialect.set(messageIds));
  }

  async attach(realmId: RealmId, messageId: MessageId, ids: readonly FileId[]): Promise<void> {
    const list = this.connection.dialect.set(ids);
    this.refer.defer(messageId, list, realmId);
    this.markAttached.defer(list, realmId);
  }

  async detach(realmId: RealmId, messageId: MessageId, ids: readonly FileId[], at: UnixSeconds): Promise<void> {
    const attached = new Set(await this.idsOfMessage.all(messageId, realmId));
    const list = this.connection.dialect.set(ids.filter((id) => attached.has(id)));
    this.noteFormer.defer(messageId, list);
    this.unrefer.defer(messageId, list);
    this.markUnreferenced.defer(at, list, realmId);
  }

  async detachAll(realmId: RealmId, messageIds: readonly MessageId[], at: UnixSeconds): Promise<readonly FileId[]> {
    const messages = this.connection.dialect.set(messageIds);
    const ids = await this.idsOfMessages.all(messages, realmId);
    // Most messages have no uploads.
    if (ids.length === 0) return ids;
    this.noteAllFormer.defer(messages);
    this.unreferAll.defer(messages);
    this.markUnreferenced.defer(at, this.connection.dialect.set(ids), realmId);
    return ids;
  }

  async postpone(realmId: RealmId, id: FileId, at: UnixSeconds): Promise<void> {
    this.setUnreferenced.defer(at, id, realmId);
  }

  async changeOwner(realmId: RealmId, ids: readonly FileId[], ownerId: UserId): Promise<void> {
    this.renewOwner.defer(ownerId, this.connection.dialect.set(ids), realmId);
  }

  async hide(realmId: RealmId, id: FileId, at: UnixSeconds): Promise<void> {
    if (!(await this.byId.get(id, realmId))) return;
    this.noteFormerOfFile.defer(id);
    this.forgetMessages.defer(id);
    this.hideFile.defer(at, id, realmId);
  }

  async remove(realmId: RealmId, id: FileId): Promise<void> {
    const file = await this.byId.get(id, realmId);
    if (!file) return;
    this.forgetMessages.defer(id);
    this.delete.defer(id, realmId);
    this.changeSpace.defer(realmId, -file.size);
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
  seed: row.seed,
  image: toImage(row),
});

const toImage = ({ width, height, is_animated, thumbnail }: FileRow): FileImage | null =>
  width === null || height === null || thumbnail === null
    ? null
    : { width, height, isAnimated: is_animated === 1, thumbnail };

const toAttached = (row: AttachedRow): AttachedFile => ({
  ...toFile(row),
  messageIds: (row.message_ids?.split(',') ?? []).map(Number) as MessageId[],
});

export const FILE_FEATURE = {
  schema: 'files',
  steps: {
    1: TABLES,
    30: FILE_TEXT_TABLES,
    36: READ_FILES_AGAIN,
    38: READ_FILES_IN_TURN,
    54: FORMER_REFERENCES,
    68: SEEDS,
    71: INDEX_WITHOUT_SOFT_HYPHENS,
  },
  realmTables: ['unfinished_upload', 'file_term', 'file_to_read', 'file', 'file_space'],
  persons: {
    unfinished_upload: { data: 'Unfinished uploads', fate: EXPIRES, erase: 'realm_id = {realm} AND owner_id = {id}' },
    ...FILE_TEXT_PERSONS,
    file: {
      data: 'Uploaded files',
      fate: { ...OF_ACCOUNT, follows: ['inherit'] },
      other: ['seed'],
      keep: { 'Files of messages remain.': ['owner_id', 'name', 'path_id', 'blob', 'content_type'] },
    },
    file_space: {},
    file_image: { other: ['thumbnail'] },
    thumbnail: { other: ['name', 'blob'] },
    awaited_thumbnail: {},
    former_message_file: {},
  },
  messageTables: ['message_file'],
  notExported: {
    file_space: 'Sums are computed from the files.',
    file_term: 'They follow from the files.',
    file_to_read: 'They follow from the files.',
    unfinished_upload: 'Uploads finish on the original server.',
  },
  repositories: () => (connection) => {
    const files = new SqlFileRepository(connection);
    return {
      files,
      fileTexts: new SqlFileTextRepository(connection, files),
      unfinishedUploads: new SqlUnfinishedUploadRepository(connection),
    };
  },
} satisfies StorageFeature;
