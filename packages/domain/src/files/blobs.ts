declare const brand: unique symbol;

/** Names what is stored: 32 digits of `0-9a-f`, never given twice. */
export type BlobKey = string & { readonly [brand]: 'blob' };

export const isBlobKey = (text: string): text is BlobKey => /^[0-9a-f]{32}$/.test(text);

/** The bytes from `start` to before `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface StoredBlob {
  readonly key: BlobKey;
  /** In milliseconds since the epoch, by the storage's clock. */
  readonly storedAtMs: number;
}

/** What is read of a blob, in pieces. */
export interface BlobContent extends AsyncIterable<Uint8Array> {
  /** Lets the memory of a piece be used for a later one. Whoever does not say this keeps the piece. */
  release?(piece: Uint8Array): void;
}

/**
 * Where the bytes of files are, outside of units of work: bytes are put there before the row that names them is written, and
 * removed after it is gone. What a row never came to name, `list` finds. Every implementation passes blob-store.contract.ts.
 */
export interface BlobStore {
  /**
   * Resolves with the number of bytes once all of them are safe, whatever happens to the machine. Nothing is there under the key
   * before that, nor after a failure.
   */
  put(key: BlobKey, content: AsyncIterable<Uint8Array>): Promise<number>;
  /** Null: there is nothing under this key. */
  sizeOf(key: BlobKey): Promise<number | null>;
  /** Opened when the first bytes are asked for, and closed with the iteration. Throws where there is nothing. */
  read(key: BlobKey, range: ByteRange): BlobContent;
  /** Without effect where there is nothing. */
  remove(key: BlobKey): Promise<void>;
  /** Removes what is left of content that broke off, with the whole server for example, and began before then. */
  removeUnfinished(beforeMs: number): Promise<void>;
  /** At most `limit` with keys above `after`, ascending; null: from the first. */
  list(after: BlobKey | null, limit: number): Promise<readonly StoredBlob[]>;
}

/** What files are, as far as others than their owners can tell. Synchronous or not, both look at nothing but what they are given. */
export interface ContentTypes {
  /** By the first bytes, of which `HEAD_BYTES` are enough; null: nothing is known of such bytes, text for example. */
  ofBytes(head: Uint8Array): Promise<string | null>;
  /** By the name's ending; null: unknown. */
  ofName(name: string): string | null;
}

/** Of a file's beginning, to tell what it is. */
export const HEAD_BYTES = 4100;

export interface ClaimedContent {
  /** By the bytes; null: nothing is known of such. */
  readonly recognized: string | null;
  /** Whether there are bytes at the beginning that no text has. */
  readonly isBinary: boolean;
  /** As whoever uploaded it says, without parameters; empty: they did not. */
  readonly claimed: string;
  /** By the name; null: unknown. */
  readonly ofName: string | null;
}

const ANYTHING = 'application/octet-stream';
const TEXT = 'text/plain';
/** What is in these, their bytes do not say: office documents, packages, drawings. */
const CONTAINERS: ReadonlySet<string> = new Set([
  'application/zip',
  'application/gzip',
  'application/x-cfb',
  'application/xml',
]);
/** Whose bytes are always recognized, so that others that claim it are wrong. */
const isAlwaysRecognized = (type: string): boolean =>
  type === 'application/pdf' || (type.startsWith('image/') && type !== 'image/svg+xml');

/**
 * The content type that a file is kept and served with. What the bytes say counts; what they leave open, whoever uploaded it says,
 * or the name does.
 */
export function contentTypeOf({ recognized, isBinary, claimed, ofName }: ClaimedContent): string {
  if (recognized !== null && !CONTAINERS.has(recognized)) return recognized;
  const possible = (type: string | null): type is string =>
    type !== null && type !== '' && type !== ANYTHING && !isAlwaysRecognized(type) && !(isBinary && type === TEXT);
  if (possible(claimed)) return claimed;
  if (possible(ofName)) return ofName;
  return recognized ?? ANYTHING;
}
