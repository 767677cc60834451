import { gzipSync } from 'node:zlib';
import { blackHeic, blackPng, crc32, HEIC_PHOTO, SeededRandomness, TIFF, TURNED_HEIC_PHOTO } from '@parley/testkit';
import sharp from 'sharp';
import { openHeic } from './heic.js';
import { SharpImageProcessor } from './sharp-image-processor.js';

const processor = new SharpImageProcessor(openHeic);
const TICK = { width: 64, height: 64, fit: 'contain', format: 'png', maxFrames: 1 } as const;
const SCRIPT = '<script>alert(1)</script>';
const REFUSALS = ['UNREADABLE_IMAGE', 'IMAGE_TOO_LARGE', 'CORRUPT_ANIMATION', 'UNKNOWN_ANIMATION_FORMAT'];
/** Number of fuzzed images in CI or in an endurance run. */
const FUZZED = process.env.HOSTILE_LOAD === 'long' ? 10_000 : 300;

const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="alert(1)">${SCRIPT}</svg>`;
const photo = (width = 40, height = 30) =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 30, b: 90 } } });

/** Inserts a chunk before the end of a PNG. */
function withChunk(png: Buffer, type: string, data: Buffer): Buffer {
  const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from(type, 'latin1'), data, Buffer.alloc(4)]);
  chunk.writeUInt32BE(data.length, 0);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), data.length + 8);
  return Buffer.concat([png.subarray(0, -12), chunk, png.subarray(-12)]);
}

describe('file without pixels', () => {
  it.each([
    ['an SVG with a script', svg],
    ['an SVG with a prolog', `\uFEFF<?xml version="1.0"?>\n<!DOCTYPE svg>\n${svg}`],
    ['an SVG after white space', `\n\n   ${svg}`],
    ['an SVG that reads files', `<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>${svg}`],
    ['an SVG that loads images', svg.replace(SCRIPT, '<image href="http://localhost:1/x.png" width="9" height="9"/>')],
    ['a page', `<!doctype html><body>${SCRIPT}`],
    ['an HTML page that begins like a GIF', `GIF89a${SCRIPT}`],
    ['a script that begins like a GIF', 'GIF89a/*........*/=1;alert(1)'],
    ['a PDF', '%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\n'],
    ['PostScript', '%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(/etc/passwd) (r) file'],
    ['drawing commands', "push graphic-context\nviewbox 0 0 9 9\nfill 'url(https://localhost/x)'\npop graphic-context"],
    ['a bitmap as text', 'P1\n3 3\n010\n101\n010\n'],
    ['an archive', 'PK\u0003\u0004........'],
    ['a header without an image', '\u0089PNG\r\n\u001a\n'],
  ])('rejects the file: %s', async (_what, text) => {
    for (const bytes of [Buffer.from(text, 'utf8'), Buffer.from(text, 'latin1'), gzipSync(text)]) {
      await expect(processor.inspect(bytes)).rejects.toMatchObject({ code: 'UNREADABLE_IMAGE' });
      await expect(processor.resize(bytes, TICK)).rejects.toMatchObject({ code: 'UNREADABLE_IMAGE' });
    }
  });
});

describe('resized image', () => {
  it.each([
    ['behind a PNG', async () => Buffer.concat([await photo().png().toBuffer(), Buffer.from(SCRIPT)])],
    ['behind a JPEG', async () => Buffer.concat([await photo().jpeg().toBuffer(), Buffer.from(SCRIPT)])],
    ['behind a GIF', async () => Buffer.concat([await photo().gif().toBuffer(), Buffer.from(SCRIPT)])],
    ['in a PNG text chunk', async () => withChunk(blackPng(9, 9), 'tEXt', Buffer.from(`Comment\0${SCRIPT}`))],
    ['in an unknown chunk', async () => withChunk(blackPng(9, 9), 'haCk', Buffer.from(SCRIPT))],
    [
      'in EXIF',
      () =>
        photo()
          .withExif({ IFD0: { ImageDescription: SCRIPT } })
          .jpeg()
          .toBuffer(),
    ],
    ['in XMP', () => photo().withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/">${SCRIPT}</x:xmpmeta>`).webp().toBuffer()],
  ])('loses hidden data: %s', async (_where, make) => {
    const image = await make();
    expect(image.includes(SCRIPT)).toBe(true);
    for (const format of ['png', 'webp', 'gif'] as const) {
      const { bytes } = await processor.resize(image, { ...TICK, format });
      expect(Buffer.from(bytes).includes('script')).toBe(false);
    }
  });
});

