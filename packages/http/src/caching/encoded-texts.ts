import { BoundedCache } from './bounded-cache.js';

interface Encoded<Part> {
  readonly parts: readonly Part[];
  readonly bytes: Buffer;
  readonly weight: number;
}

/** In bytes, with what they are made of. */
const DEFAULT_ROOM = 16 * 1024 * 1024;

/**
 * Parts of answers, put together and encoded once however many clients are sent the same: when thousands read on in the log
 * from the same place, or fetch the same long list, what they are sent is in memory once.
 */
export class EncodedTexts<Part> {
  private readonly cache: BoundedCache<Part, Encoded<Part>>;

  /** `textOf`: of parts side by side. */
  constructor(
    readonly textOf: (parts: readonly Part[]) => string,
    room: number = DEFAULT_ROOM,
  ) {
    this.cache = new BoundedCache(room);
  }

  /** The UTF-8 bytes of all parts together. `key`: one of them that begins no other list, mostly. */
  of(parts: readonly Part[], key: Part = parts[0]!): Buffer {
    const known = this.cache.get(key);
    if (known && isSame(known.parts, parts)) return known.bytes;
    const bytes = encode(this.textOf(parts));
    this.cache.put(key, { parts, bytes, weight: 2 * bytes.length });
    return bytes;
  }
}

/** `Buffer.from` takes the memory for three bytes a character first, and gives most of it back. */
function encode(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  return bytes.subarray(0, bytes.write(text));
}

/** Mostly the very same ones, for which nothing is compared but where they are. */
function isSame<Part>(some: readonly Part[], others: readonly Part[]): boolean {
  return some.length === others.length && some.every((part, index) => part === others[index]);
}
