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
} from '@parley/domain/files';
import type { Metadata, Sharp } from 'sharp';
import { type HeicImage, loadSharp } from './heic.js';

/** Formats by the library's names. */
const FORMATS: Readonly<Record<string, ImageFormat>> = {
  png: 'png',
  jpeg: 'jpeg',
  gif: 'gif',
  webp: 'webp',
  heif: 'avif',
  tiff: 'tiff',
};
/** Formats whose frames form an animation; elsewhere they are pages. */
const ANIMATED: ReadonlySet<ImageFormat> = new Set(['gif', 'webp']);
/** Formats read line by line or frame by frame unless progressive. */
const READ_IN_PARTS: ReadonlySet<ImageFormat> = new Set(['png', 'jpeg', 'gif']);
/** Time limit for one image. */
const MAX_SECONDS = 10;
/** Images above this size use less effort, since the default takes much longer without saving bytes. */
const SMALL_PIXELS = 1_000_000;
const LITTLE_EFFORT = { effort: 1 };
/** Matches the library's messages. */
const TOO_LARGE = /timeout|pixel limit/;

interface Look {
  readonly info: ImageInfo;
  readonly source: (pages: number) => Sharp;
}

/** Processes images with libvips on background threads. */
export class SharpImageProcessor implements ImageProcessor {
  /** `openHeic`: null where blocking the thread is not allowed; HEIC is rejected there. */
  constructor(private readonly openHeic: ((image: Uint8Array) => HeicImage) | null = null) {}

  async inspect(image: Uint8Array): Promise<ImageInfo> {
    return (await this.look(image)).info;
  }

  async resize(image: Uint8Array, target: ImageTarget): Promise<ProcessedImage> {
    const { info, source } = await this.look(image);
    const frames = Math.min(target.maxFrames, info.frames);
    if (frames === 1) return this.encode(source(1).autoOrient(), target, unreadableImage);
    if (!ANIMATED.has(info.format) || target.format === 'png') throw unknownAnimationFormat();
    // Reports an image with an unreadable first frame as unreadable rather than as a damaged animation.
    await this.encode(source(1), target, unreadableImage);
    return this.encode(source(frames), target, corruptAnimation);
  }

  private async look(image: Uint8Array): Promise<Look> {
    const source = (bytes: Uint8Array, pages: number): Sharp =>
      loadSharp()(bytes, { pages, limitInputPixels: MAX_IMAGE_PIXELS, failOn: 'error', sequentialRead: true }).timeout({
        seconds: MAX_SECONDS,
      });
    const metadata = await this.run(() => source(image, 1).metadata(), unreadableImage);
    if (metadata.format === 'heif' && metadata.compression === 'hevc') {
      if (!this.openHeic) throw unreadableImage();
      const heic = this.openHeic(image);
      const { width, height } = heic;
      // Further images in the file are parts or variants of the primary image, or belong to a series.
      const info = bounded({ format: 'heic', width, height, frames: 1 }, false);
      return { info, source: () => source(heic.decode(), 1) };
    }
    return { info: infoOf(metadata), source: (pages) => source(image, pages) };
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
          .toFormat(target.format, optionsOf(target))
          .toBuffer({ resolveWithObject: true }),
      damaged,
    );
    const { width, pageHeight, height, pages = 1 } = info as typeof info & { pageHeight?: number; pages?: number };
    return { format: target.format, bytes: data, width, height: pageHeight ?? height, frames: pages };
  }

  /** Attributes every rejection by the library to the image. */
  private async run<T>(work: () => Promise<T>, damaged: () => Error): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw TOO_LARGE.test((error as Error).message) ? imageTooLarge() : damaged();
    }
  }
}

const optionsOf = ({ width, height, format }: ImageTarget): { readonly effort?: number } =>
  format === 'webp' && width * height > SMALL_PIXELS ? LITTLE_EFFORT : {};

/** @throws DomainError UNREADABLE_IMAGE, IMAGE_TOO_LARGE */
function infoOf(metadata: Metadata): ImageInfo {
  const format = FORMATS[metadata.format];
  if (!format || (format === 'avif' && metadata.compression !== 'av1')) throw unreadableImage();
  const frames = metadata.pages ?? 1;
  const { width, height } = frames === 1 ? metadata.autoOrient : metadata;
  return bounded({ format, width, height, frames }, READ_IN_PARTS.has(format) && !metadata.isProgressive);
}

/** @throws DomainError IMAGE_TOO_LARGE */
function bounded(info: ImageInfo, isReadInParts: boolean): ImageInfo {
  const { width, height, frames } = info;
  const pixels = width * height;
  if (pixels * frames > MAX_IMAGE_PIXELS || frames > MAX_FRAMES || (!isReadInParts && pixels > MAX_WHOLE_PIXELS)) {
    throw imageTooLarge();
  }
  return info;
}
