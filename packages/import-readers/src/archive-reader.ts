import type { ImportReader, ImportRecord } from '@parley/domain/imports';
import { type Archive, openArchive } from './archive.js';
import { boundedRecords } from './bounded-records.js';

export interface ArchiveSource {
  readonly name: string;
  /** Returns true if the files look like an export of the source. Errors count as false. */
  recognizes(archive: Archive): boolean | Promise<boolean>;
  records(archive: Archive): AsyncIterable<ImportRecord>;
}

/** Returns a reader of exports that are a ZIP or a folder. */
export const archiveReader = (source: ArchiveSource): ImportReader => ({
  name: source.name,

  async recognizes(path) {
    const archive = await openArchive(path).catch(() => null);
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
    const archive = await openArchive(path);
    return {
      records: () => boundedRecords(source.records(archive)),
      sizeOf: async (name) => (archive.has(name) ? archive.sizeOf(name) : null),
      openFile: async (name) => (archive.has(name) ? archive.read(name) : null),
      close: () => archive.close(),
    };
  },
});
