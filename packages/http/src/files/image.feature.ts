import '@parley/domain/files';
import type { HttpFeature } from '../feature.js';

// Declares the codes.

const BAD_IMAGE = { code: 'BAD_IMAGE' };

export const IMAGES = {
  errors: {
    UNREADABLE_IMAGE: BAD_IMAGE,
    IMAGE_TOO_LARGE: BAD_IMAGE,
    CORRUPT_ANIMATION: BAD_IMAGE,
    UNKNOWN_ANIMATION_FORMAT: BAD_IMAGE,
  },
} satisfies HttpFeature;
