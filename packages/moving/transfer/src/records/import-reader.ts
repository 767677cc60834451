import type { ImportRecord } from './records.js';

/** Reader of one kind of source. Exports are untrusted: sizes, nesting and paths are bounded. */
export interface ImportReader {
  /** Name of the source in commands and reports, such as `slack`. */
  readonly name: string;
  /** Hosts that may receive the access token of the source for its files, including their subdomains. */
  readonly tokenHosts?: readonly string[];
  /** Returns true if the file or folder looks like an export of this source. Reads little. */
  recognizes(path: string): Promise<boolean>;
  /** `maxUnpackedBytes` limits the temporary files of an unpacked archive. @throws DomainError INVALID_IMPORT */
  open(path: string, maxUnpackedBytes?: number): Promise<OpenImport>;
}

/** Opened export. */
export interface OpenImport {
  /** Streams all records; may be called repeatedly. @throws DomainError INVALID_IMPORT with file and line */
  records(): AsyncIterable<ImportRecord>;
  /** Returns the size of a file in bytes by `FileRecord.path`; null if the export lacks it. Reads no content. */
  sizeOf(path: string): Promise<number | null>;
  /** Returns the bytes of a file by `FileRecord.path`; null if the export lacks them. */
  openFile(path: string): Promise<AsyncIterable<Uint8Array> | null>;
  /** Closes files and removes temporary ones. */
  close(): Promise<void>;
}
