import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { imageTooLarge, MAX_WHOLE_PIXELS, unreadableImage } from '@parley/domain/files';
import { loadOptional } from '@parley/domain/kernel';
import type { MainModule } from 'libheif-js/libheif-wasm/libheif.js';
import type { default as Sharp } from 'sharp';

const require = createRequire(import.meta.url);

/** Allowed readers; all others are blocked, above all SVG and any added by later versions. */
const READERS = [
  'VipsForeignLoadPngBuffer',
  'VipsForeignLoadJpegBuffer',
  'VipsForeignLoadNsgifBuffer',
  'VipsForeignLoadWebpBuffer',
  'VipsForeignLoadHeifBuffer',
  'VipsForeignLoadTiffBuffer',
];

let loaded: typeof Sharp | undefined;

/** Loads sharp with the first image, since loading is slow and most servers rarely need it. */
export function loadSharp(): typeof Sharp {
  if (loaded) return loaded;
  const sharp = require('sharp') as typeof Sharp;
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: READERS });
  // Images are not read repeatedly.
  sharp.cache(false);
  // `ImageProcess` controls concurrency.
  sharp.concurrency(1);
  loaded = sharp;
  return sharp;
}

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** True for four bytes per pixel instead of three. */
  readonly hasAlpha: boolean;
  /** ICC profile; null for sRGB. */
  readonly profile: Uint8Array | null;
  /** Bytes from one line to the next. */
  readonly stride: number;
  readonly pixels: Uint8Array;
}

/** Strips are read one after another, so that a reader does not need memory for the whole image. */
const LINES_IN_STRIP = 64;
const SHORT = 3;
const LONG = 4;
const UNDEFINED = 7;
const BYTES_OF = { [SHORT]: 2, [LONG]: 4, [UNDEFINED]: 1 };

type Values = readonly number[] | Uint8Array;

/** Encodes pixels with a color profile as uncompressed TIFF 6.0, for a reader that accepts only files. */
export function encodeTiff({ width, height, hasAlpha, profile, stride, pixels }: Pixels): Uint8Array {
  const samples = hasAlpha ? 4 : 3;
  const line = width * samples;
  const strips = Math.ceil(height / LINES_IN_STRIP);
  const linesOf = (strip: number): number => Math.min(LINES_IN_STRIP, height - strip * LINES_IN_STRIP);
  const tagsWith = (pixelsAt: number): readonly (readonly [tag: number, type: keyof typeof BYTES_OF, Values])[] => [
    [256, LONG, [width]],
    [257, LONG, [height]],
    [258, SHORT, Array<number>(samples).fill(8)],
    [259, SHORT, [1]],
    [262, SHORT, [2]],
    [273, LONG, Array.from({ length: strips }, (_, strip) => pixelsAt + strip * LINES_IN_STRIP * line)],
    [277, SHORT, [samples]],
    [278, LONG, [LINES_IN_STRIP]],
    [279, LONG, Array.from({ length: strips }, (_, strip) => linesOf(strip) * line)],
    ...(hasAlpha ? [[338, SHORT, [2]] as const] : []),
    ...(profile ? [[34_675, UNDEFINED, profile] as const] : []),
  ];

  const directoryAt = 8;
  const tags = tagsWith(0);
  const endOfDirectory = directoryAt + 2 + 12 * tags.length + 4;
  const elsewhere = tags.map(([, type, { length }]) => length * BYTES_OF[type]).filter((bytes) => bytes > 4);
  const pixelsAt = elsewhere.reduce((at, bytes) => at + even(bytes), endOfDirectory);

  const file = new Uint8Array(pixelsAt + line * height);
  const view = new DataView(file.buffer);
  file.set([0x49, 0x49, 42, 0, directoryAt]);
  view.setUint16(directoryAt, tags.length, true);
  let free = endOfDirectory;
  for (const [n, [tag, type, values]] of tagsWith(pixelsAt).entries()) {
    const entry = directoryAt + 2 + 12 * n;
    const bytes = values.length * BYTES_OF[type];
    view.setUint16(entry, tag, true);
    view.setUint16(entry + 2, type, true);
    view.setUint32(entry + 4, values.length, true);
    let at = entry + 8;
    if (bytes > 4) {
      view.setUint32(at, free, true);
      at = free;
      free += even(bytes);
    }
    if (values instanceof Uint8Array) file.set(values, at);
    else if (type === SHORT) for (const [i, value] of values.entries()) view.setUint16(at + 2 * i, value, true);
    else for (const [i, value] of values.entries()) view.setUint32(at + 4 * i, value, true);
  }
  for (let y = 0; y < height; y++) file.set(pixels.subarray(y * stride, y * stride + line), pixelsAt + y * line);
  return file;
}

const even = (bytes: number): number => bytes + (bytes % 2);

/** Image whose header has been parsed. */
export interface HeicImage {
  /** Displayed width in pixels. */
  readonly width: number;
  readonly height: number;
  /** Decodes the pixels as a TIFF; blocks the thread. @throws DomainError UNREADABLE_IMAGE, IMAGE_TOO_LARGE */
  decode(): Uint8Array;
}

