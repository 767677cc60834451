import { crc32 } from 'node:zlib';
import { applyPatch, type MetadataFinder, type Patch, type ScannedFile } from '@parley/domain/files';

/** Maximum number of bytes in memory at a time. */
const WINDOW = 256 * 1024;
const CALLS_PER_READ = 10_000;
/** Maximum number of segments, chunks, boxes and items; the rest of such a file stays as it is. */
const MAX_PARTS = 20_000;
const SPACE = 0x20;

/** Finds metadata in the types of pictures and videos in personal-data.md. */
export class FileMetadata implements MetadataFinder {
  async find(file: ScannedFile): Promise<readonly Patch[]> {
    const scan = new Scan(file);
    await scanFile(scan);
    const found: Patch[] = [];
    for (const patch of scan.patches) if (await scan.isChangedBy(patch)) found.push(patch);
    return found.sort((a, b) => a.start - b.start);
  }
}

/** Reads parts of an untrusted file and collects patches. */
class Scan {
  readonly patches: Patch[] = [];
  readonly size: number;
  private parts = 0;
  private calls = 0;
  private windowAt = 0;
  private window: Uint8Array = new Uint8Array();

  constructor(private readonly file: ScannedFile) {
    this.size = file.size;
  }

  /** Returns `least` or more bytes from here on, fewer at the end of the file. */
  async from(start: number, least: number): Promise<Uint8Array> {
    const wanted = Math.min(least, WINDOW, Math.max(0, this.size - start));
    const isThere = start >= this.windowAt && start + wanted <= this.windowAt + this.window.length;
    // Reading again now and then lets other requests run in between.
    if (!isThere || ++this.calls % CALLS_PER_READ === 0) {
      const end = Math.min(this.size, start + WINDOW);
      this.window = Uint8Array.from(start < end ? await this.file.read(start, end) : []);
      this.windowAt = start;
    }
    return this.window.subarray(start - this.windowAt);
  }

  /** Returns the bytes of a range, at most those of a window. */
  async range(start: number, end: number): Promise<Uint8Array> {
    return (await this.from(start, end - start)).subarray(0, Math.max(0, end - start));
  }

  /** Counts a part; false if there are too many. */
  hasPart(): boolean {
    return ++this.parts <= MAX_PARTS;
  }

  replace(start: number, end: number, bytes: readonly number[] = [], fill = 0): void {
    this.patches.push({ start, end: Math.min(end, this.size), bytes, fill });
  }

  async isChangedBy(patch: Patch): Promise<boolean> {
    for (let at = patch.start; at < patch.end; ) {
      const before = await this.range(at, patch.end);
      if (before.length === 0) return false;
      const after = before.slice();
      applyPatch(patch, after, at);
      if (after.some((byte, index) => byte !== before[index])) return true;
      at += before.length;
    }
    return false;
  }
}

/** Big-endian number; bytes behind the end count as 0. */
function uint(bytes: Uint8Array, start: number, length: number): number {
  let sum = 0;
  for (let at = start; at < start + length; at++) sum = sum * 256 + (bytes[at] ?? 0);
  return sum;
}
const u16 = (bytes: Uint8Array, at: number): number => uint(bytes, at, 2);
const u32 = (bytes: Uint8Array, at: number): number => uint(bytes, at, 4);
const textOf = (bytes: Uint8Array, start: number, end: number): string =>
  String.fromCharCode(...bytes.subarray(start, Math.min(end, start + 256)));
const codesOf = (text: string): number[] => Array.from(text, (letter) => letter.charCodeAt(0));

async function scanFile(scan: Scan): Promise<void> {
  const head = await scan.range(0, 12);
  if (isJpeg(head, 0)) return scanJpegs(scan);
  if (textOf(head, 0, 8) === '\x89PNG\r\n\x1a\n') return scanPng(scan);
  if (textOf(head, 0, 4) === 'RIFF' && textOf(head, 8, 12) === 'WEBP') return scanWebp(scan);
  // Raw pictures need their metadata.
  if (FIRST_BOXES.has(textOf(head, 4, 8)) && textOf(head, 8, 12) !== 'crx ') return scanBoxFile(scan, 0);
}

const EXIF = 'Exif\0\0';

/** Returns Exif data that contain only the orientation of these. */
function onlyOrientation(exif: Uint8Array): readonly number[] {
  const prefix = textOf(exif, 0, 6) === EXIF ? EXIF : '';
  const tiff = exif.subarray(prefix.length);
  // Big-endian TIFF with one directory of one tag, which has the type "short".
  const header = [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1];
  return [...codesOf(prefix), ...header, 0, orientationOf(tiff), 0, 0, 0, 0, 0, 0];
}

