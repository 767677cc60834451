import type { BlobKey, BlobStore, Picture } from '@parley/domain/files';
import type { Randomness, RealmId, Transaction, UserId } from '@parley/domain/kernel';

export const DEMO_EMOJI_NAME = 'green_tick';

/** A PNG of 64 by 64 pixels. */
const IMAGE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAABABAMAAABYR2ztAAAAMFBMVEVMaXECtlAan0Uao0cZnkYZnEQaoUYZnUQao0caoUYapEca' +
    'okYZnkQZoUYaoEYbqUrJR1wKAAAADnRSTlMAA/3+ZROzM82X6fFQdT4xR9oAAAAJcEhZcwAAA+gAAAPoAbV7UmsAAAGbSURBVEjH' +
    '5ZW9SgNBFIXnQrKLhXAD+gKz/S6YQlQwCz5AbASxskolKFhpZ5E6eQMRCwtLEQsLBR9AG2th7EdIghhR4v7M7O/c8QEy1cJevjlz' +
    '5tw7jM33AmStf/4zhpYCXOr1XsECcAez2fcjjcDTEefehERAc+BLKdaPKAQ4IxmtYEgV4LkfF3gXFKCRAKR3SwGOhbUAmpe+nbCb' +
    '7iCDfavEiGB2ChYVQEzNRuGTUDucEdegJIqvbbRK9O6IHQ6VxI8QTekxSSylB7ekNgFN6QH3piaxlB7MJF6BMT25xNxFSNLTSTTD' +
    'gpb4C5XLTxHYVYBCmFS8EgS4m5nE3BlHxSdC4N5KTWJWECOSMMff78U8O/pgk1xisSNybzvhW11itHQCpbeWuVi6Z3zmGqEBfSh3' +
    'wVj9UEkSG5WWw646nF7Vps0RJol1hPiEei8WERWJNYRxKpQQP6YwFxDBCxonQuYF1W8aEfSpoZIi6MGlEP4qMCsiCMnhGSE451N6' +
    '/ELjod2eDS0DHE+u7w/A9gKw5R3rCxCPgNa8vp9//p6Y0LnpGdgAAAAASUVORK5CYII=',
  'base64',
);

/** What bytes there are before the unit that names them. */
export type StoredImage = Pick<Picture, 'blob' | 'size' | 'format'>;

export async function storeDemoEmoji(blobs: BlobStore, randomness: Randomness): Promise<StoredImage> {
  const blob = randomness.uuid().replaceAll('-', '') as BlobKey;
  return { blob, size: await blobs.put(blob, image()), format: 'png' };
}

async function* image(): AsyncGenerator<Uint8Array> {
  yield IMAGE;
}

export async function addDemoEmoji(
  tx: Transaction,
  realmId: RealmId,
  authorId: UserId,
  picture: StoredImage,
): Promise<void> {
  const { format } = picture;
  const { id } = await tx.customEmoji.add({ realmId, name: DEMO_EMOJI_NAME, authorId, format, isAnimated: false });
  await tx.pictures.put(realmId, { ...picture, name: `emoji/${id}` });
}
