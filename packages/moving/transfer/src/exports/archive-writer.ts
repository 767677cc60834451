// Loads the module that is extended below.
import type {} from '@parley/domain/composition';
import type { ExportId } from '@parley/domain/kernel';
import type { PersonSource } from './read-person.js';
import type { RealmSource } from './realm-copy.js';

/** Writes an export as one archive file. Temporary files are named after the export. */
export interface ArchiveWriter {
  /**
   * Returns the bytes as a lazy stream. Awaits `rest` after every few messages. Stopping early leaves no temporary
   * files.
   */
  write(id: ExportId, source: RealmSource, rest: () => Promise<void>): AsyncIterable<Uint8Array>;
  /** Returns the archive of a person as a lazy stream. Awaits `rest` after every few messages. */
  writePerson(source: PersonSource, rest: () => Promise<void>): AsyncIterable<Uint8Array>;
  /** Removes temporary files of a failed attempt, for example after a crash. */
  clean(id: ExportId): Promise<void>;
}

declare module '@parley/domain/composition' {
  interface Ports {
    readonly archiveWriter: ArchiveWriter;
  }
}
