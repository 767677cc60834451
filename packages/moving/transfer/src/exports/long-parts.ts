import type { AttachedFile, BlobStore, PictureName } from '@parley/domain/files';
import { type DataOwner, lastOf, type MessageId, type RealmId, type UnitOfWork } from '@parley/domain/kernel';
import type { StoredEntry } from '@parley/domain/membership';
import type { FileCopy, PictureCopy } from './realm-copy.js';

const FILES_AT_A_TIME = 500;
const ENTRIES_AT_A_TIME = 1000;

/** Yields the files that a user uploaded by ascending id, in batches. */
export async function* listFiles(
  uow: UnitOfWork,
  { realmId, userId }: DataOwner,
): AsyncGenerator<readonly AttachedFile[]> {
  for (let after = 0; ; ) {
    const from: number = after;
    const page = await uow.read(realmId, ({ files }) => files.list(realmId, userId, from, FILES_AT_A_TIME));
    yield page;
    if (page.length < FILES_AT_A_TIME) return;
    after = lastOf(page).id;
  }
}

/** @param messageIds messages of the copy that refer to the file */
export async function copyFile(
  blobs: BlobStore,
  { blob, realmId: _, messageIds: __, seed: ___, ...file }: AttachedFile,
  messageIds: readonly MessageId[],
): Promise<FileCopy> {
  const size = await blobs.sizeOf(blob);
  return { file, messageIds, content: size === null ? null : blobs.read(blob, { start: 0, end: size }) };
}

/** Reads the first available picture of these names. */
export async function readPicture<Of>(
  uow: UnitOfWork,
  blobs: BlobStore,
  { realmId, of, names }: { readonly realmId: RealmId; readonly of: Of; readonly names: readonly PictureName[] },
): Promise<PictureCopy<Of>> {
  for (const name of names) {
    const picture = await uow.read(realmId, ({ pictures }) => pictures.find(realmId, name));
    const size = picture && (await blobs.sizeOf(picture.blob));
    if (picture && size !== null) return { of, size, content: blobs.read(picture.blob, { start: 0, end: size }) };
  }
  return { of, size: 0, content: null };
}

/** Returns the entries that a bot stores by ascending key; none for humans. */
export async function readBotStorage(uow: UnitOfWork, { realmId, userId }: DataOwner): Promise<readonly StoredEntry[]> {
  const entries: StoredEntry[] = [];
  for (let after: string | null = null; ; ) {
    const from: string | null = after;
    const page: readonly StoredEntry[] = await uow.read(realmId, ({ botStorage }) =>
      botStorage.listAfter(realmId, userId, from, ENTRIES_AT_A_TIME),
    );
    entries.push(...page);
    if (page.length < ENTRIES_AT_A_TIME) return entries;
    after = lastOf(page).key;
  }
}
