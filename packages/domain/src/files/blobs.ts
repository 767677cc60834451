declare const brand: unique symbol;

/** Key of a blob: 32 digits of `0-9a-f`, never reused. */
export type BlobKey = string & { readonly [brand]: 'blob' };

export const isBlobKey = (text: string): text is BlobKey => /^[0-9a-f]{32}$/.test(text);

/** Bytes from `start` (inclusive) to `end` (exclusive). */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface StoredBlob {
  readonly key: BlobKey;
  /** Milliseconds since the epoch, by the storage's clock. */
  readonly storedAtMs: number;
}

/** Content of a blob in chunks. */
export interface BlobContent extends AsyncIterable<Uint8Array> {
  /** Releases a chunk so that its memory can be reused. Without this call, the reader keeps the chunk. */
  release?(piece: Uint8Array): void;
}

/**
 * Stores file contents outside transactions. Bytes are written before the row that names them and removed after it;
 * `list` finds orphans. Every implementation passes blob-store.contract.ts.
 */
export interface BlobStore {
  /**
   * Resolves with the number of bytes once all are durable. Before that, and after a failure, the key does not exist.
   */
  put(key: BlobKey, content: AsyncIterable<Uint8Array>): Promise<number>;
  /** Returns null if the key does not exist. */
  sizeOf(key: BlobKey): Promise<number | null>;
  /** Opens on first read and closes with the iteration. Throws if the key does not exist. */
  read(key: BlobKey, range: ByteRange): BlobContent;
  /** Has no effect if the key does not exist. */
  remove(key: BlobKey): Promise<void>;
  /** Removes incomplete content that was started before this time, for example after a crash. */
  removeUnfinished(beforeMs: number): Promise<void>;
  /** Returns at most `limit` blobs with keys above `after`, ascending; null starts at the beginning. */
  list(after: BlobKey | null, limit: number): Promise<readonly StoredBlob[]>;
}

/** Returns `size` bytes of a blob, by default its whole content. Throws if the key does not exist. */
export async function readBlob(
  blobs: BlobStore,
  { blob, size }: { readonly blob: BlobKey; readonly size: number },
  start = 0,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(size);
  let at = 0;
  for await (const chunk of blobs.read(blob, { start, end: start + size })) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** Returns bytes as content of a single chunk. */
export async function* inOneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Detects content types from its arguments alone. */
export interface ContentTypes {
  /** Detects the type from the first bytes (`HEAD_BYTES` suffice); null if unknown, for example text. */
  ofBytes(head: Uint8Array): Promise<string | null>;
  /** Detects the type from the file extension; null if unknown. */
  ofName(name: string): string | null;
}

/** Number of first bytes needed for detection. */
export const HEAD_BYTES = 4100;

export interface ClaimedContent {
  /** Type detected from the bytes; null if unknown. */
  readonly recognized: string | null;
  /** True if the first bytes cannot be text. */
  readonly isBinary: boolean;
  /** Type claimed by the uploader, without parameters; empty if missing. */
  readonly claimed: string;
  /** Type derived from the name; null if unknown. */
  readonly ofName: string | null;
}

const ANYTHING = 'application/octet-stream';
const TEXT = 'text/plain';
/** Formats with bytes that do not reveal their content: office documents, packages, drawings. */
const CONTAINERS: ReadonlySet<string> = new Set([
  'application/zip',
  'application/gzip',
  'application/x-cfb',
  'application/xml',
]);
/** True for types that are always recognized, so that an unconfirmed claim must be wrong. */
const isAlwaysRecognized = (type: string): boolean =>
  type === 'application/pdf' || (type.startsWith('image/') && type !== 'image/svg+xml');

/**
 * Returns the content type under which a file is stored and served. The bytes decide, or else the uploader's claim or
 * the name.
 */
export function contentTypeOf({ recognized, isBinary, claimed, ofName }: ClaimedContent): string {
  if (recognized !== null && !CONTAINERS.has(recognized)) return recognized;
  const possible = (type: string | null): type is string =>
    type !== null && type !== '' && type !== ANYTHING && !isAlwaysRecognized(type) && !(isBinary && type === TEXT);
  if (possible(claimed)) return claimed;
  if (possible(ofName)) return ofName;
  return recognized ?? ANYTHING;
}

/** Removes unreferenced blobs. The daily sweep removes those that fail. */
export async function removeBlobs(store: Pick<BlobStore, 'remove'>, keys: readonly BlobKey[]): Promise<void> {
  for (const key of keys) await store.remove(key).catch(() => undefined);
}
