export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Four bytes a pixel instead of three. */
  readonly hasAlpha: boolean;
  /** ICC; null: sRGB. */
  readonly profile: Uint8Array | null;
  /** From one line to the next, in bytes. */
  readonly stride: number;
  readonly pixels: Uint8Array;
}

/** Read one after the other, so that a reader does not need memory for all of them. */
const LINES_IN_STRIP = 64;
const SHORT = 3;
const LONG = 4;
const UNDEFINED = 7;
const BYTES_OF = { [SHORT]: 2, [LONG]: 4, [UNDEFINED]: 1 };

type Values = readonly number[] | Uint8Array;

/** TIFF 6.0 without compression: pixels with a profile of colors, for a reader that takes files alone. */
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
