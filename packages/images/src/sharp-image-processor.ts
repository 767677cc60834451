import {
  corruptAnimation,
  type ImageFormat,
  type ImageInfo,
  type ImageProcessor,
  type ImageTarget,
  imageTooLarge,
  MAX_FRAMES,
  MAX_IMAGE_PIXELS,
  MAX_WHOLE_PIXELS,
  type ProcessedImage,
  unknownAnimationFormat,
  unreadableImage,
} from '@parley/domain/images';
import type { Metadata, Sharp } from 'sharp';
import { loadSharp } from './load-sharp.js';

/** By what the library calls them. */
const FORMATS: Readonly<Record<string, ImageFormat>> = {
  png: 'png',
  jpeg: 'jpeg',
  gif: 'gif',
  webp: 'webp',
  heif: 'avif',
  tiff: 'tiff',
};
/** Several frames of these are an animation; of others they are pages. */
const ANIMATED: ReadonlySet<ImageFormat> = new Set(['gif', 'webp']);
/** Read line by line, or frame by frame, as long as they are not progressive. */
const READ_IN_PARTS: ReadonlySet<ImageFormat> = new Set(['png', 'jpeg', 'gif']);
/** Of work at one image. */
const MAX_SECONDS = 10;
/** As the library puts it. */
const TOO_LARGE = /timeout|pixel limit/;

/** Images by libvips, on threads that are not the event loop's. */
export class SharpImageProcessor implements ImageProcessor {
  async inspect(image: Uint8Array): Promise<ImageInfo> {
    return (await this.look(image)).info;
  }

  async resize(image: Uint8Array, target: ImageTarget): Promise<ProcessedImage> {
    const { info, source } = await this.look(image);
    const frames = Math.min(target.maxFrames, info.frames);
    if (frames === 1) return this.encode(source(1).autoOrient(), target, unreadableImage);
    if (!ANIMATED.has(info.format) || target.format === 'png') throw unknownAnimationFormat();
    // What cannot be read at all is no damaged animation.
    await this.encode(source(1), target, unreadableImage);
    return this.encode(source(frames), target, corruptAnimation);
  }

  private async look(image: Uint8Array) {
    const source = (pages: number): Sharp =>
      loadSharp()(image, { pages, limitInputPixels: MAX_IMAGE_PIXELS, failOn: 'error', sequentialRead: true }).timeout({
        seconds: MAX_SECONDS,
      });
    return { info: infoOf(await this.run(() => source(1).metadata(), unreadableImage)), source };
  }

  private async encode(image: Sharp, target: ImageTarget, damaged: () => Error): Promise<ProcessedImage> {
    const { data, info } = await this.run(
      () =>
        image
          .resize(target.width, target.height, {
            fit: target.fit,
            withoutEnlargement: target.fit === 'inside',
            background: { r: 0, g: 0, b: 0, alpha: 0 },
          })
          .toFormat(target.format)
          .toBuffer({ resolveWithObject: true }),
      damaged,
    );
    const { width, pageHeight, height, pages = 1 } = info as typeof info & { pageHeight?: number; pages?: number };
    return { format: target.format, bytes: data, width, height: pageHeight ?? height, frames: pages };
  }

  /** Whatever the library refuses, it is the image's fault. */
  private async run<T>(work: () => Promise<T>, damaged: () => Error): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw TOO_LARGE.test((error as Error).message) ? imageTooLarge() : damaged();
    }
  }
}

/** @throws DomainError UNREADABLE_IMAGE, IMAGE_TOO_LARGE */
function infoOf(metadata: Metadata): ImageInfo {
  const format = FORMATS[metadata.format];
  // HEIC is of the same family, and its codec a patented one that the library does not have.
  if (!format || (format === 'avif' && metadata.compression !== 'av1')) throw unreadableImage();
  const frames = metadata.pages ?? 1;
  const { width, height } = frames === 1 ? metadata.autoOrient : metadata;
  const isReadInParts = READ_IN_PARTS.has(format) && !metadata.isProgressive;
  const pixels = width * height;
  if (pixels * frames > MAX_IMAGE_PIXELS || frames > MAX_FRAMES || (!isReadInParts && pixels > MAX_WHOLE_PIXELS)) {
    throw imageTooLarge();
  }
  return { format, width, height, frames };
}
