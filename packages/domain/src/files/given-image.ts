import { DomainError } from '../kernel/errors.js';

/** The one file that came with a request where an image belongs. */
export interface GivenImage {
  readonly bytes: Uint8Array;
  /** It is longer than images may be, and only its beginning is here. */
  readonly isTooLarge: boolean;
}

/** Of an avatar, an emoji, an icon or a logo as it is uploaded, in MiB. */
export const MAX_IMAGE_MIB = 5;

/** `image`: null where there was no file, or several. @throws DomainError ONE_IMAGE_REQUIRED */
export function requireOneImage(image: GivenImage | null, what: 'file' | 'avatar' | 'icon' | 'logo'): GivenImage {
  if (!image) throw new DomainError('ONE_IMAGE_REQUIRED', `You must upload exactly one ${what}.`);
  return image;
}

/** @throws DomainError IMAGE_FILE_TOO_LARGE */
export function bytesOf({ bytes, isTooLarge }: GivenImage): Uint8Array {
  if (isTooLarge) {
    const text = `Uploaded file is larger than the allowed limit of ${MAX_IMAGE_MIB} MiB`;
    throw new DomainError('IMAGE_FILE_TOO_LARGE', text);
  }
  return bytes;
}
