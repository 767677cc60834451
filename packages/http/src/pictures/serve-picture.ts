import type { ReadablePicture } from '@parley/domain/pictures';
import type { Reply } from '../routing/reply.js';

/** Nothing of a picture runs, should a browser make a document of it all the same. */
const HEADERS = ['Content-Security-Policy', "sandbox; default-src 'none'"];

/** A picture as a whole. Where it changes, its address does, or the version that it is asked for with. */
export const servePicture = ({ format, size, read }: ReadablePicture): Reply => ({
  status: 200,
  body: { bytes: read(), length: size },
  contentType: `image/${format}`,
  cacheControl: 'public, max-age=31536000, immutable',
  headers: HEADERS,
});
