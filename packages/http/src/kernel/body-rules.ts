import type { ReceivedBlob } from '@parley/domain/files';
import type { Charge } from './byte-budget.js';
import type { Fields, UploadedFile } from './request.js';

/** What a body may cost. */
export interface BodyRules {
  /** Of everything that is not a file. */
  readonly maxBytes: number;
  readonly charge: Charge;
  /** Until it is there as a whole. */
  readonly timeoutMs: number;
  /** Null: files are dropped, and count like everything else. */
  readonly files: FileRules | null;
}

export interface FileRules {
  /** Of one file; a longer one is cut and marked. All files together may take twice that. */
  readonly maxBytes: number;
  /** Of a body that says beforehand how long it is, beside what is no file: whatever is longer is not read. */
  readonly maxSentBytes: number;
  readonly charge: Charge;
  /** Takes the bytes of the first file as they come, which then are never in memory; null: they are kept in memory. */
  readonly sink: FileSink | null;
}

/** Where bytes go that are not to be in memory. */
export interface FileSink {
  /** Of one file; a longer one is not kept. */
  readonly maxBytes: number;
  /** Resolves once the bytes are safe; keeps nothing when the content breaks off. */
  receive(content: AsyncIterable<Uint8Array>): Promise<ReceivedBlob>;
  discard(blob: ReceivedBlob): Promise<void>;
}

/** Bounds the work and memory a body of nothing but separators can cause. */
export const MAX_FIELDS = 1000;
export const MAX_FILES = 100;

export interface Body {
  readonly fields: Fields;
  readonly files: readonly UploadedFile[];
}

/** The client went away before its request was complete. Nobody is there to read an answer. */
export class ClientGone extends Error {}

export const NO_BODY: Body = { fields: new Map(), files: [] };
