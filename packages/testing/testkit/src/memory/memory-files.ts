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
import type { FileId, MessageId, RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import { ascending, type MemoryUnit, newSeed } from './tables.js';

interface FileRow {
  readonly file: StoredFile;
  readonly wasAttached: boolean;
  /** Null while messages link to the file. */
  readonly unreferencedSince: UnixSeconds | null;
}

declare module './tables.js' {
  interface Tables {
    readonly files: Map<FileId, FileRow>;
    /** Files by message, ascending; never empty. */
    readonly 'files of messages': Map<MessageId, readonly FileId[]>;
    /** Messages by file, that linked to it before a deletion or an edit. */
    readonly formerFileMessages: Map<FileId, readonly MessageId[]>;
    /** Thumbnails by file, ascending by name. */
    readonly thumbnails: Map<FileId, readonly StoredThumbnail[]>;
    /** Waiting messages by file, ascending. */
    readonly awaitedThumbnails: Map<FileId, readonly MessageId[]>;
  }
}

export class MemoryFiles implements FileRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, id: FileId): Promise<StoredFile | null> {
    return this.rowOf(realmId, id)?.file ?? null;
  }

  async listByPath(realmId: RealmId, pathIds: readonly string[]): Promise<readonly StoredFile[]> {
    return this.all().filter(
      (file) => file.realmId === realmId && file.ownerId !== HIDDEN && pathIds.includes(file.pathId),
    );
  }

  async list(realmId: RealmId, ownerId: UserId, after: number, limit: number): Promise<readonly AttachedFile[]> {
    return this.all()
      .filter((file) => file.realmId === realmId && file.ownerId === ownerId && file.id > after)
      .slice(0, limit)
      .map((file) => this.attached(file));
  }

  async listAttached(realmId: RealmId, ids: readonly FileId[]): Promise<readonly AttachedFile[]> {
    return this.all()
      .filter((file) => file.realmId === realmId && ids.includes(file.id))
      .map((file) => this.attached(file));
  }

  async listIdsOfMessage(realmId: RealmId, messageId: MessageId): Promise<readonly FileId[]> {
    const ids = this.unit.read('files of messages').get(messageId) ?? [];
    return ids.filter((id) => this.rowOf(realmId, id));
  }

  async spaceOf(realmId: RealmId, ownerId: UserId): Promise<FileSpace> {
    const own = this.all().filter((file) => file.realmId === realmId && file.ownerId === ownerId);
    return { count: own.length, bytes: own.reduce((sum, { size }) => sum + size, 0) };
  }

  async findPendingImage(realmId: RealmId, ownerId: UserId, from: FileId): Promise<StoredFile | null> {
    const own = this.all().filter((file) => file.realmId === realmId && file.ownerId === ownerId && file.id >= from);
    return own.find(({ image }) => image?.thumbnail === 'pending') ?? null;
  }

  async usedBytes(realmId: RealmId): Promise<number> {
    return this.all().reduce((sum, file) => (file.realmId === realmId ? sum + file.size : sum), 0);
  }

  async filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>> {
    const thumbnails = [...this.unit.read('thumbnails').values()].flat();
    const known = new Set([...this.all(), ...thumbnails].map(({ blob }) => blob));
    return new Set(keys.filter((key) => known.has(key)));
  }

  async listUnreferenced(wasAttached: boolean, before: UnixSeconds, limit: number): Promise<readonly StoredFile[]> {
    return [...this.unit.read('files').values()]
      .filter((row) => row.wasAttached === wasAttached && (row.unreferencedSince ?? before) < before)
      .sort((a, b) => a.unreferencedSince! - b.unreferencedSince! || a.file.id - b.file.id)
      .slice(0, limit)
      .map(({ file }) => file);
  }

  async add(file: NewFile): Promise<StoredFile> {
    const added: StoredFile = { ...file, id: this.unit.nextNumber<FileId>('file'), seed: newSeed() };
    this.unit.change('files').set(added.id, { file: added, wasAttached: false, unreferencedSince: file.createdAt });
    if (file.size <= MAX_READ_BYTES) this.unit.change('filesToRead').set(added.id, 0);
    return added;
  }

  async attach(realmId: RealmId, messageId: MessageId, ids: readonly FileId[]): Promise<void> {
    const before = this.unit.read('files of messages').get(messageId) ?? [];
    const known = ids.filter((id) => this.rowOf(realmId, id));
    if (known.length === 0) return;
    this.unit.change('files of messages').set(messageId, [...new Set([...before, ...known])].sort(ascending));
    for (const id of known) this.mark(id, { wasAttached: true, unreferencedSince: null });
  }

  async detach(realmId: RealmId, messageId: MessageId, ids: readonly FileId[], at: UnixSeconds): Promise<void> {
    const before = await this.listIdsOfMessage(realmId, messageId);
    if (before.length === 0) return;
    const left = before.filter((id) => !ids.includes(id));
    if (left.length > 0) this.unit.change('files of messages').set(messageId, left);
    else this.unit.change('files of messages').delete(messageId);
    for (const id of before) {
      if (!ids.includes(id)) continue;
      const former = this.unit.read('formerFileMessages').get(id) ?? [];
      this.unit.change('formerFileMessages').set(id, [...new Set([...former, messageId])]);
      if (this.messageIdsOf(id).length === 0) this.mark(id, { unreferencedSince: at });
    }
  }

  async detachAll(realmId: RealmId, messageIds: readonly MessageId[], at: UnixSeconds): Promise<readonly FileId[]> {
    const detached = new Set<FileId>();
    for (const messageId of messageIds) {
      const ids = await this.listIdsOfMessage(realmId, messageId);
      if (ids.length === 0) continue;
      await this.detach(realmId, messageId, ids, at);
      for (const id of ids) detached.add(id);
    }
    return [...detached].sort(ascending);
  }

  async listAcross(after: number, limit: number): Promise<readonly StoredFile[]> {
    return this.all()
      .filter(({ id }) => id > after)
      .slice(0, limit);
  }

  async setBlob(realmId: RealmId, id: FileId, blob: BlobKey): Promise<void> {
    const row = this.rowOf(realmId, id);
    if (row) this.unit.change('files').set(id, { ...row, file: { ...row.file, blob } });
  }

  async listThumbnails(realmId: RealmId, id: FileId): Promise<readonly StoredThumbnail[]> {
    return this.rowOf(realmId, id) ? (this.unit.read('thumbnails').get(id) ?? []) : [];
  }

  async listAwaiting(realmId: RealmId, id: FileId, limit: number): Promise<readonly MessageId[]> {
    if (!this.rowOf(realmId, id)) return [];
    const messages = this.unit.read('messages');
    const awaiting = this.unit.read('awaitedThumbnails').get(id) ?? [];
    return awaiting.filter((messageId) => messages.has(messageId)).slice(0, limit);
  }

  async setImage(
    realmId: RealmId,
    id: FileId,
    image: FileImage,
    thumbnails: readonly StoredThumbnail[],
  ): Promise<void> {
    const row = this.rowOf(realmId, id);
    if (!row) return;
    this.unit.change('files').set(id, { ...row, file: { ...row.file, image } });
    if (thumbnails.length === 0) return;
    const sorted = [...thumbnails].sort((a, b) => (a.name < b.name ? -1 : 1));
    this.unit.change('thumbnails').set(id, sorted);
  }

  async awaitThumbnails(realmId: RealmId, messageId: MessageId, ids: readonly FileId[]): Promise<void> {
    for (const id of ids) {
      if (!this.rowOf(realmId, id)) continue;
      const awaiting = this.unit.read('awaitedThumbnails').get(id) ?? [];
      this.unit.change('awaitedThumbnails').set(id, [...new Set([...awaiting, messageId])].sort(ascending));
    }
  }

  async endAwaiting(realmId: RealmId, id: FileId, messageIds: readonly MessageId[]): Promise<void> {
    if (!this.rowOf(realmId, id)) return;
    const awaiting = this.unit.read('awaitedThumbnails').get(id) ?? [];
    const left = awaiting.filter((messageId) => !messageIds.includes(messageId));
    if (left.length > 0) this.unit.change('awaitedThumbnails').set(id, left);
    else this.unit.change('awaitedThumbnails').delete(id);
  }

  async postpone(realmId: RealmId, id: FileId, at: UnixSeconds): Promise<void> {
    if (this.rowOf(realmId, id)) this.mark(id, { unreferencedSince: at });
  }

  async changeOwner(realmId: RealmId, ids: readonly FileId[], ownerId: UserId): Promise<void> {
    for (const id of ids) {
      const row = this.rowOf(realmId, id);
      if (row) this.unit.change('files').set(id, { ...row, file: { ...row.file, ownerId } });
    }
  }

  async hide(realmId: RealmId, id: FileId, at: UnixSeconds): Promise<void> {
    for (const messageId of this.messageIdsOf(id)) await this.detach(realmId, messageId, [id], at);
    const row = this.rowOf(realmId, id);
    if (!row) return;
    const file = { ...row.file, ownerId: HIDDEN };
    this.unit.change('files').set(id, { file, wasAttached: true, unreferencedSince: at });
  }

  async remove(realmId: RealmId, id: FileId): Promise<void> {
    if (!this.rowOf(realmId, id)) return;
    for (const messageId of this.messageIdsOf(id)) await this.detach(realmId, messageId, [id], 0);
    const tables = ['files', 'thumbnails', 'awaitedThumbnails', 'formerFileMessages'] as const;
    for (const table of tables) this.unit.change(table).delete(id);
  }

  private all(): StoredFile[] {
    return [...this.unit.read('files').values()].map(({ file }) => file);
  }

  private rowOf(realmId: RealmId, id: FileId): FileRow | null {
    const row = this.unit.read('files').get(id);
    return row?.file.realmId === realmId ? row : null;
  }

  private mark(id: FileId, change: Partial<FileRow>): void {
    const row = this.unit.read('files').get(id);
    if (row) this.unit.change('files').set(id, { ...row, ...change });
  }

  private attached(file: StoredFile): AttachedFile {
    return { ...file, messageIds: this.messageIdsOf(file.id) };
  }

  private messageIdsOf(id: FileId): MessageId[] {
    const found = [...this.unit.read('files of messages')].filter(([, ids]) => ids.includes(id));
    return found.map(([messageId]) => messageId).sort(ascending);
  }
}
