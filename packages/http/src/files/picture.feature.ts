import '@parley/domain/files';
import type { HttpFeature } from '../feature.js';

export const PICTURES = { errors: { UNKNOWN_PICTURE: { status: 404 } } } satisfies HttpFeature;
