import type { BlobKey } from '../files/blob-store.js';
import type { ImageTarget } from '../files/image-processor.js';
import { type MadePicture, namePicture, type PictureTarget } from '../files/picture-maker.js';
import type { RealmId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Avatar, UploadedAvatar, User } from './user.js';
import { accessorsOf } from './user-delivery.js';

const square = (size: number): ImageTarget => ({
  width: size,
  height: size,
  fit: 'cover',
  format: 'png',
  maxFrames: 1,
});

/** The medium picture, for profiles, and the usual one, in pixels (users §1.3). */
export const AVATAR_TARGETS: readonly PictureTarget[] = [square(500), { ...square(100), isOfPrevious: true }];

export interface ChangedAvatar {
  readonly user: User;
  /** Blobs that nothing names any more. */
  readonly replaced: readonly (BlobKey | null)[];
}

/** Names what was made for `AVATAR_TARGETS`. The pictures are for anybody who knows the key, which is random. */
export async function nameAvatar(
  tx: Transaction,
  realmId: RealmId,
  [medium, usual]: readonly MadePicture[],
  version: number,
): Promise<UploadedAvatar> {
  const key = usual!.blob;
  await namePicture(tx, realmId, `avatar/${key}`, usual!);
  await namePicture(tx, realmId, `avatar/${key}/medium`, medium!);
  return { source: 'uploaded', version, key };
}

/** Gives somebody what was made for `AVATAR_TARGETS`. */
export async function giveAvatar(tx: Transaction, user: User, made: readonly MadePicture[]): Promise<ChangedAvatar> {
  return changeAvatar(tx, user, await nameAvatar(tx, user.realmId, made, user.avatar.version + 1));
}

export async function changeAvatar(tx: Transaction, before: User, avatar: Avatar): Promise<ChangedAvatar> {
  const { realmId } = before;
  const user = await tx.users.update({ ...before, avatar });
  await tx.events.append(realmId, { event: { type: 'user.avatar_changed', user }, audience: accessorsOf(user.id) });
  if (before.avatar.source !== 'uploaded') return { user, replaced: [] };
  const { key } = before.avatar;
  return {
    user,
    replaced: [
      await tx.pictures.remove(realmId, `avatar/${key}`),
      await tx.pictures.remove(realmId, `avatar/${key}/medium`),
    ],
  };
}
