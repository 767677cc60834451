import { BoundedCache } from './bounded-cache.js';

interface Chunk {
  readonly parts: readonly string[];
  readonly bytes: Buffer;
  readonly weight: number;
}

/** In bytes, with the texts they are made of. */
const DEFAULT_ROOM = 16 * 1024 * 1024;
/** What is shorter may be a mere comma in front of the others. */
const SHORTEST_KEY = 1;

/**
 * Parts of answers, put together and encoded once however many clients are sent the same: when thousands read on in the log
 * from the same place, or fetch the same long list, what they are sent is in memory once.
 */
export class EncodedTexts {
  private readonly cache: BoundedCache<string, Chunk>;

  /** `separator`: what stands between the parts; default: nothing. */
  constructor(
    room: number = DEFAULT_ROOM,
    private readonly separator = '',
  ) {
    this.cache = new BoundedCache(room);
  }

  /** The UTF-8 bytes of all parts together. */
  of(parts: readonly string[]): Buffer {
    const key = parts[0]!.length > SHORTEST_KEY ? parts[0]! : parts[1]!;
    const known = this.cache.get(key);
    if (known && isSame(known.parts, parts)) return known.bytes;
    const bytes = Buffer.from(parts.join(this.separator));
    this.cache.put(key, { parts, bytes, weight: 2 * bytes.length });
    return bytes;
  }
}

/** Mostly the very same strings, for which nothing is compared but where they are. */
function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((part, index) => part === others[index]);
}
