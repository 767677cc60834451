import { patched } from '@parley/domain/files';
import { crc32, HEIC_PHOTO, SeededRandomness } from '@parley/testkit';
import sharp from 'sharp';
import { FileMetadata } from './file-metadata.js';
import { openHeic } from './heic.js';

const metadata = new FileMetadata();
/** Words that a clean file does not contain. */
const SECRETS = ['CamCo', 'SN-48151', 'Rheinweg', '+47.5601'];
const XMP = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" photoshop:City="Rheinweg"/></rdf:RDF></x:xmpmeta>`;
/** Number of damaged files in CI or in an endurance run. */
const DAMAGED = process.env.HOSTILE_LOAD === 'long' ? 5000 : 60;

const FORMATS = ['jpeg', 'png', 'webp', 'avif'] as const;
type Format = (typeof FORMATS)[number];

/** Photo on its side with a color profile, and all kinds of metadata that the library writes. */
function photo(format: Format, orientation = 6): Promise<Buffer> {
  return sharp({ create: { width: 40, height: 24, channels: 3, background: '#c81e5a' } })
    .composite([{ input: { create: { width: 12, height: 7, channels: 3, background: 'blue' } }, left: 3, top: 9 }])
    .withIccProfile('p3')
    .withExif({
      IFD0: { Make: 'CamCo', Model: 'CamCo 5' },
      IFD2: { BodySerialNumber: 'SN-48151' },
      IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '47/1 33/1 36/1' },
    })
    .withMetadata({ orientation })
    .withXmp(XMP)
    .toFormat(format)
    .toBuffer();
}

async function clean(file: Uint8Array): Promise<Buffer> {
  const read = async (start: number, end: number) => {
    if (start < 0 || end > file.length || start > end) throw new RangeError(`${start}–${end} of ${file.length}`);
    return file.subarray(start, end);
  };
  const chunks: Uint8Array[] = [];
  const patches = await metadata.find({ size: file.length, read });
  for await (const chunk of patched(inPieces(file), patches)) chunks.push(chunk);
  const cleaned = Buffer.concat(chunks);
  expect(cleaned.length).toBe(file.length);
  return cleaned;
}

async function* inPieces(file: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.length; at += 37) yield file.subarray(at, at + 37);
}

const pixelsOf = (file: Uint8Array) => sharp(file, { failOn: 'none' }).raw().toBuffer();
const wordsIn = (file: Buffer) => SECRETS.filter((word) => file.includes(word));

