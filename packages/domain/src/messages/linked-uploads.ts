import type { StoredFile } from '../files/file.js';
import { ANIMATED_THUMBNAIL, STILL_THUMBNAIL, transcodedFormatOf } from '../files/thumbnails.js';
import type { RealmId } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { StoredUpload } from '../markdown/markdown.js';
import type { Message } from './message.js';

/** Links have letters beyond ASCII as they are or escaped. */
export function spellingsOf(path: string): readonly string[] {
  if (!path.includes('%')) return [path];
  try {
    return [path, decodeURIComponent(path)];
  } catch {
    return [path];
  }
}

/** What a file shows where a text links to it (markdown §15.2). */
export function uploadOfFile({ contentType, image }: Pick<StoredFile, 'contentType' | 'image'>): StoredUpload {
  if (!image) return { contentType, image: null };
  const { width, height, isAnimated, thumbnail } = image;
  const shown = { width, height, isAnimated };
  if (thumbnail !== 'ready') return { contentType, image: { ...shown, thumbnail } };
  const ready = {
    format: isAnimated ? ANIMATED_THUMBNAIL : STILL_THUMBNAIL,
    transcodedFormat: transcodedFormatOf(contentType, image),
  };
  return { contentType, image: { ...shown, thumbnail: ready } };
}

/** What the links of a text to uploads show (markdown §15.2); by path as typed. */
export async function resolveUploads(
  { files }: Pick<Repositories | Transaction, 'files'>,
  realmId: RealmId,
  paths: ReadonlySet<string>,
): Promise<ReadonlyMap<string, StoredUpload>> {
  const uploads = new Map<string, StoredUpload>();
  if (paths.size === 0) return uploads;
  const found = await files.listByPath(realmId, [...paths].flatMap(spellingsOf));
  const byPath = new Map(found.map((file) => [file.pathId, file]));
  for (const path of paths) {
    const file = spellingsOf(path)
      .map((spelling) => byPath.get(spelling))
      .find((it) => it);
    if (file) uploads.set(path, uploadOfFile(file));
  }
  return uploads;
}

/** Notes for which thumbnails a message shows placeholders, to be replaced when they are ready. `paths`: as typed. */
export async function awaitThumbnails(
  tx: Transaction,
  { realmId, id }: Pick<Message, 'realmId' | 'id'>,
  paths: ReadonlySet<string>,
): Promise<void> {
  // Most messages.
  if (paths.size === 0) return;
  const files = await tx.files.listByPath(realmId, [...paths].flatMap(spellingsOf));
  await tx.files.awaitThumbnails(
    realmId,
    id,
    files.map((file) => file.id),
  );
}
