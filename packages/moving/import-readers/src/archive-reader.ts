import type { ImportReader, ImportRecord } from '@parley/transfer/records';
import { ARCHIVE_LIMITS, type Archive, openArchive } from './archive.js';
import { boundedRecords } from './bounded-records.js';

/** Files of an export by `FileRecord.path`. */
export interface ExportFiles {
  /** Returns the size in bytes; null if the export lacks the file. */
  sizeOf(path: string): Promise<number | null>;
  read(path: string): AsyncIterable<Uint8Array>;
}

export interface ArchiveSource<Files extends ExportFiles> {
  readonly name: string;
  readonly tokenHosts?: readonly string[];
  /** See `openArchive`. */
  readonly formatFolders?: readonly string[];
  /** Returns true if the files look like an export of the source. Errors count as false. */
  recognizes(archive: Archive): boolean | Promise<boolean>;
  /** Files of an opened export. */
  files(archive: Archive): Files;
  records(archive: Archive, files: Files): AsyncIterable<ImportRecord>;
}

/** Files of the archive itself. */
export const plainFiles = (archive: Archive): ExportFiles => ({
  sizeOf: async (path) => (archive.has(path) ? archive.sizeOf(path) : null),
  read: (path) => archive.read(path),
});

/** Returns a reader of exports that are a ZIP, a folder or a file of JSON. */
export const archiveReader = <Files extends ExportFiles>(source: ArchiveSource<Files>): ImportReader => ({
  name: source.name,
  ...(source.tokenHosts && { tokenHosts: source.tokenHosts }),

  async recognizes(path) {
    const archive = await openArchive(path, ARCHIVE_LIMITS, source.formatFolders).catch(() => null);
    if (archive === null) return false;
    try {
      return await source.recognizes(archive);
    } catch {
      return false;
    } finally {
      await archive.close();
    }
  },

  async open(path) {
    const archive = await openArchive(path, ARCHIVE_LIMITS, source.formatFolders);
    const files = source.files(archive);
    return {
      records: () => boundedRecords(source.records(archive, files)),
      sizeOf: (name) => files.sizeOf(name),
      openFile: async (name) => ((await files.sizeOf(name)) === null ? null : files.read(name)),
      close: () => archive.close(),
    };
  },
});