describe('clean picture', () => {
  it.each(FORMATS)('has the pixels, orientation, color profile and length of the %s file', async (format) => {
    const file = await photo(format);
    expect(wordsIn(file)).toEqual(['CamCo', 'SN-48151', ...(format === 'png' ? [] : ['Rheinweg'])]);
    expect((await sharp(file).metadata()).xmp?.includes('Rheinweg')).toBe(true);
    const cleaned = await clean(file);
    expect(wordsIn(cleaned)).toEqual([]);
    expect(await pixelsOf(cleaned)).toEqual(await pixelsOf(file));
    const [before, after] = [await sharp(file).metadata(), await sharp(cleaned, { failOn: 'warning' }).metadata()];
    expect(before.orientation).toBe(format === 'avif' ? undefined : 6);
    const ofExif = { exif: 0, xmp: 0, xmpAsString: 0, resolutionUnit: 0, density: 0 };
    expect({ ...after, ...ofExif }).toEqual({ ...before, ...ofExif });
    expect(after.icc?.length).toBeGreaterThan(100);
  });

  it.each(FORMATS)('stays as it is when the %s file is cleaned again', async (format) => {
    const cleaned = await clean(await photo(format));
    const read = async (start: number, end: number) => cleaned.subarray(start, end);
    expect(await metadata.find({ size: cleaned.length, read })).toEqual([]);
  });

  it.each([1, 3, 8])('keeps the orientation %d of Exif data in both byte orders', async (orientation) => {
    const file = await photo('jpeg', orientation);
    expect((await sharp(await clean(file)).metadata()).orientation).toBe(orientation);
    const tiff = file.indexOf('Exif\0\0') + 6;
    const big = Buffer.from('4d4d002a0000000800010112000300000001000000000000000043616d436f', 'hex');
    big[19] = orientation;
    big.copy(file, tiff);
    const cleaned = await clean(file);
    expect((await sharp(cleaned).metadata()).orientation).toBe(orientation);
    expect(wordsIn(cleaned)).toEqual([]);
  });

  it('has no metadata of a HEIC photo', async () => {
    expect(HEIC_PHOTO.includes('Exif')).toBe(true);
    const cleaned = await clean(HEIC_PHOTO);
    expect(cleaned.equals(HEIC_PHOTO)).toBe(false);
    const decode = (file: Uint8Array) => sharp(openHeic(file).decode()).raw().toBuffer();
    expect(await decode(cleaned)).toEqual(await decode(HEIC_PHOTO));
    const { exif } = await sharp(cleaned).metadata();
    expect(exif?.subarray(40).every((byte) => byte === 0)).toBe(true);
  });

  it('has no IPTC data, comments and data of cameras from a JPEG file, but its JFIF header and Adobe transform', async () => {
    const file = await photo('jpeg');
    const adobe = segment(0xee, 'Adobe\0d\0\0\0\0\x01');
    const list = segment(0xe2, 'MPF\0MM\0*');
    const extra = [segment(0xed, 'Photoshop 3.0\x008BIM Rheinweg'), segment(0xfe, 'CamCo'), segment(0xe7, 'SN-48151')];
    const cleaned = await clean(Buffer.concat([file.subarray(0, 2), ...extra, adobe, list, file.subarray(2)]));
    expect(wordsIn(cleaned)).toEqual([]);
    expect([cleaned.includes(adobe), cleaned.includes(list)]).toEqual([true, true]);
  });

  it('has no metadata of the pictures and the video behind a JPEG picture', async () => {
    const file = await photo('jpeg');
    const movie = video([box('udta', box('\xa9xyz', '+47.5601+007.5886/'))]);
    const cleaned = await clean(Buffer.concat([file, Buffer.alloc(9), file, movie, Buffer.from('SEFT')]));
    expect(wordsIn(cleaned)).toEqual([]);
    expect(cleaned.subarray(file.length + 9, 2 * file.length + 9)).toEqual(await clean(file));
  });

  it('has no texts of a device or place from a PNG file, but others', async () => {
    const file = await photo('png');
    const texts = [
      pngChunk('tEXt', 'Source\0CamCo'),
      pngChunk('zTXt', 'Raw profile type iptc\0\0SN-48151'),
      pngChunk('iTXt', 'GPSLatitude\0\0\0\0\0+47.5601'),
      pngChunk('tEXt', 'Title\0A tree'),
    ];
    const cleaned = await clean(Buffer.concat([file.subarray(0, 33), ...texts, file.subarray(33)]));
    expect(wordsIn(cleaned)).toEqual([]);
    expect(cleaned.includes(texts[3]!)).toBe(true);
    expect((await sharp(cleaned, { failOn: 'warning' }).metadata()).comments).toMatchObject(
      expect.arrayContaining([{ keyword: 'Title', text: 'A tree' }]),
    );
  });

  it.each<[string, boolean, (data: number) => string]>([
    ['in a range of its own', true, (data) => location(1, 0, data, 4) + location(2, 0, data + 4, 40)],
    ['in the box of the items', true, (data) => location(1, 0, data, 4) + location(2, 1, 0, 40)],
    ['at the place of the pixels', false, (data) => location(1, 0, data, 4) + location(2, 0, data + 2, 40)],
    ['outside of the data', false, (data) => location(1, 0, data, 4) + location(2, 0, 0, 40)],
    ['behind the end', false, (data) => location(1, 0, data, 4) + location(2, 0, data + 4, 4000)],
  ])('has no Exif data %s of a HEIF file (%s)', async (_where, isCleaned, ilocOf) => {
    const file = picture(ilocOf(picture(ilocOf(0)).indexOf('pixe')));
    const cleaned = await clean(file);
    expect(wordsIn(file)).toEqual(['CamCo', 'SN-48151']);
    expect(wordsIn(cleaned).length < 2).toBe(isCleaned);
    expect(cleaned.equals(file)).toBe(!isCleaned);
    expect(cleaned.includes('pixe')).toBe(true);
  });

  it.each([
    ['a GIF', 'GIF89a'],
    ['a TIFF', 'II*\0'],
    ['a raw picture', '\0\0\0\x18ftypcrx \0\0\0\0crx isom'],
    ['text', 'Exif\0\0CamCo'],
    ['nothing', ''],
  ])('is not made of %s', async (_what, text) => {
    const file = Buffer.from(`${text}${text && 'CamCo'}`, 'latin1');
    expect(await clean(file)).toEqual(file);
  });
});

