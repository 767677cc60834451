import type { ReadablePicture } from '@parley/domain/files';
import type { Reply } from '../kernel/reply.js';
import { drawIdenticon } from './identicon.js';

/** For routes that serve them: to anybody, since browsers load pictures without credentials. */
export const SERVES_PICTURES = { auth: 'anyone', limit: 'none', atRoot: true } as const;

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

/** What stands for a picture that nobody uploaded: square, of so many pixels, and always the same for a seed. */
export const serveIdenticon = (seed: string, size: number): Reply => ({
  status: 200,
  body: drawIdenticon(seed, size),
  contentType: 'image/png',
  cacheControl: 'public, max-age=86400',
});
