import { bytesOf, type GivenImage } from '../files/given-image.js';
import type { MadePicture, PictureMaker } from '../files/picture-maker.js';
import { DomainError } from '../kernel/errors.js';
import type { UserId } from '../kernel/ids.js';
import { AVATAR_TARGETS } from '../users/change-avatar.js';

/** Null: the bot's avatar stays as it is, or as bots' avatars are; `several`: more than one file. */
export type GivenAvatar = GivenImage | 'several' | null;

/** The pictures, or why there are none; null: none are wanted. */
export type MadeAvatar = readonly MadePicture[] | DomainError | null;

/** @throws DomainError ONE_IMAGE_REQUIRED */
export function requireOneAvatar(given: GivenAvatar): void {
  if (given === 'several') throw new DomainError('ONE_IMAGE_REQUIRED', 'You may only upload one file at a time');
}

/** For work that says in its turn what is wrong with the image (users §15). */
export function makeBotAvatar<T>(
  pictures: PictureMaker,
  userId: UserId,
  given: GivenAvatar,
  work: (avatar: MadeAvatar) => Promise<T>,
): Promise<T> {
  if (given === null || given === 'several') return work(null);
  let bytes: Uint8Array;
  try {
    bytes = bytesOf(given);
  } catch (error) {
    return work(error as DomainError);
  }
  return pictures.makeAhead(userId, bytes, AVATAR_TARGETS, work);
}
