import type { ExportId } from '../kernel/ids.js';
import type { RealmSource } from './realm-copy.js';

/** Makes one file of what an export holds. What it needs beside it on the disk is named by the export. */
export interface ArchiveWriter {
  /**
   * The bytes, in pieces that are made as they are asked for. `rest` is awaited after every few messages. Whoever stops asking
   * leaves nothing behind.
   */
  write(id: ExportId, source: RealmSource, rest: () => Promise<void>): AsyncIterable<Uint8Array>;
  /** Removes what an attempt that broke off has left, with the whole process perhaps. */
  clean(id: ExportId): Promise<void>;
}
