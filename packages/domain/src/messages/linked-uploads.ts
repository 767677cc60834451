import type { RealmId } from '../shared/ids.js';
import type { Repositories, Transaction } from '../shared/unit-of-work.js';
import type { StoredImage, StoredUpload } from './markdown.js';

/** Links have letters beyond ASCII as they are or escaped. */
export function spellingsOf(path: string): readonly string[] {
  if (!path.includes('%')) return [path];
  try {
    return [path, decodeURIComponent(path)];
  } catch {
    return [path];
  }
}

/** What every browser shows as an image. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
/** There are no thumbnails: the original is shown, whose dimensions nobody has looked at. */
const ORIGINAL: StoredImage = { width: 0, height: 0, isAnimated: false, thumbnail: 'none' };

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
    if (!file) continue;
    const { contentType } = file;
    uploads.set(path, { contentType, image: IMAGE_TYPES.has(contentType) ? ORIGINAL : null });
  }
  return uploads;
}
