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
    const existing = this.cache.get(key);
    if (existing && isSame(existing.texts, texts)) return existing.bytes;
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

/**
 * In characters. Texts of this length may be shared between responses, so they stay separate chunks and are not
 * copied.
 */
export const SHAREABLE = 16 * 1024;

/** Joins short texts into chunks below the shareable length and leaves long texts unchanged. */
export class TextChunks {
  private chunks: string[] = [];
  /** Texts of the next chunk. */
  private open: string[] = [];
  private openLength = 0;
  /** In characters, over all added texts. */
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

  /** Returns the chunks and releases them. */
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
