import { DomainError, declareErrors } from '../kernel/errors.js';
import type { WorkOwner } from '../kernel/work-queue.js';

export const IMAGE_ERRORS = declareErrors({
  /** Exactly one file is required. */
  ONE_IMAGE_REQUIRED: 'invalid',
  /** The file exceeds the size limit of images. */
  IMAGE_FILE_TOO_LARGE: 'invalid',
  /** The file is not an image, is damaged, or has an unsupported format such as SVG. */
  UNREADABLE_IMAGE: 'invalid',
  /** The image has too many pixels or frames, or is too slow to decode. */
  IMAGE_TOO_LARGE: 'invalid',
  /** The first frame of an animation is readable, a later one is not. */
  CORRUPT_ANIMATION: 'invalid',
  /** The image has several frames in a format without animation support. */
  UNKNOWN_ANIMATION_FORMAT: 'invalid',
});

type ImageErrors = typeof IMAGE_ERRORS;

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends ImageErrors {}
}

/** Supported input formats. SVG is excluded because it can contain scripts. */
export type ImageFormat = 'png' | 'jpeg' | 'gif' | 'webp' | 'avif' | 'heic' | 'tiff';

/** Maximum total number of pixels in all frames. */
export const MAX_IMAGE_PIXELS = 90_000_000;
/**
 * Maximum number of pixels of a frame that must be decoded in memory at once, as with progressive images and most
 * formats.
 */
export const MAX_WHOLE_PIXELS = 30_000_000;
/** Maximum number of frames, since each takes time regardless of its size. */
export const MAX_FRAMES = 2000;

export interface ImageInfo {
  readonly format: ImageFormat;
  /** Width in pixels as displayed, after applying the rotation from the metadata. */
  readonly width: number;
  readonly height: number;
  /** Number of frames; an animated image has more than one. */
  readonly frames: number;
}

export interface ImageTarget {
  /** Size in pixels. */
  readonly width: number;
  readonly height: number;
  /**
   * `cover`: exact size, cropped at the edges. `contain`: exact size, padded with transparency. `inside`: at most
   * this size, never enlarged.
   */
  readonly fit: 'cover' | 'contain' | 'inside';
  readonly format: 'png' | 'gif' | 'webp';
  /** Maximum number of frames; additional frames are dropped, and 1 produces a still image. */
  readonly maxFrames: number;
}

export interface ProcessedImage extends ImageInfo {
  readonly format: ImageTarget['format'];
  readonly bytes: Uint8Array;
}

/**
 * Reads untrusted images within limits on pixels, frames and time. Slow: never call it inside a unit of work, and run
 * it off the event loop. Queued images are processed round-robin by realm and then by person. Every implementation passes
 * image-processor.contract.ts.
 */
export interface ImageProcessor {
  /**
   * Reads only the header; the remaining data may be damaged. @throws DomainError UNREADABLE_IMAGE, IMAGE_TOO_LARGE,
   * SERVER_BUSY
   */
  inspect(image: Uint8Array, owner: WorkOwner): Promise<ImageInfo>;
  /**
   * Returns a resized image without metadata such as locations, times or comments. Applies the rotation from the
   * metadata.
   * @throws DomainError UNREADABLE_IMAGE, IMAGE_TOO_LARGE, CORRUPT_ANIMATION, UNKNOWN_ANIMATION_FORMAT, SERVER_BUSY
   */
  resize(image: Uint8Array, target: ImageTarget, owner: WorkOwner): Promise<ProcessedImage>;
}

export const unreadableImage = (): DomainError =>
  new DomainError('UNREADABLE_IMAGE', 'Could not decode image; did you upload an image file?');

export const imageTooLarge = (): DomainError => new DomainError('IMAGE_TOO_LARGE', 'Image size exceeds limit.');

export const corruptAnimation = (): DomainError => new DomainError('CORRUPT_ANIMATION', 'Corrupt animated image.');

export const unknownAnimationFormat = (): DomainError =>
  new DomainError('UNKNOWN_ANIMATION_FORMAT', 'Unknown animated image format.');

/** Image file uploaded with a request. */
export interface ImageUpload {
  readonly bytes: Uint8Array;
  /** True if the file exceeds the size limit; `bytes` is then truncated. */
  readonly isTooLarge: boolean;
}

/** Maximum size of an uploaded avatar, emoji, icon or logo, in MiB. */
export const MAX_IMAGE_MIB = 5;

/** `image`: null if the request has no file or several files. @throws DomainError ONE_IMAGE_REQUIRED */
export function requireOneImage(image: ImageUpload | null, what: 'file' | 'avatar' | 'icon' | 'logo'): ImageUpload {
  if (!image) throw new DomainError('ONE_IMAGE_REQUIRED', `You must upload exactly one ${what}.`);
  return image;
}

/** @throws DomainError IMAGE_FILE_TOO_LARGE */
export function bytesOf({ bytes, isTooLarge }: ImageUpload): Uint8Array {
  if (isTooLarge) {
    const text = `Uploaded file is larger than the allowed limit of ${MAX_IMAGE_MIB} MiB`;
    throw new DomainError('IMAGE_FILE_TOO_LARGE', text);
  }
  return bytes;
}
