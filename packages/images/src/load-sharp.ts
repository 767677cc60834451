import { createRequire } from 'node:module';
import type { default as Sharp } from 'sharp';

const require = createRequire(import.meta.url);

/** Everything that reads an image, but for these, is locked: SVG above all, and whatever later versions learn to read. */
const READERS = [
  'VipsForeignLoadPngBuffer',
  'VipsForeignLoadJpegBuffer',
  'VipsForeignLoadNsgifBuffer',
  'VipsForeignLoadWebpBuffer',
  'VipsForeignLoadHeifBuffer',
  'VipsForeignLoadTiffBuffer',
];

let loaded: typeof Sharp | undefined;

/** When the first image comes: most servers see none for long, and it takes a while. */
export function loadSharp(): typeof Sharp {
  if (loaded) return loaded;
  const sharp = require('sharp') as typeof Sharp;
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: READERS });
  // No image is read twice in a row.
  sharp.cache(false);
  // `ImageProcess` decides how many run at the same time.
  sharp.concurrency(1);
  loaded = sharp;
  return sharp;
}
