import { type ImageUpload, MAX_IMAGE_MIB } from '@parley/domain/files';
import type { HttpFeature } from '../declarations/feature.js';
import type { Request } from '../wire/request.js';

/** Options of routes that accept one image. */
export const TAKES_IMAGE = { body: 'files', maxFileBytes: MAX_IMAGE_MIB * 1024 * 1024 } as const;

/** Returns the image; null if the request has no file or several. */
export function imageUpload({ files }: Pick<Request, 'files'>): ImageUpload | null {
  const [file, ...others] = files;
  return file && others.length === 0 ? { bytes: file.content, isTooLarge: file.isTruncated } : null;
}

// Wire code shared by all image errors.

const BAD_IMAGE = { code: 'BAD_IMAGE' };

export const IMAGES = {
  errors: {
    UNREADABLE_IMAGE: BAD_IMAGE,
    IMAGE_TOO_LARGE: BAD_IMAGE,
    CORRUPT_ANIMATION: BAD_IMAGE,
    UNKNOWN_ANIMATION_FORMAT: BAD_IMAGE,
  },
} satisfies HttpFeature;
