import type { ByteStream } from '../wire/reply.js';

/** Built web client. */
export interface WebAssets {
  /**
   * HTML of the application with relative file addresses (`./…`), or null if it has not been built. Absent if only the
   * element is served.
   */
  page?(): Promise<string | null>;
  /** Opens a file with a content digest in its name; null for unknown names. */
  open(name: string, acceptedEncodings: string): Promise<WebAsset | null>;
}

export interface WebAsset {
  readonly contentType: string;
  /** Absent if the file is sent unencoded. */
  readonly contentEncoding?: string;
  readonly body: ByteStream;
}
