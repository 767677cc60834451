import { DomainError, declareErrors } from '../kernel/errors.js';
import type { UserId } from '../kernel/ids.js';

export const IMAGE_ERRORS = declareErrors({
  /** There is no file, or there are several. */
  ONE_IMAGE_REQUIRED: 'invalid',
  /** In bytes. */
  IMAGE_FILE_TOO_LARGE: 'invalid',
  /** Not an image, damaged, or in a format that is not read. */
  UNREADABLE_IMAGE: 'invalid',
  /** Too many pixels, or work. */
  IMAGE_TOO_LARGE: 'invalid',
  /** Its first frame can be read, and a further one cannot. */
  CORRUPT_ANIMATION: 'invalid',
  /** It has several frames in a format in which none are shown. */
  UNKNOWN_ANIMATION_FORMAT: 'invalid',
});

type ImageErrors = typeof IMAGE_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends ImageErrors {}
}

/** Those that are read. Never SVG, which is a program. */
export type ImageFormat = 'png' | 'jpeg' | 'gif' | 'webp' | 'avif' | 'heic' | 'tiff';

/** Of all frames together. */
export const MAX_IMAGE_PIXELS = 90_000_000;
/** Of one frame that has to be in memory as a whole: of a progressive image, or in most formats. */
export const MAX_WHOLE_PIXELS = 30_000_000;
/** Every frame takes time, however small it is. */
export const MAX_FRAMES = 2000;

export interface ImageInfo {
  readonly format: ImageFormat;
  /** In pixels, as it is seen: turned as its metadata say. */
  readonly width: number;
  readonly height: number;
  /** More than one: it is animated. */
  readonly frames: number;
}

export interface ImageTarget {
  /** In pixels. */
  readonly width: number;
  readonly height: number;
  /**
   * `cover`: exactly this size, and what is over at the edges is cut off. `contain`: exactly this size, and what is missing is
   * transparent. `inside`: at most this size, and never larger than the image is.
   */
  readonly fit: 'cover' | 'contain' | 'inside';
  readonly format: 'png' | 'gif' | 'webp';
  /** Further frames are left out; 1: a still image. */
  readonly maxFrames: number;
}

export interface ProcessedImage extends ImageInfo {
  readonly format: ImageTarget['format'];
  readonly bytes: Uint8Array;
}

/**
 * Reads what claims to be an image. Slow, so never within a unit of work, and never on the event loop; bounded in pixels, frames and time. Images
 * are read in turns: one of each user who waits. Every implementation passes image-processor.contract.ts.
 */
export interface ImageProcessor {
  /** Looks at the header alone: what follows it may be damaged. @throws DomainError UNREADABLE_IMAGE, IMAGE_TOO_LARGE, SERVER_BUSY */
  inspect(image: Uint8Array, userId: UserId): Promise<ImageInfo>;
  /**
   * A new image of the same pixels, without metadata of any kind: no places, no times, no comments. It is turned as the metadata said.
   * @throws DomainError UNREADABLE_IMAGE, IMAGE_TOO_LARGE, CORRUPT_ANIMATION, UNKNOWN_ANIMATION_FORMAT, SERVER_BUSY
   */
  resize(image: Uint8Array, target: ImageTarget, userId: UserId): Promise<ProcessedImage>;
}

export const unreadableImage = (): DomainError =>
  new DomainError('UNREADABLE_IMAGE', 'Could not decode image; did you upload an image file?');

export const imageTooLarge = (): DomainError => new DomainError('IMAGE_TOO_LARGE', 'Image size exceeds limit.');

export const corruptAnimation = (): DomainError => new DomainError('CORRUPT_ANIMATION', 'Corrupt animated image.');

export const unknownAnimationFormat = (): DomainError =>
  new DomainError('UNKNOWN_ANIMATION_FORMAT', 'Unknown animated image format.');

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
