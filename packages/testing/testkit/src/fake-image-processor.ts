import {
  corruptAnimation,
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

const SIZE = /^(png|jpeg|gif|webp|avif|heic|tiff) (\d+)x(\d+)x(\d+)( damaged)?$/;

/** Creates a fake image without pixels: `png 40x20x1`. */
export const fakeImage = ({ format, width, height, frames }: ImageInfo, damage?: 'end' | 'frame'): Uint8Array =>
  Uint8Array.from(`${format} ${width}x${height}x${frames}${damage ? ' damaged' : ''}`, (c) => c.charCodeAt(0));

/** Processes images created by `fakeImage`. */
export class FakeImageProcessor implements ImageProcessor {
  async inspect(image: Uint8Array): Promise<ImageInfo> {
    return parse(image).info;
  }

  async resize(image: Uint8Array, target: ImageTarget): Promise<ProcessedImage> {
    const { info, isDamaged } = parse(image);
    const frames = Math.min(info.frames, target.maxFrames);
    if (frames > 1 && (!['gif', 'webp'].includes(info.format) || target.format === 'png'))
      throw unknownAnimationFormat();
    if (isDamaged) throw frames > 1 ? corruptAnimation() : unreadableImage();
    const scale = Math.min(target.width / info.width, target.height / info.height, 1);
    const [width, height] =
      target.fit === 'inside'
        ? [Math.round(info.width * scale), Math.round(info.height * scale)]
        : [target.width, target.height];
    const made = { format: target.format, width, height, frames };
    return { ...made, bytes: fakeImage(made) };
  }
}

function parse(image: Uint8Array): { readonly info: ImageInfo; readonly isDamaged: boolean } {
  const [, format, ...rest] = SIZE.exec(String.fromCharCode(...image.subarray(0, 100))) ?? [];
  if (format === undefined) throw unreadableImage();
  const [width, height, frames] = rest.map(Number) as [number, number, number];
  const isWhole = !['png', 'jpeg', 'gif'].includes(format);
  const pixels = width * height;
  if (pixels * frames > MAX_IMAGE_PIXELS || frames > MAX_FRAMES || (isWhole && pixels > MAX_WHOLE_PIXELS)) {
    throw imageTooLarge();
  }
  return { info: { format: format as ImageInfo['format'], width, height, frames }, isDamaged: rest[3] !== undefined };
}