describe('image that claims more than it contains', () => {
  const gif = (width: number, height: number, frames: number): Buffer => {
    const screen = Buffer.from('GIF89a\0\0\0\0\x80\0\0\0\0\0\xff\xff\xff', 'latin1');
    screen.writeUInt16LE(width, 6);
    screen.writeUInt16LE(height, 8);
    const frame = Buffer.from('\x21\xf9\x04\0\x0a\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x4c\x01\0', 'latin1');
    frame.writeUInt16LE(width, 13);
    frame.writeUInt16LE(height, 15);
    return Buffer.concat([screen, ...Array.from({ length: frames }, () => frame), Buffer.from(';')]);
  };
  /** Width and height are the first two tags. */
  const tiff = (width: number, height: number): Buffer => {
    const image = Buffer.from(TIFF);
    const tags = image.readUInt32LE(4) + 2;
    image.writeUInt16LE(width, tags + 8);
    image.writeUInt16LE(height, tags + 20);
    return image;
  };
  const webp = async (width: number, height: number): Promise<Buffer> => {
    const image = await photo(16, 16).webp().toBuffer();
    const header = image.indexOf('VP8 ') + 14;
    image.writeUInt16LE(width, header);
    image.writeUInt16LE(height, header + 2);
    return image;
  };
  const jpeg = async (width: number, height: number): Promise<Buffer> => {
    const image = await photo(16, 16).jpeg({ mozjpeg: false }).toBuffer();
    const frame = image.indexOf(Buffer.of(0xff, 0xc0));
    image.writeUInt16BE(height, frame + 5);
    image.writeUInt16BE(width, frame + 7);
    return image;
  };

  it.each([
    ['pixels of a PNG', async () => blackPng(20_000, 20_000)],
    ['pixels of a JPEG', () => jpeg(65_000, 65_000)],
    ['pixels of a GIF', async () => gif(65_535, 65_535, 1)],
    ['pixels of a HEIC', async () => blackHeic(20_000, 20_000)],
    ['HEIC pixels missing from the header', async () => blackHeic(64, 64)],
    ['HEIC pixels that contradict the header', async () => blackHeic(6000, 5000)],
    ['pixels of a TIFF', async () => tiff(65_000, 65_000)],
    ['pixels of a WebP', async () => webp(16_000, 16_000)],
    ['pixels of all frames', async () => gif(1000, 1000, 91)],
    ['frames', async () => gif(1, 1, 2001)],
  ])('rejects a misleading image before decoding it: %s', async (_what, make) => {
    const image = await make();
    expect(image.length).toBeLessThan(200_000);
    const startedAt = performance.now();
    await expect(processor.resize(image, TICK)).rejects.toMatchObject({
      code: expect.stringMatching(/^(IMAGE_TOO_LARGE|UNREADABLE_IMAGE)$/),
    });
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });

  it('is accepted within the limits', async () => {
    expect(await processor.resize(blackPng(9000, 9000), TICK)).toMatchObject({ width: 64, height: 64 });
    expect(await processor.resize(gif(10, 10, 2000), TICK)).toMatchObject({ frames: 1 });
  });

  it('uses no memory for text chunks', async () => {
    const bomb = withChunk(blackPng(9, 9), 'zTXt', Buffer.concat([Buffer.from('x\0\0'), gzipSync(Buffer.alloc(1e8))]));
    const before = process.memoryUsage().rss;
    await processor.resize(bomb, TICK).catch(() => undefined);
    expect(process.memoryUsage().rss - before).toBeLessThan(200e6);
  });
});

it(`processes or rejects each of ${FUZZED} damaged images`, async () => {
  const random = new SeededRandomness(Number(process.env.HOSTILE_SEED ?? 7));
  const upTo = (count: number): number => Math.floor(random.fraction() * count);
  const frames = Buffer.alloc(20 * 60 * 3, 'abcdefg');
  const moving = () => sharp(frames, { raw: { width: 20, height: 60, channels: 3, pageHeight: 20 } });
  const seeds = [
    await photo().png().toBuffer(),
    await photo().png({ palette: true, progressive: true }).toBuffer(),
    await photo()
      .withExif({ IFD0: { Make: 'Camera' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer(),
    await photo().jpeg({ progressive: true }).toBuffer(),
    await moving().gif().toBuffer(),
    await moving().webp({ lossless: true }).toBuffer(),
    await photo().webp().toBuffer(),
    await photo().tiff({ compression: 'lzw' }).toBuffer(),
    await photo(16, 16).avif({ effort: 0 }).toBuffer(),
    HEIC_PHOTO,
    TURNED_HEIC_PHOTO,
  ];
  const damaged = (seed: Buffer): Buffer => {
    let image = Buffer.from(seed);
    for (let change = 1 + upTo(8); change > 0; change--) {
      const at = upTo(image.length);
      const kind = upTo(4);
      if (kind === 0) image[at] = upTo(256);
      else if (kind === 1) image[at]! ^= 1 << upTo(8);
      else if (kind === 2) image = Buffer.concat([image.subarray(0, at), image.subarray(at + upTo(20))]);
      else image = Buffer.concat([image.subarray(0, at), Buffer.alloc(upTo(20), upTo(256)), image.subarray(at)]);
    }
    return image;
  };
  const outcomes = new Map<string, number>();
  for (let n = 0; n < FUZZED; n++) {
    const target = { ...TICK, ...(n % 2 === 0 && { format: 'gif' as const, maxFrames: 2000 }) };
    const outcome = await processor.resize(damaged(seeds[n % seeds.length]!), target).then(
      ({ width, height }) => (width === 64 && height === 64 ? 'shown' : `${width} × ${height}`),
      (error) => error.code ?? String(error),
    );
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  expect([...outcomes.keys()].filter((it) => it !== 'shown' && !REFUSALS.includes(it))).toEqual([]);
  expect(outcomes.get('shown')).toBeGreaterThan(FUZZED / 20);
  expect(outcomes.get('UNREADABLE_IMAGE')).toBeGreaterThan(FUZZED / 20);
}, 1_800_000);
