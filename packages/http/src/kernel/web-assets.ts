import type { ByteStream } from './reply.js';

/** Built web client. */
export interface WebAssets {
  /** HTML of the application, in which addresses of files begin with `./`; null if it has not been built. */
  page(): Promise<string | null>;
  /** File whose name contains a digest of its content; null for unknown names. */
  open(name: string, acceptedEncodings: string): Promise<WebAsset | null>;
}

export interface WebAsset {
  readonly contentType: string;
  /** Absent if the file is sent as it is. */
  readonly contentEncoding?: string;
  readonly body: ByteStream;
}
