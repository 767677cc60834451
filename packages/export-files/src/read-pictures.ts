import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { PictureCopy, RealmCopy } from '@parley/domain/exports';
import type { CustomEmojiId, UserId } from '@parley/domain/kernel';
import { REALM_IMAGE_NAMES, type RealmImageName } from '@parley/domain/realms';
import { findFile, pathIn, readDocument } from './folder-files.js';
import { PICTURE_RECORDS, type PictureFolder, REALM_IMAGE_WORDS } from './layout.js';
import { list, object, orNull, type Shape, text } from './shape.js';

const RECORD = object({ path: text(1000), user_profile_id: orNull((value) => value) });
type PictureRecord = ReturnType<typeof RECORD>;

/** What was uploaded is better to make pictures of than what another server made of it. */
const ORIGINAL = '.original';

/** The path of the best file for each key. */
async function readRecords<Key>(
  root: string,
  folder: PictureFolder,
  keyOf: (record: PictureRecord, fileName: string) => Key,
): Promise<ReadonlyMap<Key, string>> {
  const name = PICTURE_RECORDS[folder];
  const paths = new Map<Key, string>();
  // Not every export of another server has the folder.
  if (!(await findFile(root, join(root, name)))) return paths;
  const records: Shape<PictureRecord[]> = list(RECORD, 1_000_000);
  for (const record of records(await readDocument(root, name), name)) {
    const isOriginal = record.path.endsWith(ORIGINAL);
    const fileName = record.path.slice(record.path.lastIndexOf('/') + 1, isOriginal ? -ORIGINAL.length : undefined);
    const key = keyOf(record, fileName);
    if (isOriginal || !paths.has(key)) paths.set(key, pathIn(root, folder, record.path));
  }
  return paths;
}

async function openPicture<Of>(root: string, of: Of, path: string | undefined): Promise<PictureCopy<Of>> {
  const found = path === undefined ? null : await findFile(root, path);
  if (!found) return { of, size: 0, content: null };
  return { of, size: found.size, content: createReadStream(path!) };
}

/** Of every emoji, by the names of their files. */
export async function* readEmojiPictures(
  root: string,
  emoji: RealmCopy['customEmoji'],
): AsyncGenerator<PictureCopy<CustomEmojiId>> {
  const paths = await readRecords(root, 'emoji', (_, fileName) => fileName);
  for (const { id, fileName } of emoji) yield await openPicture(root, id, paths.get(fileName));
}

/** Of everybody whose avatar is uploaded. */
export async function* readAvatars(root: string, users: RealmCopy['users']): AsyncGenerator<PictureCopy<UserId>> {
  const paths = await readRecords<unknown>(root, 'avatars', ({ user_profile_id }) => user_profile_id);
  for (const { user } of users) {
    if (user.avatar.source === 'uploaded') yield await openPicture(root, user.id, paths.get(user.id));
  }
}

/** Of those that were uploaded. */
export async function* readRealmImages(
  root: string,
  { images }: RealmCopy['realm'],
): AsyncGenerator<PictureCopy<RealmImageName>> {
  const paths = await readRecords(root, 'realm_icons', (_, fileName) => fileName.replace(/\.png$/, ''));
  for (const name of REALM_IMAGE_NAMES) {
    if (images[name].isUploaded) yield await openPicture(root, name, paths.get(REALM_IMAGE_WORDS[name]));
  }
}