/** Returns 1 for upright pictures. */
function orientationOf(tiff: Uint8Array): number {
  const isLittle = textOf(tiff, 0, 2) === 'II';
  const number = (at: number, length: number): number => {
    const bytes = tiff.slice(at, at + length);
    return uint(isLittle ? bytes.reverse() : bytes, 0, length);
  };
  const directory = number(4, 4);
  const count = number(directory, 2);
  for (let index = 0; index < count; index++) {
    const entry = directory + 2 + 12 * index;
    if (entry + 12 > tiff.length) break;
    if (number(entry, 2) !== 0x0112) continue;
    const value = number(entry + 8, { 1: 1, 4: 4 }[number(entry + 2, 2)] ?? 2);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

const START_OF_JPEG = 0xd8;
const END_OF_JPEG = 0xd9;
const JPEG_COMMENT = 0xfe;
/** Application data that decoders need: JFIF, color profiles with lists of further pictures, and Adobe's color transform. */
const KEPT_SEGMENTS: ReadonlySet<number> = new Set([0xe0, 0xe2, 0xee]);

const isJpeg = (bytes: Uint8Array, at: number): boolean =>
  bytes[at] === 0xff && bytes[at + 1] === START_OF_JPEG && bytes[at + 2] === 0xff;

/** Scans a JPEG picture and those behind it, such as depth maps and the video of a motion photo. */
async function scanJpegs(scan: Scan): Promise<void> {
  let at = await scanJpeg(scan, 0);
  while (at < scan.size && scan.hasPart()) {
    const bytes = await scan.from(at, WINDOW);
    let next = at + Math.max(1, bytes.length - 7);
    for (let index = 0; index < bytes.length; index++) {
      if (isJpeg(bytes, index)) {
        next = await scanJpeg(scan, at + index);
        break;
      }
      if (bytes[index] === FTYP >> 24 && index >= 4 && u32(bytes, index) === FTYP) {
        return scanBoxFile(scan, at + index - 4);
      }
    }
    at = next;
  }
}

/** Type of the first box of a video. */
const FTYP = 0x66747970;

/** Returns the position behind the picture. */
async function scanJpeg(scan: Scan, from: number): Promise<number> {
  for (let next = from + 2; scan.hasPart(); ) {
    const at = await findMarker(scan, next);
    if (at === null) return scan.size;
    const head = await scan.range(at, at + 4);
    const code = head[1]!;
    next = at + 2;
    if (code === END_OF_JPEG) return next;
    // Markers without a length.
    if (code < 0xc0 || code === START_OF_JPEG) continue;
    next += Math.max(2, u16(head, 2));
    const isMetadata = (code >= 0xe0 && code <= 0xef && !KEPT_SEGMENTS.has(code)) || code === JPEG_COMMENT;
    if (!isMetadata) continue;
    const payload = await scan.range(at + 4, next);
    const isExif = code === 0xe1 && textOf(payload, 0, 6) === EXIF;
    scan.replace(at + 4, next, isExif ? onlyOrientation(payload) : []);
  }
  return scan.size;
}

/** Skips pixels, which contain FF only before 00 and restart markers. */
async function findMarker(scan: Scan, from: number): Promise<number | null> {
  for (let at = from; at < scan.size; ) {
    const bytes = await scan.from(at, 2);
    for (let index = bytes.indexOf(0xff); index >= 0; index = bytes.indexOf(0xff, index + 1)) {
      const code = bytes[index + 1] ?? 0;
      if (code !== 0 && code !== 0xff && (code < 0xd0 || code > 0xd7)) return at + index;
    }
    at += Math.max(1, bytes.length - 1);
  }
  return null;
}

/** Keywords of texts with data of a device or place. */
const DEVICE_TEXT =
  /^(?:raw profile type |xml:com\.adobe\.xmp|exif|xmp|iptc|gps|geo|source$|.*(?:location|latitude|longitude|camera|serial))|^(?:make|model)$/i;

async function scanPng(scan: Scan): Promise<void> {
  for (let at = 8; at + 12 <= scan.size && scan.hasPart(); ) {
    const head = await scan.range(at, at + 8);
    const type = textOf(head, 4, 8);
    const [start, end] = [at + 8, at + 8 + u32(head, 0)];
    if (type === 'IEND' || end + 4 > scan.size) return;
    if (type === 'eXIf') {
      await replaceChunk(scan, { start, end }, 'eXIf', onlyOrientation(await scan.range(start, end)), 0);
    } else if (['tEXt', 'zTXt', 'iTXt'].includes(type)) {
      const [keyword = ''] = textOf(await scan.range(start, Math.min(end, start + 80)), 0, 80).split('\0');
      const isMetadata = DEVICE_TEXT.test(keyword) && keyword.length < end - start;
      if (isMetadata) await replaceChunk(scan, { start, end }, 'tEXt', codesOf(`${keyword}\0`), SPACE);
    }
    at = end + 4;
  }
}

async function replaceChunk(
  scan: Scan,
  { start, end }: Pick<Patch, 'start' | 'end'>,
  type: string,
  content: readonly number[],
  fill: number,
): Promise<void> {
  const patch: Patch = { start: start - 4, end, bytes: [...codesOf(type), ...content], fill };
  let crc = 0;
  for (let at = patch.start; at < end; ) {
    // Reading a window lets other requests run in between.
    const bytes = (await scan.range(at, end)).slice();
    if (bytes.length === 0) return;
    applyPatch(patch, bytes, at);
    crc = crc32(bytes, crc);
    at += bytes.length;
  }
  scan.patches.push(patch);
  scan.replace(end, end + 4, [crc >>> 24, (crc >>> 16) & 0xff, (crc >>> 8) & 0xff, crc & 0xff]);
}

async function scanWebp(scan: Scan): Promise<void> {
  for (let at = 12; at + 8 <= scan.size && scan.hasPart(); ) {
    const head = await scan.range(at, at + 8);
    const type = textOf(head, 0, 4);
    const length = u32(head.slice(4).reverse(), 0);
    const [start, end] = [at + 8, at + 8 + length];
    if (type === 'EXIF') scan.replace(start, end, onlyOrientation(await scan.range(start, end)));
    if (type === 'XMP ') scan.replace(start, end, [], SPACE);
    at = end + (length % 2);
  }
}

/** Boxes with which pictures and videos of the ISO base media file format and QuickTime begin. */
const FIRST_BOXES: ReadonlySet<string> = new Set(['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'pnot']);
/** User data without a device or place: names, rights, chapters, hints of streams and loudness. */
const KEPT_USER_DATA: ReadonlySet<string> = new Set(
  'name titl cprt auth perf chpl kind tsel ludt hnti hinf hinv \xa9nam \xa9ART \xa9alb \xa9cpy'.split(/ /),
);
const DEVICE_KEY = /location|gps|make|model|software|camera|lens|device|manufacturer|serial|firmware|^com\.android/i;

interface Box {
  readonly type: string;
  /** Position of the header. */
  readonly at: number;
  /** Position of the content. */
  readonly start: number;
  readonly end: number;
}

async function boxesIn(scan: Scan, start: number, end: number): Promise<readonly Box[]> {
  const boxes: Box[] = [];
  for (let at = start; at + 8 <= end && scan.hasPart(); ) {
    const head = await scan.range(at, at + 16);
    const short = u32(head, 0);
    const size = short === 0 ? end - at : short === 1 ? uint(head, 8, 8) : short;
    const header = short === 1 ? 16 : 8;
    if (size < header) break;
    boxes.push({ type: textOf(head, 4, 8), at, start: at + header, end: Math.min(at + size, end) });
    at += size;
  }
  return boxes;
}

/** Turns a box into free space. */
const freeBox = (scan: Scan, { at, start, end }: Box): void => {
  scan.replace(at + 4, at + 8, codesOf('free'));
  scan.replace(start, end);
};

async function scanBoxFile(scan: Scan, from: number): Promise<void> {
  const boxes = await boxesIn(scan, from, scan.size);
  await scanMovie(scan, boxes);
  const data = boxes.filter(({ type }) => type === 'mdat');
  for (const box of boxes) if (box.type === 'meta') await scanItems(scan, box, from, data);
}

/** Contents of a file, movie or track. */
async function scanMovie(scan: Scan, boxes: readonly Box[], isTrack = false): Promise<void> {
  for (const box of boxes) {
    const { type, start, end } = box;
    if (type === 'moov' || type === 'trak') await scanMovie(scan, await boxesIn(scan, start, end), type === 'trak');
    // Boxes of producers. Those of tracks describe how to show it.
    if (type === 'uuid' && !isTrack) freeBox(scan, box);
    if (type === 'meta') await scanMeta(scan, box);
    if (type === 'udta') {
      for (const child of await boxesIn(scan, start, end)) {
        if (child.type === 'meta') await scanMeta(scan, child);
        else if (!KEPT_USER_DATA.has(child.type)) freeBox(scan, child);
      }
    }
  }
}

/** Returns the boxes of `meta`, which has a version unless QuickTime wrote it. */
async function boxesOfMeta(scan: Scan, { start, end }: Box): Promise<readonly Box[]> {
  const isQuickTime = textOf(await scan.range(start, Math.min(end, start + 8)), 4, 8) === 'hdlr';
  return boxesIn(scan, isQuickTime ? start : start + 4, end);
}

async function scanMeta(scan: Scan, meta: Box): Promise<void> {
  const boxes = await boxesOfMeta(scan, meta);
  const wanted = new Set<number>();
  for (const { type, start, end } of boxes) {
    if (type !== 'keys') continue;
    for (const [index, key] of (await boxesIn(scan, start + 8, end)).entries()) {
      if (DEVICE_KEY.test(textOf(await scan.range(key.start, key.end), 0, 256))) wanted.add(index + 1);
    }
  }
  for (const box of boxes) {
    if (['uuid', 'xml ', 'bxml'].includes(box.type)) freeBox(scan, box);
    if (box.type !== 'ilst') continue;
    for (const item of await boxesIn(scan, box.start, box.end)) {
      const isWanted = wanted.has(u32(Uint8Array.from(codesOf(item.type)), 0));
      if (isWanted || ['\xa9xyz', '\xa9mak', '\xa9mod', 'loci'].includes(item.type)) freeBox(scan, item);
    }
  }
}

type Range = Pick<Box, 'start' | 'end'>;

/** Replaces the Exif and XMP items of a picture. `from` is the start of its file, `data` its boxes with contents. */
async function scanItems(scan: Scan, meta: Box, from: number, data: readonly Range[]): Promise<void> {
  const boxes = await boxesOfMeta(scan, meta);
  const find = (type: string) => boxes.find((box) => box.type === type);
  const [information, location, own] = [find('iinf'), find('iloc'), find('idat')];
  if (!information || !location) return;
  const kinds = await kindsOfItems(scan, information);
  const used: Range[] = [];
  const found: (Range & { readonly isExif: boolean })[] = [];
  for (const { item, isOwn, start, end } of locationsIn(await scan.range(location.start, location.end))) {
    const base = isOwn ? (own?.start ?? Number.NaN) : from;
    const range = { start: base + start, end: base + end };
    const isExif = kinds.get(item);
    if (isExif === undefined) used.push(range);
    // Each is compared with all others.
    else if (found.length < MAX_METADATA_ITEMS) found.push({ ...range, isExif });
  }
  for (const { isExif, ...range } of found) {
    const isInside = [...data, ...(own ? [own] : [])].some(
      ({ start, end }) => start <= range.start && range.end <= end && range.start < range.end,
    );
    if (!isInside || used.some(({ start, end }) => start < range.end && range.start < end)) continue;
    const content = await scan.range(range.start, range.end);
    // The Exif data follow their position.
    const exif = isExif ? [0, 0, 0, 0, ...onlyOrientation(content.subarray(4 + u32(content, 0)))] : [];
    scan.replace(range.start, range.end, exif, isExif ? 0 : SPACE);
    used.push(range);
  }
}

const MAX_METADATA_ITEMS = 16;

/** Returns the ids of items with metadata; true for Exif. */
async function kindsOfItems(scan: Scan, { start, end }: Box): Promise<ReadonlyMap<number, boolean>> {
  const kinds = new Map<number, boolean>();
  const [version] = await scan.range(start, end);
  for (const entry of await boxesIn(scan, start + (version === 0 ? 6 : 8), end)) {
    const bytes = await scan.range(entry.start, entry.end);
    const isLong = bytes[0] === 3;
    const type = textOf(bytes, isLong ? 10 : 8, isLong ? 14 : 12);
    const isXmp = type === 'mime' && textOf(bytes, 12, 268).includes('application/rdf+xml');
    if (type === 'Exif' || isXmp) kinds.set(isLong ? u32(bytes, 4) : u16(bytes, 4), !isXmp);
  }
  return kinds;
}

interface ItemLocation extends Range {
  readonly item: number;
  /** True if the positions count from the start of the box `idat`, else from the start of the file. */
  readonly isOwn: boolean;
}

/** Reads the content of the box `iloc`. */
function locationsIn(bytes: Uint8Array): readonly ItemLocation[] {
  const [version = 0, , , , sizes = 0, more = 0] = bytes;
  const locations: ItemLocation[] = [];
  let at = 6;
  const next = (length: number): number => {
    at += length;
    return uint(bytes, at - length, length);
  };
  const [ofOffset, ofLength, ofBase, ofIndex] = [sizes >> 4, sizes & 15, more >> 4, version > 0 ? more & 15 : 0];
  const ofId = version < 2 ? 2 : 4;
  // Extents without bytes would never end.
  if (ofOffset + ofLength === 0) return locations;
  for (let items = next(ofId); items > 0 && at < bytes.length; items--) {
    const item = next(ofId);
    const isOwn = version > 0 && (next(2) & 15) === 1;
    next(2);
    const base = next(ofBase);
    for (let extents = next(2); extents > 0 && at < bytes.length; extents--) {
      next(ofIndex);
      const start = base + next(ofOffset);
      locations.push({ item, isOwn, start, end: start + next(ofLength) });
    }
  }
  return locations;
}
