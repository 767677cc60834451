import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { type ReadablePicture, ReadExternalPicture } from '@parley/domain/files';
import type { HttpFeature } from '../declarations/feature.js';
import { type Route, route } from '../declarations/route.js';
import { TextParam } from '../params/params.js';
import type { Reply } from '../wire/reply.js';

/** Returns a PNG chunk with length and checksum. `type` has four letters. */
export function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

/** Node has this function from version 22 on. */
function crc32(data: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

/** Cells per row of the pattern, which is symmetric about its middle column. */
const CELLS = 5;
const COLUMNS = Math.ceil(CELLS / 2);
const BACKGROUND = [240, 240, 240] as const;

/** Margin of the pattern in cells. */
const MARGIN = 0.5;

/** Draws a square two-color PNG that is stable per seed and almost unique. */
export function drawIdenticon(seed: string, size: number): Buffer {
  const hash = createHash('sha256').update(seed).digest();
  const isFilled = (column: number, row: number): boolean =>
    (hash[2 + Math.min(column, CELLS - 1 - column) + row * COLUMNS]! & 1) === 1;

  const cell = size / (CELLS + 2 * MARGIN);
  const cellAt = (position: number): number => Math.floor(position / cell - MARGIN);
  const bytesPerRow = Math.ceil(size / 8) + 1; // each row begins with a filter type byte; 0 is none
  const rows = Buffer.alloc(size * bytesPerRow);
  // Draws each distinct pixel row once, because anonymous callers may request pictures.
  const drawn = new Map<number, number>();
  for (let y = 0; y < size; y++) {
    const row = cellAt(y);
    if (row < 0 || row >= CELLS) continue;
    const start = y * bytesPerRow;
    const same = drawn.get(row);
    if (same !== undefined) {
      rows.copyWithin(start, same, same + bytesPerRow);
      continue;
    }
    drawn.set(row, start);
    for (let x = 0; x < size; x++) {
      const column = cellAt(x);
      if (column < 0 || column >= CELLS || !isFilled(column, row)) continue;
      rows[start + 1 + (x >> 3)]! |= 0x80 >> (x & 7);
    }
  }
  return png(size, [BACKGROUND, colorOf(hash.readUInt16BE(0) / 0x10000)], rows);
}

type Color = readonly [red: number, green: number, blue: number];

/** Returns a color that contrasts with the background for any hue (0 … 1). */
function colorOf(hue: number): Color {
  const lightness = 0.45;
  const chroma = 0.55 * Math.min(lightness, 1 - lightness);
  const channel = (offset: number): number => {
    const position = (offset + hue * 12) % 12;
    return Math.round(255 * (lightness - chroma * Math.max(-1, Math.min(position - 3, 9 - position, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Encodes a PNG (RFC 2083). `rows` holds palette indices of one bit per pixel. */
function png(size: number, palette: readonly Color[], rows: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header[8] = 1; // bits per pixel
  header[9] = 3; // color type: palette
  return Buffer.concat([
    SIGNATURE,
    pngChunk('IHDR', header),
    pngChunk('PLTE', Buffer.from(palette.flat())),
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Options of picture routes; public, because browsers load pictures without credentials. */
export const SERVES_PICTURES = {
  tag: 'Files',
  auth: 'anyone',
  limit: 'none',
  atRoot: true,
  contentType: 'image/*',
} as const;

/** Prevents code from running if a browser treats the picture as a document. */
const HEADERS = ['Content-Security-Policy', "sandbox; default-src 'none'"];

/** Serves a whole picture. A changed picture has a different URL or version. */
export const servePicture = ({ format, size, read }: Pick<ReadablePicture, 'format' | 'size' | 'read'>): Reply => ({
  status: 200,
  body: { bytes: read(), length: size },
  contentType: `image/${format}`,
  cacheControl: 'public, max-age=31536000, immutable',
  headers: HEADERS,
});

/** Serves a generated square picture of the given size, stable per seed. */
export const serveIdenticon = (seed: string, size: number): Reply => ({
  status: 200,
  body: drawIdenticon(seed, size),
  contentType: 'image/png',
  cacheControl: 'public, max-age=86400',
});

const MAX_ENCODED_LENGTH = 4000;

class ExternalPictureDto {
  @TextParam({ max: 40, description: 'Signature of the URL.' }) signature!: string;
  @TextParam({ max: MAX_ENCODED_LENGTH, description: 'URL of the picture in hexadecimal.' }) encoded_url!: string;
}

const externalPictures = (): readonly Route[] => [
  route('GET', '/external_content/:signature/:encoded_url', {
    summary: 'Get a picture of another site, for a link preview',
    extension: 'extensions §1',
    ...SERVES_PICTURES,
    dto: ExternalPictureDto,
    useCase: ReadExternalPicture,
    response: 'bytes',
    handle: async ({ dto: { signature, encoded_url: encodedUrl }, caller, useCase }) => {
      const picture = servePicture(await useCase.execute(caller, { signature, encodedUrl }));
      // The site may replace the picture.
      return { ...picture, cacheControl: 'public, max-age=86400' };
    },
  }),
];

export const PICTURES = {
  tag: 'Files',
  routes: externalPictures,
  errors: { UNKNOWN_PICTURE: { status: 404 } },
} satisfies HttpFeature;
