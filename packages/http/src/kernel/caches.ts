import { LRUCache } from 'lru-cache';

interface Encoded {
  readonly texts: readonly string[];
  readonly bytes: Buffer;
}

const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;

/** LRU cache of UTF-8 bytes shared between answers: clients that are sent the same texts side by side hold one buffer. */
export class EncodedTexts {
  private readonly cache: LRUCache<string, Encoded>;

  constructor(
    private readonly separator: string,
    maxBytes = DEFAULT_MAX_BYTES,
  ) {
    // Counted twice, since the texts are kept for comparison.
    this.cache = new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ bytes }) => 2 * bytes.length + 1 });
  }

  join(texts: readonly string[]): string {
    return texts.join(this.separator);
  }

  /** The texts joined and encoded. `key`: one of them that begins no other list, mostly. */
  encode(texts: readonly string[], key: string = texts[0]!): Buffer {
    const known = this.cache.get(key);
    if (known && isSame(known.texts, texts)) return known.bytes;
    const bytes = encode(this.join(texts));
    this.cache.set(key, { texts, bytes });
    return bytes;
  }
}

/** `Buffer.from` first allocates three bytes a character. */
function encode(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  return bytes.subarray(0, bytes.write(text));
}

/** Mostly the same string objects, which compare without reading them. */
function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((text, index) => text === others[index]);
}

/** In characters. A text as long as that may be in other answers as well: it stays a chunk of its own and is not copied. */
export const SHAREABLE = 16 * 1024;

/** Puts short texts together, to chunks that are shorter than any shared one, and leaves long ones as they are. */
export class TextChunks {
  private chunks: string[] = [];
  /** What the next chunk will be made of. */
  private open: string[] = [];
  private openLength = 0;
  /** In characters, of all that was added. */
  length = 0;

  add(text: string): void {
    this.length += text.length;
    if (this.openLength + text.length >= SHAREABLE) this.close();
    if (text.length >= SHAREABLE) {
      this.chunks.push(text);
      return;
    }
    this.open.push(text);
    this.openLength += text.length;
  }

  /** Handed over, not kept. */
  finish(): readonly string[] {
    this.close();
    const { chunks } = this;
    this.chunks = [];
    return chunks;
  }

  private close(): void {
    if (this.open.length > 0) this.chunks.push(this.open.join(''));
    this.open = [];
    this.openLength = 0;
  }
}
