import { users } from '../kernel/audience.js';
import type { FeatureParts } from '../kernel/event.js';
import type { FileId, RealmId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { BlobKey } from './blob-store.js';
import type { AttachedFile } from './file.js';

/** What clients show of a file. */
export type FileView = Pick<AttachedFile, 'id' | 'name' | 'pathId' | 'size' | 'createdAt' | 'messageIds'>;

/** To those whose files they are (users §16). `usedBytes`: of all files of the realm. */
export interface FileEventTypes {
  'file.added': { readonly file: FileView; readonly usedBytes: number };
  /** Other messages refer to it. */
  'file.changed': { readonly file: FileView; readonly usedBytes: number };
  'file.removed': { readonly id: FileId; readonly usedBytes: number };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends FileEventTypes {}
}

export const FILE_FEATURE = {
  eventFormats: {
    'file.added': 1,
    'file.changed': 1,
    'file.removed': 1,
  },
  notExported: {
    unfinishedUploads: 'They are finished where they began.',
  },
} satisfies FeatureParts<FileEventTypes>;

export const viewOfFile = ({ id, name, pathId, size, createdAt, messageIds }: AttachedFile): FileView => ({
  id,
  name,
  pathId,
  size,
  createdAt,
  messageIds,
});

/** Announces to the owners that other messages refer to their files. */
export async function publishFileChanges(tx: Transaction, realmId: RealmId, ids: readonly FileId[]): Promise<void> {
  if (ids.length === 0) return;
  const usedBytes = await tx.files.usedBytes(realmId);
  for (const file of await tx.files.listAttached(realmId, ids)) {
    await tx.events.append(realmId, {
      event: { type: 'file.changed', file: viewOfFile(file), usedBytes },
      audience: users([file.ownerId]),
    });
  }
}

/** Answers which blobs belong to nothing from then on. */
export async function removeFile(
  tx: Transaction,
  { realmId, id, ownerId, blob }: Pick<AttachedFile, 'realmId' | 'id' | 'ownerId' | 'blob'>,
): Promise<readonly BlobKey[]> {
  const thumbnails = await tx.files.listThumbnails(realmId, id);
  await tx.files.remove(realmId, id);
  await tx.events.append(realmId, {
    event: { type: 'file.removed', id, usedBytes: await tx.files.usedBytes(realmId) },
    audience: users([ownerId]),
  });
  return [blob, ...thumbnails.map((thumbnail) => thumbnail.blob)];
}