const number = (value: number, length: number): string =>
  Array.from({ length }, (_, index) => String.fromCharCode(Math.floor(value / 256 ** (length - 1 - index)) % 256)).join(
    '',
  );

/** Location of an item: `source` 0 counts from the start of the file, 1 from that of the box `idat`. */
const location = (item: number, source: number, start: number, length: number): string =>
  `${number(item, 2)}${number(source, 2)}\0\0\0\x01${number(start, 4)}${number(length, 4)}`;

/** Picture with an item of pixels and one of Exif data in both places. */
function picture(locations: string): Buffer {
  const entry = (id: number, type: string) => box('infe', `\x02\0\0\0${number(id, 2)}\0\0${type}\0`);
  const exif = (word: string) => `\0\0\0\0II*\0\x08\0\0\0\0\0${word}`.padEnd(40, '\0');
  return Buffer.concat([
    box('ftyp', 'heic\0\0\0\0'),
    box(
      'meta',
      '\0\0\0\0',
      box('iinf', '\0\0\0\0\0\x02', entry(1, 'av01'), entry(2, 'Exif')),
      box('iloc', `\x01\0\0\0\x44\0\0\x02${locations}`),
      box('idat', exif('CamCo')),
    ),
    box('mdat', 'pixe', exif('SN-48151')),
  ]);
}

const segment = (code: number, content: string): Buffer => {
  const head = Buffer.from([0xff, code, 0, 0]);
  head.writeUInt16BE(content.length + 2, 2);
  return Buffer.concat([head, Buffer.from(content, 'latin1')]);
};

function pngChunk(type: string, content: string): Buffer {
  const chunk = Buffer.from(`\0\0\0\0${type}${content}\0\0\0\0`, 'latin1');
  chunk.writeUInt32BE(content.length, 0);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
  return chunk;
}

function box(type: string, ...content: readonly (string | Buffer)[]): Buffer {
  const bytes = content.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part));
  const framed = Buffer.concat([Buffer.alloc(4), Buffer.from(type, 'latin1'), ...bytes]);
  framed.writeUInt32BE(framed.length, 0);
  return framed;
}

const video = (movie: readonly Buffer[], content = 'frames') =>
  Buffer.concat([box('ftyp', 'isom\0\0\0\0'), box('mdat', content), box('moov', box('mvhd', 'times'), ...movie)]);