/** Memory limit of the decoder including the image, since data may demand more than the header claims. */
const MAX_MEMORY_BYTES = 320 * 1024 * 1024;
/** Maximum size of a color profile; larger ones are ignored, which slightly changes colors. */
const MAX_PROFILE_BYTES = 1024 * 1024;
const PAGE_BYTES = 65_536;

/** Constants of `heif_error_code`, `heif_suberror_code`, `heif_colorspace`, `heif_chroma` and `heif_channel`. */
const OUT_OF_MEMORY = 6;
const LIMIT_EXCEEDED = 1000;
const RGB = 1;
const INTERLEAVED_RGB = 10;
const INTERLEAVED_RGBA = 11;
const INTERLEAVED = 10;

/** Sizes of a `heif_error` and of a pointer result. */
const ERROR_BYTES = 12;
const ANSWER_BYTES = 4;

let library: { readonly make: (options: object) => MainModule; readonly code: WebAssembly.Module } | undefined;

/** Loads the library with the first HEIC image. @throws MissingLibrary */
function loadLibrary(): NonNullable<typeof library> {
  library ??= loadOptional('libheif-js', 'Reading HEIC images', () => ({
    make: require('libheif-js/libheif-wasm/libheif.js'),
    code: new WebAssembly.Module(readFileSync(require.resolve('libheif-js/libheif-wasm/libheif.wasm'))),
  }));
  return library;
}

/** Creates an instance with its own bounded memory, isolated from earlier images. */
function newLibrary(): MainModule {
  const { make, code } = loadLibrary();
  return make({
    print: () => {},
    printErr: () => {},
    instantiateWasm(imports: WebAssembly.Imports, receive: (instance: WebAssembly.Instance) => void) {
      const instance = new WebAssembly.Instance(code, imports);
      for (const memory of Object.values(instance.exports)) {
        if (memory instanceof WebAssembly.Memory) limit(memory);
      }
      receive(instance);
      return instance.exports;
    },
  });
}

function limit(memory: WebAssembly.Memory): void {
  const grow = memory.grow.bind(memory);
  memory.grow = (pages: number) => {
    if (memory.buffer.byteLength + pages * PAGE_BYTES > MAX_MEMORY_BYTES) throw new RangeError('too much memory');
    return grow(pages);
  };
}

/**
 * Opens a HEIC image, the format of phone photos, for which libvips has no decoder. @throws MissingLibrary, DomainError
 * UNREADABLE_IMAGE, IMAGE_TOO_LARGE
 */
export function openHeic(image: Uint8Array): HeicImage {
  return orUnreadable(() => {
    const heif = newLibrary();
    const error = heif._malloc(ERROR_BYTES + ANSWER_BYTES);
    const answer = error + ERROR_BYTES;
    const numberAt = (address: number): number =>
      new DataView(heif.HEAPU8.buffer as ArrayBuffer).getUint32(address, true);
    /** Runs a call that fills `error` and returns the value at `answer`. */
    const call = (work: () => void): number => {
      work();
      const [code, subcode] = [numberAt(error), numberAt(error + 4)];
      if (code === OUT_OF_MEMORY || subcode === LIMIT_EXCEEDED) throw imageTooLarge();
      if (code !== 0) throw unreadableImage();
      return numberAt(answer);
    };
    const bytesAt = (address: number, length: number): Uint8Array =>
      new Uint8Array(heif.HEAPU8.buffer as ArrayBuffer, address, length);

    const content = heif._malloc(image.length);
    bytesAt(content, image.length).set(image);
    const context = heif._heif_context_alloc();
    call(() => heif._heif_context_read_from_memory_without_copy(error, context, content, image.length, 0));
    const handle = call(() => heif._heif_context_get_primary_image_handle(error, context, answer));
    const width = heif._heif_image_handle_get_width(handle);
    const height = heif._heif_image_handle_get_height(handle);

    const profileOf = (): Uint8Array | null => {
      const length = heif._heif_image_handle_get_raw_color_profile_size(handle);
      if (length === 0 || length > MAX_PROFILE_BYTES) return null;
      const address = heif._malloc(length);
      call(() => heif._heif_image_handle_get_raw_color_profile(error, handle, address));
      return bytesAt(address, length);
    };
    const decode = (): Uint8Array => {
      const hasAlpha = heif._heif_image_handle_has_alpha_channel(handle) !== 0;
      const chroma = hasAlpha ? INTERLEAVED_RGBA : INTERLEAVED_RGB;
      const decoded = call(() => heif._heif_decode_image(error, handle, answer, RGB, chroma, 0));
      const size = {
        width: heif._heif_image_get_width(decoded, INTERLEAVED),
        height: heif._heif_image_get_height(decoded, INTERLEAVED),
      };
      if (size.width * size.height > MAX_WHOLE_PIXELS) throw imageTooLarge();
      const plane = heif._heif_image_get_plane_readonly(decoded, INTERLEAVED, answer);
      const stride = numberAt(answer);
      const profile = profileOf();
      return encodeTiff({ ...size, hasAlpha, profile, stride, pixels: bytesAt(plane, stride * size.height) });
    };
    return { width, height, decode: () => orUnreadable(decode) };
  });
}

/** Attributes every failure of the library to the image. */
function orUnreadable<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof WebAssembly.RuntimeError || error instanceof RangeError ? unreadableImage() : error;
  }
}
