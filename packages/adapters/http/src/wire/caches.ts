import { LRUCache } from 'lru-cache';

interface Encoded {
  readonly texts: readonly string[];
  readonly bytes: Buffer;
}

const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;

/** LRU cache of encoded UTF-8 text, shared between responses: clients that receive equal texts share one buffer. */
export class EncodedTexts {
  private readonly cache: LRUCache<string, Encoded>;

  constructor(
    private readonly separator: string,
    maxBytes = DEFAULT_MAX_BYTES,
  ) {
    // Counted twice, because the texts are kept for comparison.
    this.cache = new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ bytes }) => 2 * bytes.length + 1 });
  }

  join(texts: readonly string[]): string {
    return texts.join(this.separator);
  }

  /** Joins and encodes the texts. `key` is a text that rarely begins another list. */
  encode(texts: readonly string[], key: string = texts[0]!): Buffer {
    const existing = this.cache.get(key);
    if (existing && isSame(existing.texts, texts)) return existing.bytes;
    const bytes = encode(this.join(texts));
    this.cache.set(key, { texts, bytes });
    return bytes;
  }
}

/** Avoids `Buffer.from`, which first allocates three bytes per character. */
function encode(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  return bytes.subarray(0, bytes.write(text));
}

/** Usually compares identical string objects, which is fast. */
function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((text, index) => text === others[index]);
}

/**
 * Minimum length in characters of texts that responses may share; such texts remain separate chunks and are not copied.
 */
export const SHAREABLE = 16 * 1024;

/** Joins short texts into chunks below the shareable length and leaves long texts unchanged. */
export class TextChunks {
  private chunks: string[] = [];
  /** Texts of the next chunk. */
  private open: string[] = [];
  private openLength = 0;
  /** Total length in characters of all added texts. */
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
