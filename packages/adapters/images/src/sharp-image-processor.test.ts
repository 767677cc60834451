import { crc32, HEIC_PHOTO, TURNED_HEIC_PHOTO } from '@parley/testkit';
import { type ImageSample, imageProcessorContract } from '@parley/testkit/contracts';
import sharp, { type Sharp } from 'sharp';
import { openHeic } from './heic.js';
import { SharpImageProcessor } from './sharp-image-processor.js';

const processor = new SharpImageProcessor(openHeic);

/** Creates a noise image, which compresses badly; large images have only a valid header. */
async function makeImage(sample: ImageSample): Promise<Uint8Array> {
  const { format, width, height, frames, damage } = sample;
  // No HEIC encoder is available.
  if (format === 'heic') return HEIC_PHOTO;
  if (width * height > 1_000_000)
    return claim(Buffer.from(await makeImage({ ...sample, width: 16, height: 16 })), sample);
  const bytes = await sharp(noise(width, height * frames), {
    raw: { width, height: height * frames, channels: 3, ...(frames > 1 && { pageHeight: height }) },
  })
    .toFormat(format, { ...(damage === 'frame' && { lossless: true }) })
    .toBuffer();
  if (damage === 'end') return bytes.subarray(0, Math.floor(bytes.length * 0.7));
  // Damages the last frame of a WebP.
  if (damage === 'frame') bytes.fill(0xff, bytes.lastIndexOf('VP8L') + 13, bytes.lastIndexOf('VP8L') + 60);
  return bytes;
}

/** Writes dimensions into the header of an image. */
function claim(image: Buffer, { format, width, height }: ImageSample): Buffer {
  if (format === 'png') {
    image.writeUInt32BE(width, 16);
    image.writeUInt32BE(height, 20);
    image.writeUInt32BE(crc32(image.subarray(12, 29)), 29);
  } else {
    const header = image.indexOf('VP8 ') + 14;
    image.writeUInt16LE(width, header);
    image.writeUInt16LE(height, header + 2);
  }
  return image;
}

function noise(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(width * height * 3);
  let state = 1;
  for (let at = 0; at < bytes.length; at++) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    bytes[at] = state >> 16;
  }
  return bytes;
}

describe('SharpImageProcessor implements', () => imageProcessorContract(async () => ({ processor, make: makeImage })));

describe('photo', () => {
  const STILL = { width: 50, height: 50, fit: 'inside', format: 'webp', maxFrames: 1 } as const;
  /** 40 × 20 pixels, red on the left and blue on the right. */
  const photo = (): Sharp =>
    sharp({ create: { width: 40, height: 20, channels: 3, background: 'red' } }).composite([
      { input: { create: { width: 20, height: 20, channels: 3, background: 'blue' } }, left: 20, top: 0 },
    ]);

  it('applies the orientation and removes the location', async () => {
    const image = await photo()
      .withExif({ IFD0: { Make: 'Camera' }, IFD3: { GPSLatitude: '51/1 30/1 0/1', GPSLatitudeRef: 'N' } })
      .withMetadata({ orientation: 6 })
      .withXmp(
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/></x:xmpmeta>',
      )
      .jpeg()
      .toBuffer();
    expect((await sharp(image).metadata()).exif!.includes('Camera')).toBe(true);
    expect(await processor.inspect(image)).toEqual({ format: 'jpeg', width: 20, height: 40, frames: 1 });
    const made = await processor.resize(image, STILL);
    expect(made).toMatchObject({ width: 20, height: 40 });
    const { exif, xmp, iptc, icc, orientation } = await sharp(made.bytes).metadata();
    expect({ exif, xmp, iptc, icc, orientation }).toEqual({});
    const top = await sharp(made.bytes)
      .extract({ left: 10, top: 5, width: 1, height: 1 })
      .removeAlpha()
      .raw()
      .toBuffer();
    expect(top[0]).toBeGreaterThan(200);
    expect(top[2]).toBeLessThan(50);
  });

  it('accepts other color spaces', async () => {
    const cmyk = await photo().toColourspace('cmyk').jpeg().toBuffer();
    expect((await sharp(cmyk).metadata()).space).toBe('cmyk');
    const { space, channels } = await sharp((await processor.resize(cmyk, STILL)).bytes).metadata();
    expect([space, channels]).toEqual(['srgb', 3]);
  });
});

describe('phone photo', () => {
  const STILL = { width: 50, height: 50, fit: 'inside', format: 'png', maxFrames: 1 } as const;
  const pixelOf = async (image: Uint8Array, left: number, top: number): Promise<readonly number[]> => {
    const pixel = sharp(image).extract({ left, top, width: 1, height: 1 }).removeAlpha().raw();
    return [...(await pixel.toBuffer())];
  };

  it.each([
    ['unrotated', HEIC_PHOTO, [40, 20], [30, 10]],
    ['rotated by its metadata', TURNED_HEIC_PHOTO, [20, 40], [10, 30]],
  ] as const)('is shown %s, keeps its colors and loses its location', async (_how, photo, size, blue) => {
    for (const text of ['Exif', 'Camera']) expect(photo.includes(text)).toBe(true);
    const [width, height] = size;
    expect(await processor.inspect(photo)).toEqual({ format: 'heic', width, height, frames: 1 });
    const made = await processor.resize(photo, STILL);
    expect(made).toMatchObject({ format: 'png', width, height, frames: 1 });
    const [first, last] = [await pixelOf(made.bytes, 5, 5), await pixelOf(made.bytes, blue[0], blue[1])];
    // Pure red in sRGB; ignoring the profile would give 234, 51, 35.
    expect(first[0]).toBeGreaterThan(245);
    expect(Math.max(first[1]!, first[2]!)).toBeLessThan(20);
    expect(last[2]).toBeGreaterThan(245);
    expect(Math.max(last[0]!, last[1]!)).toBeLessThan(20);
    const { exif, xmp, iptc, icc, orientation } = await sharp(made.bytes).metadata();
    expect({ exif, xmp, iptc, icc, orientation }).toEqual({});
  });

  it('is rejected as HEIC if blocking the thread is not allowed', async () => {
    const withoutIt = new SharpImageProcessor();
    await expect(withoutIt.inspect(HEIC_PHOTO)).rejects.toMatchObject({ code: 'UNREADABLE_IMAGE' });
    await expect(withoutIt.resize(HEIC_PHOTO, STILL)).rejects.toMatchObject({ code: 'UNREADABLE_IMAGE' });
  });
});

it('rejects a progressive image that requires the whole image in memory', async () => {
  const image = await sharp({ create: { width: 6000, height: 5001, channels: 3, background: 'red' } })
    .jpeg({ progressive: true })
    .toBuffer();
  await expect(processor.inspect(image)).rejects.toMatchObject({ code: 'IMAGE_TOO_LARGE' });
});

it('rejects a header that claims too many pixels', async () => {
  const image = Buffer.from(await makeImage({ format: 'png', width: 10, height: 10, frames: 1 }));
  image.writeUInt32BE(2 ** 31 - 1, 16);
  await expect(processor.inspect(image)).rejects.toMatchObject({ code: expect.stringMatching(/UNREADABLE|TOO_LARGE/) });
});
