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