describe('clean video', () => {
  const item = (index: number, text: string) =>
    box(String.fromCharCode(0, 0, 0, index), box('data', '\0\0\0\x01\0\0\0\0', text));
  const keys = (...names: readonly string[]) =>
    box('keys', '\0\0\0\0\0\0\0', String.fromCharCode(names.length), ...names.map((name) => box('mdta', name)));
  const appleMeta = (...more: readonly Buffer[]) => [
    ...more,
    keys('com.apple.quicktime.location.ISO6709', 'com.apple.quicktime.title', 'com.apple.quicktime.make'),
    box('ilst', item(1, '+47.5601+007.5886/'), item(2, 'A tree'), item(3, 'CamCo')),
  ];

  it.each<[string, Buffer[]]>([
    ['user data', [box('udta', box('\xa9xyz', '+47.5601'), box('loci', 'Rheinweg'), box('CAME', 'SN-48151'))]],
    ['metadata of QuickTime', [box('meta', ...appleMeta(box('hdlr', 'mdta')))]],
    ['metadata with a version', [box('udta', box('meta', '\0\0\0\0', ...appleMeta()))]],
    [
      'user data and metadata of a track',
      [box('trak', box('udta', box('\xa9mod', 'CamCo')), box('meta', ...appleMeta(box('hdlr'))))],
    ],
    ['XML of a camera', [box('meta', '\0\0\0\0', box('xml ', '<Device serialNo="SN-48151"/>'))]],
    ['data of a producer', [box('uuid', Buffer.from('be7acfcb97a942e89c71999491e3afac', 'hex'), XMP)]],
    [
      'metadata of iTunes',
      [box('udta', box('meta', '\0\0\0\0', box('ilst', box('\xa9xyz', box('data', '\0\0\0\x01\0\0\0\0+47.5601')))))],
    ],
  ])('has no place, make, model and serial number from %s', async (_what, movie) => {
    const file = video([...movie, box('udta', box('\xa9nam', 'A tree')), box('trak', box('tkhd', 'size'))]);
    expect(wordsIn(file)).not.toEqual([]);
    const cleaned = await clean(file);
    expect(wordsIn(cleaned)).toEqual([]);
    for (const kept of ['frames', 'times', 'size', 'A tree']) expect(cleaned.includes(kept)).toBe(true);
    expect(await clean(cleaned)).toEqual(cleaned);
  });

  it('keeps the boxes of a track that say how to show it', async () => {
    const file = video([box('trak', box('uuid', 'spherical'), box('udta', box('name', 'left'), box('hinf', 'x')))]);
    expect(await clean(file)).toEqual(file);
  });

  it('is found by reading less than a megabyte of a large file', async () => {
    const end = video([box('udta', box('\xa9xyz', '+47.5601'))]).subarray(30);
    const size = 3 * 2 ** 30;
    const head = Buffer.concat([box('ftyp', 'isom\0\0\0\0'), Buffer.from('\0\0\0\x01mdat', 'latin1'), Buffer.alloc(8)]);
    head.writeBigUInt64BE(BigInt(size - 16 - end.length), 24);
    let count = 0;
    const read = async (start: number, to: number) => {
      count += to - start;
      const bytes = Buffer.alloc(to - start);
      if (start < head.length) head.copy(bytes, 0, start);
      if (to > size - end.length) end.copy(bytes, Math.max(0, size - end.length - start));
      return bytes;
    };
    const patches = await metadata.find({ size, read });
    expect(patches.map(({ start }) => start > size - end.length)).toEqual([true, true]);
    expect(count).toBeLessThan(2 ** 20);
  });
});

describe('file', () => {
  const randomness = new SeededRandomness(1);
  const below = (limit: number) => Number.parseInt(randomness.uuid().slice(0, 8), 16) % limit;

  it.each([...FORMATS, 'mp4'] as const)(
    'is cleaned without an error and with the same pixels if it is a damaged %s file',
    async (format) => {
      const whole =
        format === 'mp4'
          ? video([
              box('udta', box('meta', '\0\0\0\0', box('keys', '\0'.repeat(8), box('mdta', 'make')), box('ilst', 'x'))),
              box('meta'),
            ])
          : await photo(format);
      for (let round = 0; round < DAMAGED; round++) {
        const file = Buffer.from(whole.subarray(0, below(4) === 0 ? below(whole.length) : whole.length));
        for (let count = below(6); count > 0; count--) file[below(file.length)] = [0, 1, 0xff, below(256)][below(4)]!;
        const cleaned = await clean(file);
        expect(await clean(cleaned)).toEqual(cleaned);
        if (format === 'mp4') continue;
        const before = await pixelsOf(file).catch(() => null);
        if (before) expect((await pixelsOf(cleaned)).equals(before)).toBe(true);
      }
    },
  );

  it.each([
    ['fill bytes', '\xff\xd8\xff', '\xff'],
    ['tiny segments', '\xff\xd8\xff', '\xff\xe1\0\x02'],
    ['tiny pictures', '\xff\xd8\xff\xd9', '\xff\xd8\xff\xd9'],
    ['tiny chunks', '\x89PNG\r\n\x1a\n', '\0\0\0\0eXIf\0\0\0\0'],
    ['tiny boxes', '\0\0\0\x08ftyp\0\0\0\0moov', '\0\0\0\x08uuid'],
    ['nested boxes', '\0\0\0\x08ftyp', '\0\x20\0\0moov'],
    ['empty chunks', 'RIFF\0\0\0\0WEBP', 'XMP \0\0\0\0'],
  ])('is read to its end or to the limit of parts if it consists of %s', async (_what, head, part) => {
    const file = Buffer.alloc(2 ** 20, part, 'latin1');
    file.write(head, 0, 'latin1');
    const cleaned = await clean(file);
    expect(cleaned.length).toBe(file.length);
  });
});
