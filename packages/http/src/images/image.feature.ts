// Declares the codes.
import '@parley/domain/images';
import type { HttpFeature } from '../feature.js';

const BAD_IMAGE = { code: 'BAD_IMAGE' };

export const IMAGES = {
  errors: {
    UNREADABLE_IMAGE: BAD_IMAGE,
    IMAGE_TOO_LARGE: BAD_IMAGE,
    CORRUPT_ANIMATION: BAD_IMAGE,
    UNKNOWN_ANIMATION_FORMAT: BAD_IMAGE,
  },
} satisfies HttpFeature;
