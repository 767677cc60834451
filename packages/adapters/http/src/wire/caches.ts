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

/** Texts of one version of an entity, by requested form. */
export interface VersionTexts<Version, Form, Text> {
  readonly version: Version;
  readonly forms: ReadonlyMap<Form, Text>;
}

/** Estimated size of an entry without its texts. */
const ENTRY_SIZE = 200;

/**
 * LRU cache of presented entities, by id. Callers compare an entry's version with their snapshot, so entries are only
 * replaced, never invalidated.
 */
export class PresentedTexts<Id extends {}, Version, Form = number, Text extends { readonly length: number } = string> {
  private readonly entries: LRUCache<Id, VersionTexts<Version, Form, Text>>;

  /** `maxSize`: total length of all texts in characters. */
  constructor(
    maxSize: number,
    private readonly isSame: (a: Version, b: Version) => boolean = Object.is,
  ) {
    this.entries = new LRUCache({
      maxSize,
      sizeCalculation: ({ forms }) => [...forms.values()].reduce((size, { length }) => size + length, ENTRY_SIZE),
    });
  }

  get(id: Id): VersionTexts<Version, Form, Text> | undefined {
    return this.entries.get(id);
  }

  /** Drops the texts of other versions. */
  put(id: Id, version: Version, form: Form, text: Text): void {
    const existing = this.entries.get(id);
    const forms = new Map(existing && this.isSame(existing.version, version) ? existing.forms : undefined).set(
      form,
      text,
    );
    this.entries.set(id, { version, forms });
  }
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
